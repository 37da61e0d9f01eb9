"""Addresses that are not public, in any spelling."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.io.origins import is_private, is_private_name, parse_ipv4


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0X7F.1", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("0177.0.0.01", "127.0.0.1"),
        ("10.65535", "10.0.255.255"),
        ("1.2.3", "1.2.0.3"),
        ("0", "0.0.0.0"),
        ("0x", "0.0.0.0"),
        ("127.0.0.1.", "127.0.0.1"),
    ],
)
def test_spellings_of_an_ipv4_address(text: str, address: str) -> None:
    assert str(parse_ipv4(text)) == address


@pytest.mark.parametrize("text", ["example.org", "a.b", "1.example", "0xg", "1-2", ""])
def test_names_are_not_addresses(text: str) -> None:
    assert parse_ipv4(text) is None


@pytest.mark.parametrize(
    "text", ["256.1.1.1", "1.2.3.4.5", "1.2.3.256", "4294967296", "1..2", "09", "a.1", "9" * 30]
)
def test_what_ends_in_a_number_and_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_ipv4(text)


@given(st.ip_addresses(v=4), st.integers(1, 4), st.sampled_from(["d", "x", "o"]))
def test_every_spelling_gives_the_address_back(address: ipaddress.IPv4Address, parts: int, base: str) -> None:
    numbers = list(address.packed[: parts - 1])
    numbers.append(int.from_bytes(address.packed[parts - 1 :], "big"))
    forms = {"d": "{}", "x": "0x{:x}", "o": "0{:o}"}
    assert parse_ipv4(".".join(forms[base].format(number) for number in numbers)) == address


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
        "100.64.0.1", "100.100.100.200", "168.63.129.16", "224.0.0.1", "255.255.255.255", "192.0.0.192",
        "240.0.0.1",
        "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:80ff:fffe",
    ],
)  # fmt: skip
def test_private_addresses(text: str) -> None:
    assert is_private(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "2002:808:808::"]
)
def test_public_addresses(text: str) -> None:
    assert not is_private(ipaddress.ip_address(text))


def test_private_names() -> None:
    assert is_private_name("localhost")
    assert is_private_name("a.localhost")
    assert is_private_name("metadata.google.internal")
    assert is_private_name("127.0.0.1")
    assert not is_private_name("example.org")
    assert not is_private_name("notlocalhost.org")
