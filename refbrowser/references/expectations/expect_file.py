"""The file beside a document that says what it should hold, as a value; anybody may have written it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import JsonError, read_value

#: The version of the file that is understood and written.
VERSION = 1


@dataclass(frozen=True, slots=True)
class ExpectFile:
    """What a file ``DOC.expect.json`` says.

    Attributes
    ----------
    expect
        What should be there, as JSON has it; None where it says nothing of that.
    declares
        Which properties arrays should have, as JSON has it; None where it says nothing of that.
    others
        Members that are not known; they are written again.
    """

    expect: Mapping[str, Any] | None = None
    declares: Mapping[str, Any] | None = None
    others: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return self.expect is None and self.declares is None and not self.others


def parse_expect(data: bytes) -> ExpectFile:
    """Return what the text of such a file says; its two members are not looked into.

    Raises
    ------
    RefbrowserError
        `E_ENCODING`, `E_JSON`, `E_SCHEMA`, `E_BUDGET`: it is no such file, or one of another version.
    """
    if len(data) > LIMITS.expect_size:
        message = f"it has {len(data)} bytes, more than {LIMITS.expect_size} (expect_size)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    try:
        said, is_finite = read_value(data.removeprefix(b"\xef\xbb\xbf"))
    except JsonError as error:
        raise RefbrowserError(error.kind, f"byte {error.position}: {error.message}") from None
    if not isinstance(said, dict) or not is_finite:
        message = "it is not a JSON object" if is_finite else "NaN and Infinity are not JSON"
        raise RefbrowserError(ErrorKind.SCHEMA, message)
    version = said.pop("version", None)
    if version != VERSION or isinstance(version, bool):
        shown = "none" if version is None else quoted(version)
        raise RefbrowserError(ErrorKind.SCHEMA, f"its version is {shown}: {VERSION} is understood")
    parts: dict[str, Any] = {name: said.pop(name, None) for name in ("expect", "declares")}
    for name, value in parts.items():
        if value is not None and not isinstance(value, dict):
            raise RefbrowserError(ErrorKind.SCHEMA, f"its member {quoted(name)} is not an object")
    return ExpectFile(**parts, others=said)


def expect_text(file: ExpectFile) -> bytes:
    """Return the text of such a file: a member each, indented, so that two versions are compared by line."""
    said: dict[str, Any] = {"version": VERSION}
    for name, value in (("expect", file.expect), ("declares", file.declares)):
        if value is not None:
            said[name] = value
    return f"{json.dumps({**said, **file.others}, indent=2, allow_nan=False, ensure_ascii=False)}\n".encode()


def with_expect(file: ExpectFile, expect: Mapping[str, Any] | None) -> ExpectFile:
    """Return the file with another member `expect`; all else stays."""
    return replace(file, expect=expect)


def with_declares(file: ExpectFile, declares: Mapping[str, Any] | None) -> ExpectFile:
    """Return the file with another member `declares`; all else stays."""
    return replace(file, declares=declares)
