"""URLs, their origins and addresses: the table of protocols, what is refused, how to connect (safety, 5)."""

from __future__ import annotations

import ipaddress
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS

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


#: Protocol as spelled to the one it means; nothing else is ever opened.
PROTOCOLS = {
    "file": "file",
    "http": "http",
    "https": "https",
    "s3": "s3",
    "gs": "gs",
    "gcs": "gs",
    "abfs": "abfs",
    "abfss": "abfs",
    "az": "abfs",
}
DEFAULT_PORTS = {"http": 80, "https": 443}
OBJECT_STORES = frozenset({"s3", "gs", "abfs"})

#: The protocol of services that answer over http, as people and libraries write it.
REMOTE = "cdmremote"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)://")
_REMOTE = re.compile(r"cdmremote:(?:(?=https?://)|//)", re.IGNORECASE)
#: A protocol, and the host or bucket.
_BEGINNING = re.compile(_SCHEME.pattern + r"([^/?#]*)")
_TARGET = re.compile(r"[A-Za-z0-9/?%:@!$&'()*+,;=\-._~\[\]|]*")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_\-]{0,61}[a-z0-9_])?")
#: Scripts that are written together (safety: any other mixture in a label is refused).
_WRITTEN_TOGETHER = (
    frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}),
    frozenset({"CJK", "HANGUL"}),
    frozenset({"CJK", "BOPOMOFO"}),
)


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """Where bytes come from, as permissions see it.

    Attributes
    ----------
    scheme
        One of ``file http https s3 gs abfs``.
    host
        Host (lower case, IPv6 without brackets), bucket, or container; empty for files.
    port
        None for files and object stores.
    folder
        Absolute folder with links resolved, for files.
    """

    scheme: str
    host: str = ""
    port: int | None = None
    folder: str = ""

    @classmethod
    def parse(cls, text: str) -> Origin:
        """Return the origin of a URL (its path is ignored) or a folder, as ``--allow`` takes it.

        Raises
        ------
        RefbrowserError
            The text is refused by `split_url`.
        """
        url = split_url(text)
        if url.scheme == "file":
            return cls("file", folder=os.path.realpath(os.path.expanduser(url.path)))
        return url.origin

    def covers(self, other: Origin) -> bool:
        """Tell whether a permission for this origin holds for `other`: the same, or a folder below."""
        if self.scheme != "file" or other.scheme != "file":
            return self == other
        return is_below(other.folder, self.folder)

    @property
    def how_to_allow(self) -> str:
        """How somebody gives the permission to read from here, in a shell and in Python."""
        return f"allow it with --allow {self}, in Python with allow=[{str(self)!r}]"

    def __str__(self) -> str:
        return self.folder if self.scheme == "file" else _spelled(self)


@lru_cache(maxsize=1024)
def _spelled(origin: Origin) -> str:
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    port = "" if origin.port in (None, DEFAULT_PORTS.get(origin.scheme)) else f":{origin.port}"
    return f"{origin.scheme}://{host}{port}"


#: Documents name very many files of few hosts.
_origin = lru_cache(maxsize=1024)(Origin)


class SplitUrl(NamedTuple):
    """A URL in parts, checked.

    `path` is the request target for http (percent-encoded, with the query), the key for object stores, and
    the path as written for files.
    """

    scheme: str
    host: str
    port: int | None
    path: str

    @property
    def origin(self) -> Origin:
        """The origin of a URL that is not a file."""
        return _origin(self.scheme, self.host, self.port)


def is_below(path: str, folder: str) -> bool:
    """Tell whether `path` is `folder` or inside it; both absolute with links resolved."""
    path, folder = os.path.normcase(path), os.path.normcase(folder)
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def http_url(text: str) -> str:
    """Return a text with the URL that ``cdmremote:http://...`` or ``cdmremote://...`` stands for."""
    match = _REMOTE.match(text)
    if match is None:
        return text
    rest = text[match.end() :]
    return f"http://{rest}" if match[0].endswith("//") else rest


def scheme_of(text: str) -> str | None:
    """Return the protocol that `text` begins with, lower case, or None for a path."""
    if text.startswith("/"):
        # Of a store there are as many as it has chunks.
        return None
    match = _SCHEME.match(http_url(text))
    if match:
        return match[1].lower()
    return "file" if text[:5].lower() == "file:" else None


def server_of(text: str) -> str | None:
    """Return protocol and host, or bucket, as a URL spells them, unchecked; None of other texts."""
    match = _BEGINNING.match(text)
    return match and match[0]


def in_object_store(named: str) -> bool:
    """Tell whether a path or URL names something in an object store."""
    return PROTOCOLS.get(scheme_of(named) or "") in OBJECT_STORES


def local_path(named: str) -> str | None:
    """Return the path that a path or a ``file:`` URL stands for, None for a URL elsewhere.

    Raises
    ------
    RefbrowserError
        `E_UNSAFE`: the ``file:`` URL names another host.
    """
    scheme = scheme_of(named)
    if scheme is None:
        return named
    return split_url(named).path if scheme == "file" else None


def is_same_file(named: str, path: str) -> bool:
    """Tell whether what a user named is the file at a path; one that is not there is no other's."""
    local = local_path(named)
    try:
        return local is not None and os.path.samefile(local, path)
    except OSError:
        return False


def split_url(text: str) -> SplitUrl:
    """Take a URL or a path apart.

    Raises
    ------
    RefbrowserError
        `E_PROTOCOL` for a protocol outside the table and for chained URLs; `E_UNSAFE` for user names,
        control characters, bad ports and mixed-script hosts; `E_BUDGET` for a text that is too long.
    """
    _check_text(text)
    if text.startswith("/"):
        return SplitUrl("file", "", None, text)
    text = http_url(text)
    match = _BEGINNING.match(text)
    if match is None:
        return SplitUrl("file", "", None, _file_path(text) if text[:5].lower() == "file:" else text)
    authority, tail = match[2], text[match.end() :]
    scheme = PROTOCOLS.get(match[1].lower())
    if scheme is None:
        known = ", ".join(sorted(set(PROTOCOLS)))
        raise RefbrowserError(
            ErrorKind.PROTOCOL,
            f"protocol {quoted(match[1].lower())} is not supported",
            Place(url=text),
            f"supported: {known}",
        )
    if scheme == "file":
        return SplitUrl("file", "", None, _file_path(text))
    if scheme in OBJECT_STORES:
        return SplitUrl(scheme, _bucket(authority, scheme, text), None, tail.lstrip("/"))
    try:
        host, port = _host_and_port(authority)
    except ValueError as error:
        raise _unsafe(text, str(error)) from None
    target = tail.partition("#")[0]
    target = target if target.startswith("/") else "/" + target
    if not _TARGET.fullmatch(target):
        target = quote(target, safe="/?%:@!$&'()*+,;=-._~[]|")
    return SplitUrl(scheme, host, port or DEFAULT_PORTS[scheme], target)


def _check_text(text: str) -> None:
    if len(text) > LIMITS.url_length:
        message = f"a URL of {len(text)} characters is longer than {LIMITS.url_length} (url_length)"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place(url=text[:200]))
    if not text:
        raise RefbrowserError(ErrorKind.REF, "the URL is empty")
    if not (text.isascii() and text.isprintable()) and _has_controls(text):
        raise _unsafe(text, "the URL contains control characters")
    # The address in brackets is not a chain.
    if "::" in text and "::" in re.sub(r"(?<=//)\[[^\]/]*\]", "", text, count=1):
        raise RefbrowserError(ErrorKind.PROTOCOL, "chained URLs ('::') are not supported", Place(url=text))


def _has_controls(text: str) -> bool:
    if scheme_of(text) is None:
        # Names of files may be no text: Python has a character for each of their bytes.
        text = _BYTES.sub("", text)
    return any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text)


_BYTES = re.compile("[\udc80-\udcff]")


def _unsafe(text: str, message: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.UNSAFE, message, Place(url=text))


def _file_path(text: str) -> str:
    path = text[5:]
    if path.startswith("//"):
        path = path[2:]
        if path.lower().startswith("localhost/"):
            path = path[9:]
        if not path.startswith("/"):
            raise _unsafe(text, "a file URL may not name a host")
    if os.name == "nt" and re.match(r"/[A-Za-z]:", path):
        path = path[1:]
    return path


def _bucket(authority: str, scheme: str, text: str) -> str:
    pattern = r"[\w.\-]{1,255}(?:@[A-Za-z0-9.\-]{1,255})?" if scheme == "abfs" else r"[\w.\-]{1,255}"
    if not re.fullmatch(pattern, authority, re.ASCII):
        raise _unsafe(text, f"{quoted(authority)} is not a bucket name")
    return authority


@lru_cache(maxsize=1024)
def _host_and_port(authority: str) -> tuple[str, int | None]:
    if "@" in authority:
        raise ValueError("user names and passwords in URLs are refused")
    bracketed = re.fullmatch(r"\[([^\]]*)\](?::(.*))?", authority)
    if bracketed:
        return _ipv6(bracketed[1]), _port(bracketed[2])
    host, colon, port = authority.partition(":")
    return _host(host), _port(port if colon else None)


def _ipv6(text: str) -> str:
    try:
        host = str(ipaddress.IPv6Address(text))
    except ValueError:
        raise ValueError(f"{quoted(text)} is not an IPv6 address") from None
    if "%" in host:
        raise ValueError("an address with a zone is refused")
    return host


def _port(text: str | None) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", text, re.ASCII) or not 0 < int(text) < 65536:
        raise ValueError(f"{quoted(text)} is not a port number")
    return int(text)


def _host(text: str) -> str:
    name = text.removesuffix(".").lower()
    if not name.isascii():
        for label in re.split("[.。．｡]", name):
            _check_scripts(label)
        try:
            name = name.encode("idna").decode("ascii").lower()
        except UnicodeError:
            raise ValueError(f"{quoted(text)} is not a host name") from None
    try:
        address = parse_ipv4(name)
    except ValueError as error:
        raise ValueError(f"{quoted(text)} is not an IPv4 address: {error}") from None
    if address is not None:
        return str(address)
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError(f"{quoted(text)} is not a host name")
    for label in labels:
        if label.startswith("xn--"):
            _check_scripts(_decoded(label))
    return name


def _decoded(label: str) -> str:
    try:
        return label.encode("ascii").decode("idna")
    except UnicodeError:
        raise ValueError(f"{quoted(label)} is not a host name") from None


def _check_scripts(label: str) -> None:
    scripts = {
        unicodedata.name(character, "UNNAMED").split()[0] for character in label if character.isalpha()
    }
    if len(scripts) > 1 and not any(scripts <= together for together in _WRITTEN_TOGETHER):
        raise ValueError(f"the host name {quoted(label)} mixes scripts")


_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+")
#: Headers that belong to the client: setting them would defeat its checks.
_OWN_HEADERS = frozenset(
    {"host", "range", "accept-encoding", "connection", "content-length", "transfer-encoding"}
)


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """How to connect to one origin.

    Attributes
    ----------
    anonymous
        Object stores: send no credentials (the default).
    profile, endpoint, region, account
        Object stores: named credentials, address of the service, region, storage account.
    requester_pays
        The reader agrees to be charged.
    headers
        Header name to the environment variable that holds its value; read when a request is sent.
    token
        The environment variable that holds a bearer token.
    netrc
        A netrc file with name and password, empty for the usual one; None where none are sent.
    login
        The address where the server has people log in: name and password are sent there alone.
    credentials
        S3: the URL that gives credentials which expire; it is asked with `headers`, `token` or `login`.
    """

    anonymous: bool = True
    profile: str | None = None
    endpoint: str | None = None
    region: str | None = None
    account: str | None = None
    requester_pays: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    token: str | None = None
    netrc: str | None = None
    login: str | None = None
    credentials: str | None = None

    @property
    def has_login(self) -> bool:
        """Whether names, passwords or tokens are sent."""
        return any(each is not None for each in (self.token, self.netrc, self.login, self.credentials))

    def with_option(self, key: str, value: str) -> ConnectionSettings:
        """Return the settings with one ``KEY=VALUE`` of ``--storage-option`` applied.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: no such setting, or a value that it cannot have.
        """
        if key.startswith("header."):
            name = key.removeprefix("header.")
            if not _HEADER_NAME.fullmatch(name) or name.lower() in _OWN_HEADERS:
                raise RefbrowserError(ErrorKind.USAGE, f"{quoted(name)} is not a header that can be set")
            _check_variable(key, value)
            return replace(self, headers={**self.headers, name: value})
        if key == "anonymous":
            return replace(self, anonymous=_boolean(key, value))
        if key == "requester_pays":
            return replace(self, requester_pays=_boolean(key, value))
        if key in ("login", "credentials"):
            check_secure(Origin.parse(value))
        if key == "token":
            _check_variable(key, value)
        if key == "netrc":
            return replace(self, netrc="" if value.lower() == "true" else value)
        if key in ("profile", "endpoint", "region", "account", "token", "login", "credentials"):
            changes: dict[str, Any] = {key: value}
            if key in ("profile", "credentials"):
                changes["anonymous"] = False
            return replace(self, **changes)
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"{quoted(key)} is not a storage option",
            advice=f"known: {', '.join(_KEYS)}, header.NAME",
        )

    def of_credentials(self) -> ConnectionSettings:
        """Return how the URL is asked that gives credentials which expire."""
        return ConnectionSettings(headers=self.headers, token=self.token, netrc=self.netrc, login=self.login)

    def header_values(self, origin: Origin) -> dict[str, str]:
        """Return the headers that are sent to an origin: values from the environment, and who asks.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: a variable is not set or cannot stand in a header; a password would be sent openly.
        """
        values = {}
        for name, variable in self.headers.items():
            value = os.environ.get(variable)
            if value is None or not value.isprintable() or not value.isascii():
                message = f"environment variable {quoted(variable)} holds no value for the header {name}"
                raise RefbrowserError(ErrorKind.USAGE, message)
            values[name] = value
        if not self.has_login:
            return values
        from refbrowser.io.credentials import basic, bearer  # Few log in.

        check_secure(origin)
        if self.token is not None:
            values["Authorization"] = bearer(self.token)
        elif self.netrc is not None and self.login is None:
            values["Authorization"] = basic(origin.host, self.netrc)
        return values


#: Settings of a connection.
_KEYS = (
    "anonymous", "profile", "endpoint", "region", "account", "requester_pays", "token", "netrc", "login",
    "credentials",
)  # fmt: skip


def _check_variable(key: str, value: str) -> None:
    """Raise where a setting is no name of an environment variable: it may be a secret, which is not told."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        message = f"{key} names the environment variable that holds the value, not the value itself"
        raise RefbrowserError(ErrorKind.USAGE, message)


def check_secure(origin: Origin) -> None:
    """Refuse where others on the way to an origin could read what is sent there.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: they could.
    """
    if origin.scheme in ("https", "s3"):
        return
    if origin.scheme != "http" or not _is_this_machine(origin.host):
        message = f"passwords and tokens are sent over https alone, not to {origin}"
        raise RefbrowserError(ErrorKind.USAGE, message)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        # Names may begin as addresses do.
        return host == "localhost"


def parse_storage_options(texts: Iterable[str]) -> dict[Origin, ConnectionSettings]:
    """Return the settings per origin from ``ORIGIN:KEY=VALUE`` texts.

    Raises
    ------
    RefbrowserError
        `E_USAGE` for a malformed text; the errors of `Origin.parse`.
    """
    settings: dict[Origin, ConnectionSettings] = {}
    for text in texts:
        left, equals, value = text.partition("=")
        origin_text, colon, key = left.rpartition(":")
        if not equals or not colon or not origin_text:
            message = f"{quoted(text)} is not of the form ORIGIN:KEY=VALUE"
            raise RefbrowserError(ErrorKind.USAGE, message)
        origin = Origin.parse(origin_text)
        settings[origin] = settings.get(origin, ConnectionSettings()).with_option(key, value)
    return settings


def _boolean(key: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise RefbrowserError(ErrorKind.USAGE, f"{key} is true or false, not {quoted(value)}")
    return value.lower() == "true"


# As fsspec spells them

#: What fsspec's file systems (s3fs, gcsfs, adlfs) call the settings that we have.
_FSSPEC_NAMES = {
    "anon": "anonymous",
    "anonymous": "anonymous",
    "profile": "profile",
    "endpoint_url": "endpoint",
    "endpoint": "endpoint",
    "region_name": "region",
    "region": "region",
    "account_name": "account",
    "account": "account",
    "requester_pays": "requester_pays",
    "login": "login",
    "netrc": "netrc",
    "credentials": "credentials",
}
#: Options in which others lie: of botocore's client, and of fsspec's file system of references.
_FSSPEC_NESTED = ("client_kwargs", "remote_options", "config_kwargs")
#: Those of fsspec that change nothing about what is read.
_FSSPEC_IDLE = frozenset(
    {"asynchronous", "use_listings_cache", "skip_instance_cache", "default_cache_type", "remote_protocol"}
)
_FSSPEC_SECRETS = frozenset(
    {"key", "secret", "token", "password", "username", "account_key", "sas_token", "auth"}
)


def option_texts(options: Mapping[str, Any], named: Iterable[str]) -> tuple[str, ...]:
    """Return options of fsspec as ``ORIGIN:KEY=VALUE``, for each origin among the URLs that are named.

    Parameters
    ----------
    options
        ``{"anon": True}``, for all origins; or settings by origin, ``{"s3://bucket": {"anon": True}}``.
    named
        Paths and URLs that the caller has named: what is opened, and what is allowed.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such option, or no origin that it may be for.
    """
    of_all = {key: value for key, value in options.items() if scheme_of(key) is None}
    texts = []
    for origin in options.keys() - of_all.keys():
        texts += [f"{origin}:{setting}" for setting in _fsspec_settings(options[origin])]
    origins = dict.fromkeys(str(split_url(each).origin) for each in named if _is_elsewhere(each))
    settings = list(_fsspec_settings(of_all))
    if settings and not origins:
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"the storage options {', '.join(map(quoted, of_all))} are for no origin",
            advice="name it with allow=['s3://bucket'], or give options by origin: {'s3://bucket': {...}}",
        )
    return (*texts, *(f"{origin}:{setting}" for origin in origins for setting in settings))


def _is_elsewhere(named: str) -> bool:
    return scheme_of(named) not in (None, "file")


def _fsspec_settings(options: Any) -> Iterator[str]:
    """Yield each option as ``KEY=VALUE``."""
    if not isinstance(options, Mapping):
        raise RefbrowserError(ErrorKind.USAGE, f"storage options are by name, not {quoted(options)}")
    for name, value in options.items():
        if name in _FSSPEC_NESTED:
            yield from _fsspec_settings(value or {})
        elif name in _FSSPEC_SECRETS:
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"the storage option {quoted(name)} is a secret, which is not taken from programs",
                advice="name a profile: {'profile': 'work'}; or the environment variable that holds a token, "
                "as text: 'https://host:token=VARIABLE'",
            )
        elif name in _FSSPEC_NAMES:
            if value is not None:
                yield f"{_FSSPEC_NAMES[name]}={str(value).lower() if isinstance(value, bool) else value}"
        elif name not in _FSSPEC_IDLE:
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"{quoted(name)} is not a storage option",
                advice=f"known: {', '.join(sorted(_FSSPEC_NAMES))}",
            )
