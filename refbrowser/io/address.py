"""Which network addresses are public, and the spellings of an IPv4 address (safety design, section 5)."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

#: Addresses that look public and are not: the secrets of a virtual machine, special uses that older Pythons
#: take for global.
_SPECIAL = tuple(
    ipaddress.ip_network(text)
    for text in ("168.63.129.16/32", "100.100.100.200/32", "192.0.0.0/24", "64:ff9b:1::/48", "100::/64")
)

#: Names that mean this machine or its cloud's metadata service, whatever a resolver says.
PRIVATE_NAMES = frozenset({"localhost", "metadata", "metadata.google.internal"})
PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".localdomain", ".home.arpa")

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_COMPATIBLE = ipaddress.ip_network("::/96")


def parse_ipv4(text: str) -> ipaddress.IPv4Address | None:
    """Return the address that a C library reads in `text`: one to four decimal, octal or hex parts.

    Returns None where `text` is a name.

    Raises
    ------
    ValueError
        The last label is a number, so it is meant as an address, and is not one.
    """
    parts = text.removesuffix(".").split(".")
    if not _is_number(parts[-1]):
        return None
    if len(parts) > 4:
        raise ValueError("more than four parts")
    numbers = [_number(part) for part in parts]
    *front, last = numbers
    if any(number > 255 for number in front) or last >= 256 ** (5 - len(numbers)):
        raise ValueError("part out of range")
    value = last
    for position, number in enumerate(front):
        value += number << (24 - 8 * position)
    return ipaddress.IPv4Address(value)


def is_private(address: IPAddress) -> bool:
    """Tell whether `address` is anything but a public host: loopback, private, link-local, metadata...

    An IPv4 address inside an IPv6 one (mapped, compatible, NAT64, 6to4, Teredo) counts as itself.
    """
    if isinstance(address, ipaddress.IPv6Address):
        inner = _inner_ipv4(address)
        if inner is not None:
            return is_private(inner)
    if not address.is_global or address.is_multicast or address.is_reserved:
        return True
    return any(address in network for network in _SPECIAL)


@lru_cache(maxsize=1024)
def is_private_name(host: str) -> bool:
    """Tell whether a host (canonical, without brackets) names a private address without asking a resolver."""
    try:
        return is_private(ipaddress.ip_address(host))
    except ValueError:
        return host in PRIVATE_NAMES or host.endswith(PRIVATE_SUFFIXES)


def _inner_ipv4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _is_number(part: str) -> bool:
    if part[:2] in ("0x", "0X"):
        return all(character in "0123456789abcdefABCDEF" for character in part[2:])
    return part.isascii() and part.isdigit()


def _number(part: str) -> int:
    if part[:2] in ("0x", "0X"):
        return int(part[2:] or "0", 16)
    if not (part.isascii() and part.isdigit()) or len(part) > 20:
        raise ValueError("not a number")
    return int(part, 8) if len(part) > 1 and part[0] == "0" else int(part)
