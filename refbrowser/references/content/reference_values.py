"""What one value of `refs` means: text, `base64:`, ``[url]``, ``[url, offset, length]``, or a fault."""

from __future__ import annotations

import binascii
from dataclasses import dataclass, field
from enum import IntEnum

from refbrowser.errors import ErrorKind, Severity
from refbrowser.findings.finding import FindingKind
from refbrowser.findings.kinds import (
    BASE64_LENIENT,
    BASE64_WRONG,
    NOT_ASCII,
    NOT_FINITE,
    NUMBER_IMPOSSIBLE,
    OBJECT_VALUE,
)
from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import Node, NodeKind, has_surrogate, pointer

BASE64_PREFIX = "base64:"
#: Offsets and lengths above this are kept exactly, and cannot be read.
LARGEST = 2**63 - 1

_LENIENT = "only lenient readers accept this base64: it has white space or unused bits"
#: Offsets and lengths that no file can have.
_WHITE = " \t\n\r\f\v"


class ValueKind(IntEnum):
    """What stands in the `url` column of a table where there is no URL."""

    TEXT = -1
    BASE64 = -2
    OBJECT = -3
    FAULT = -4
    #: A range whose numbers do not fit 64 bits.
    LARGE = -5


@dataclass(frozen=True, slots=True)
class Issue:
    """One fault or warning of an entry, before it is placed in its document.

    `below` is the JSON pointer below the entry, `position` the byte of the text that it is about; `what` as
    that of `Finding`.
    """

    severity: Severity
    kind: ErrorKind
    message: str
    position: int
    below: str = ""
    advice: str = ""
    what: FindingKind | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """One value of `refs`.

    Attributes
    ----------
    kind
        None where there is a URL whose numbers fit 64 bits.
    url
        As the document spells it, before rendering.
    offset, length
        Both None for a whole file.
    text
        Of inline values: what the text stands for (`base64:` and all).
    """

    kind: ValueKind | None
    url: str = ""
    offset: int | None = None
    length: int | None = None
    text: str = ""
    issues: tuple[Issue, ...] = field(default=())

    @property
    def fault(self) -> Issue | None:
        """The first fault, which is why the entry cannot be read; None where it can."""
        for issue in self.issues:
            if issue.severity is Severity.FAULT:
                return issue
        return None


def decode_base64(text: str) -> bytes:
    """Return the bytes of base64 text (after its prefix); strict but for white space.

    Raises
    ------
    ValueError
        It is not base64.
    """
    data = text.encode("ascii")
    # Seldom so; to look for six characters takes next to nothing, to take them out as long as to decode.
    if _has_white(text):
        data = data.translate(None, _WHITE.encode())
    return binascii.a2b_base64(data, strict_mode=True)


def _has_white(text: str) -> bool:
    return any(character in text for character in _WHITE)


def is_lenient(text: str) -> bool:
    """Tell whether only lenient readers take base64 text (after its prefix) that `decode_base64` takes.

    White space stands in it (RFC 4648, section 3.3), or its last character has bits that stand for nothing
    and are not 0 (section 3.5).
    """
    if _has_white(text):
        return True
    padding = len(text) - len(text.rstrip("="))
    return (
        bool(padding) and binascii.b2a_base64(decode_base64(text[-4:]), newline=False) != text[-4:].encode()
    )


def decode_inline(text: str) -> bytes:
    """Return the bytes that an inline value stands for.

    Raises
    ------
    ValueError
        It is not base64 although it says so, or holds a lone surrogate.
    """
    if text.startswith(BASE64_PREFIX):
        return decode_base64(text[len(BASE64_PREFIX) :])
    return text.encode("utf-8")


def _fault(
    message: str,
    node: Node,
    below: str = "",
    advice: str = "",
    kind: ErrorKind = ErrorKind.REF,
    what: FindingKind | None = None,
) -> Issue:
    return Issue(Severity.FAULT, kind, message, node.start, below, advice, what)


def _warning(message: str, position: int, what: FindingKind, kind: ErrorKind = ErrorKind.REF) -> Issue:
    return Issue(Severity.WARNING, kind, message, position, what=what)


def interpret(node: Node, raw: bytes) -> Value:
    """Return what the value `node`, whose text is `raw`, means."""
    if node.kind is NodeKind.STRING:
        return _inline(node)
    if node.kind is NodeKind.LIST:
        return _range(node)
    if node.kind is NodeKind.OBJECT:
        return _object(node, raw)
    return Value(
        ValueKind.FAULT,
        issues=(_fault(f"the value is {node.kind.value}, not text or a list", node),),
    )


def _too_long(size: int, node: Node) -> Value:
    message = f"the inline value has {size} bytes, more than the limit of {LIMITS.inline_value}"
    return Value(ValueKind.FAULT, issues=(_fault(message, node, kind=ErrorKind.BUDGET),))


def _inline(node: Node) -> Value:
    text: str = node.content
    encoded = text.startswith(BASE64_PREFIX)
    kind = ValueKind.BASE64 if encoded else ValueKind.TEXT
    # Base64 is longer than its bytes, and white space may stand in it; what it gives is looked at below.
    size = len(text) // 2 if encoded else len(text.encode("utf-8", "replace"))
    if size > LIMITS.inline_value:
        return _too_long(size, node)
    if has_surrogate(text):
        fault = _fault("the text holds half of a surrogate pair, which is not a character", node)
        return Value(ValueKind.FAULT, issues=(fault,))
    if encoded:
        try:
            data = decode_inline(text)
        except ValueError as error:
            fault = _fault(
                f"the text after 'base64:' is not base64: {_reason(error)}", node, what=BASE64_WRONG
            )
            return Value(ValueKind.FAULT, issues=(fault,))
        if len(data) > LIMITS.inline_value:
            return _too_long(len(data), node)
        lenient = is_lenient(text[len(BASE64_PREFIX) :])
        return Value(
            kind, text=text, issues=(_warning(_LENIENT, node.start, BASE64_LENIENT),) if lenient else ()
        )
    if text.isascii():
        return Value(kind, text=text)
    warning = _warning(
        "the text is not ASCII: its UTF-8 bytes are used",
        node.start,
        NOT_ASCII,
        kind=ErrorKind.ENCODING,
    )
    return Value(kind, text=text, issues=(warning,))


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeError):
        return "a character outside its alphabet"
    return str(error)[:1].lower() + str(error)[1:]


def _object(node: Node, raw: bytes) -> Value:
    if len(raw) > LIMITS.inline_value:
        return _too_long(len(raw), node)
    text = raw.decode("utf-8")
    issues = [_warning("an object is read as its JSON text", node.start, OBJECT_VALUE)]
    if not text.isascii():
        issues.append(_warning("the text is not ASCII: its UTF-8 bytes are used", node.start, NOT_ASCII))
    issues += [
        _warning("NaN and Infinity are not JSON", inner.start, NOT_FINITE)
        for inner in _walk(node)
        if inner.kind is NodeKind.NOT_FINITE
    ][:1]
    return Value(ValueKind.OBJECT, text=text, issues=tuple(issues))


def _walk(node: Node) -> list[Node]:
    found = [node]
    for inner in found:
        found.extend(member.value for member in inner.members)
        found.extend(inner.items)
    return found


def _range(node: Node) -> Value:
    items = node.items
    if len(items) not in (1, 3):
        fault = _fault(
            f"the list has {len(items)} elements, not one or three",
            node,
            advice="Write [url] for a whole file, or [url, offset, length].",
        )
        return Value(ValueKind.FAULT, issues=(fault,))
    faults = [*_url_faults(items[0])]
    for index, name in ((1, "offset"), (2, "length")):
        if index < len(items):
            faults += _number_faults(items[index], index, name)
    if faults:
        return Value(ValueKind.FAULT, issues=tuple(faults))
    url = items[0].content
    if len(items) == 1:
        return Value(None, url=url)
    offset, length = items[1].content, items[2].content
    kind = ValueKind.LARGE if offset + length > LARGEST else None
    return Value(kind, url=url, offset=offset, length=length)


def _url_faults(node: Node) -> list[Issue]:
    if node.kind is not NodeKind.STRING:
        return [_fault(f"the URL is {node.kind.value}, not text", node, pointer(0))]
    if has_surrogate(node.content):
        return [_fault("the URL holds half of a surrogate pair", node, pointer(0))]
    if len(node.content) > LIMITS.url_length:
        message = f"the URL has more than {LIMITS.url_length} characters"
        return [_fault(message, node, pointer(0), kind=ErrorKind.BUDGET)]
    return []


def _number_faults(node: Node, index: int, name: str) -> list[Issue]:
    if node.kind is NodeKind.LONG:
        message = f"the {name} has more than {LIMITS.json_digits} digits"
        return [_fault(message, node, pointer(index), kind=ErrorKind.BUDGET, what=NUMBER_IMPOSSIBLE)]
    if node.kind is not NodeKind.INTEGER:
        message = f"the {name} is {node.kind.value}, not an integer"
        return [_fault(message, node, pointer(index), what=NUMBER_IMPOSSIBLE)]
    if node.content < 0:
        return [_fault(f"the {name} is negative", node, pointer(index), what=NUMBER_IMPOSSIBLE)]
    return []


def key_issues(key: str, position: int) -> tuple[Issue, ...]:
    """Return what is wrong with a key of `refs` itself."""
    if has_surrogate(key):
        message = "the key holds half of a surrogate pair, which is not a character"
        return (Issue(Severity.FAULT, ErrorKind.REF, message, position),)
    if len(key) > LIMITS.key_length:
        message = f"the key has more than {LIMITS.key_length} characters"
        return (Issue(Severity.FAULT, ErrorKind.BUDGET, message, position),)
    return ()
