from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, Severity
from refbrowser.limits import LIMITS
from refbrowser.references.content.reference_values import (
    Value,
    ValueKind,
    decode_base64,
    decode_inline,
    interpret,
    key_issues,
)
from refbrowser.references.text.json_text import parse


def value_of(text: str) -> Value:
    raw = text.encode("utf-8")
    return interpret(parse(raw), raw)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"data"', b"data"),
        ('""', b""),
        ('"\\u0010=?d\\u0000"', b"\x10=?d\x00"),
        ('"\\u007f"', b"\x7f"),
        ('"é"', "é".encode()),
        ('"base64:QUJD"', b"ABC"),
        ('"base64: QU\\nJD\\t"', b"ABC"),
        ('"base64:"', b""),
        ('"Base64:QUJD"', b"Base64:QUJD"),
        ('{"a":  1.50}', b'{"a":  1.50}'),
    ],
)
def test_inline_bytes(text: str, expected: bytes) -> None:
    value = value_of(text)
    assert value.fault is None
    data = value.text.encode() if value.kind is ValueKind.OBJECT else decode_inline(value.text)
    assert data == expected


@pytest.mark.parametrize(
    ("text", "url", "offset", "length"),
    [
        ('["u"]', "u", None, None),
        ('["u", 0, 0]', "u", 0, 0),
        ('["{{u}}x", 10, 20]', "{{u}}x", 10, 20),
        ('["u", -0, 1]', "u", 0, 1),
    ],
)
def test_ranges(text: str, url: str, offset: int | None, length: int | None) -> None:
    assert value_of(text) == Value(None, url=url, offset=offset, length=length)


def test_numbers_beyond_64_bits_stay_exact() -> None:
    huge = 10 ** (LIMITS.json_digits - 1)
    value = value_of(json.dumps(["u", huge, 1]))
    assert value.fault is None
    assert (value.kind, value.offset, value.length) == (ValueKind.LARGE, huge, 1)
    assert value_of(json.dumps(["u", 2**63 - 2, 1])).kind is None
    assert value_of(json.dumps(["u", 2**63 - 1, 1])).kind is ValueKind.LARGE


@pytest.mark.parametrize(
    ("text", "message", "below"),
    [
        ("5", "an integer, not text or a list", ""),
        ("null", "null", ""),
        ("true", "true or false", ""),
        ("NaN", "not a finite number", ""),
        ("[]", "0 elements", ""),
        ('["u", 1]', "2 elements", ""),
        ('["u", 1, 2, 3]', "4 elements", ""),
        ("[1, 2, 3]", "the URL is an integer", "/0"),
        ('["u", -1, 2]', "offset is negative", "/1"),
        ('["u", 1, -2]', "length is negative", "/2"),
        ('["u", 1.0, 2]', "offset is a number with a fraction", "/1"),
        ('["u", "1", 2]', "offset is text", "/1"),
        ('["u", 1, true]', "length is true or false", "/2"),
        ('["u", NaN, 2]', "offset is not a finite number", "/1"),
        ('["u", 1, Infinity]', "length is not a finite number", "/2"),
        ('"\\ud800"', "surrogate", ""),
        ('["\\ud800", 1, 2]', "surrogate", "/0"),
        ('"base64:A"', "not base64", ""),
        ('"base64:QUJ"', "not base64", ""),
        ('"base64:QU=JD"', "not base64", ""),
        ('"base64:QUJD$"', "not base64", ""),
        ('"base64:QUé="', "not base64", ""),
    ],
)
def test_faults(text: str, message: str, below: str) -> None:
    value = value_of(text)
    assert value.kind is ValueKind.FAULT
    assert value.fault is not None
    assert message in value.fault.message
    assert value.fault.below == below
    assert value.fault.kind is ErrorKind.REF


def test_every_fault_of_a_list_is_told() -> None:
    assert [issue.below for issue in value_of("[1, -1, 2.5]").issues] == ["/0", "/1", "/2"]


@pytest.mark.parametrize(
    ("size", "fine"),
    [(LIMITS.url_length - 1, True), (LIMITS.url_length, True), (LIMITS.url_length + 1, False)],
)
def test_the_limit_of_urls(size: int, fine: bool) -> None:
    value = value_of(json.dumps(["u" * size]))
    assert (value.fault is None) == fine
    if value.fault is not None:
        assert value.fault.kind is ErrorKind.BUDGET


def test_the_limit_of_digits_and_keys() -> None:
    fault = value_of('["u", ' + "9" * (LIMITS.json_digits + 1) + ", 1]").fault
    assert fault is not None
    assert fault.kind is ErrorKind.BUDGET
    assert not key_issues("k" * LIMITS.key_length, 0)
    assert key_issues("k" * (LIMITS.key_length + 1), 0)[0].kind is ErrorKind.BUDGET
    assert key_issues("\ud800", 0)[0].severity is Severity.FAULT


def test_the_limit_of_inline_values(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from refbrowser.references.content import reference_values

    monkeypatch.setattr(reference_values, "LIMITS", replace(LIMITS, inline_value=20))
    for size, fine in ((19, True), (20, True), (21, False)):
        encoded = base64.b64encode(b"x" * size).decode()
        for text in (json.dumps("x" * size), f'"base64:{encoded}"', '{"a":' + "1" * (size - 6) + "}"):
            fault = value_of(text).fault
            assert (fault is None) == fine, text
            assert fault is None or fault.kind is ErrorKind.BUDGET


def test_warnings() -> None:
    [issue] = value_of('"é"').issues
    assert (issue.severity, issue.kind) == (Severity.WARNING, ErrorKind.ENCODING)
    messages = [issue.message for issue in value_of('{"a": NaN}').issues]
    assert messages == ["an object is read as its JSON text", "NaN and Infinity are not JSON"]


@given(st.binary(max_size=40), st.randoms())
def test_base64_is_strict_but_for_white_space(data: bytes, random: Any) -> None:
    text = base64.b64encode(data).decode()
    spaced = "".join(character + random.choice(["", "", " ", "\n", "\t"]) for character in text)
    assert decode_base64(spaced) == data
    with pytest.raises(ValueError):
        decode_base64(text + "*")
