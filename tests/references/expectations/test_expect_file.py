"""The file that says what a document should hold: read, refused, written again."""

from __future__ import annotations

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.expectations.expect_file import (
    ExpectFile,
    expect_text,
    parse_expect,
    with_declares,
    with_expect,
)


def test_what_was_written_is_read() -> None:
    file = ExpectFile({"axes": [{"name": "time"}]}, {"/t2m": {"units": "K"}}, {"note": "för alla"})
    assert parse_expect(expect_text(file)) == file


def test_one_member_is_changed_and_the_others_stay() -> None:
    file = parse_expect(b'{"version": 1, "declares": {"a": {}}, "by": "us"}')
    changed = with_expect(file, {"axes": []})
    assert changed == ExpectFile({"axes": []}, {"a": {}}, {"by": "us"})
    assert with_declares(changed, None) == ExpectFile({"axes": []}, None, {"by": "us"})


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (b"[]", ErrorKind.SCHEMA, "not a JSON object"),
        (b"{", ErrorKind.JSON, "byte 1"),
        (b'{"version": NaN}', ErrorKind.SCHEMA, "NaN"),
        (b"{}", ErrorKind.SCHEMA, "version is none"),
        (b'{"version": true}', ErrorKind.SCHEMA, "version is"),
        (b'{"version": 2}', ErrorKind.SCHEMA, "1 is understood"),
        (b'{"version": 1, "expect": []}', ErrorKind.SCHEMA, "'expect' is not an object"),
        (b'{"version": 1, "declares": 1}', ErrorKind.SCHEMA, "'declares' is not an object"),
        (b'{"version": 1, "x": ' + b"[" * 300 + b"]" * 300 + b"}", ErrorKind.BUDGET, "nest"),
    ],
)
def test_what_is_no_such_file_is_refused(text: bytes, kind: ErrorKind, words: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        parse_expect(text)
    assert caught.value.kind is kind
    assert words in caught.value.message


def test_a_file_that_is_too_large_is_refused() -> None:
    with pytest.raises(RefbrowserError, match="expect_size"):
        parse_expect(b" " * (LIMITS.expect_size + 1))
