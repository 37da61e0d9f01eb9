"""Commas before closing brackets are taken out of a JSON text, and nothing else is."""

from __future__ import annotations

import json

import pytest

from refbrowser.references.text.spare_commas import without_spare_commas


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b'{"a": 1,}', b'{"a": 1}'),
        (b'{"a": [1, 2,\n ] , }', b'{"a": [1, 2\n ]  }'),
        (b'{"a": ",}", "b": ",]",}', b'{"a": ",}", "b": ",]"}'),
        (b'{"a": "\\",}", "b": "\\\\",}', b'{"a": "\\",}", "b": "\\\\"}'),
        (b'{"a": [1, 2]}', b'{"a": [1, 2]}'),
    ],
)
def test_texts(text: bytes, wanted: bytes) -> None:
    assert without_spare_commas(text) == wanted
    json.loads(wanted)


def test_a_long_text_takes_no_room_for_going_back() -> None:
    text = b'{"a": "' + b"x" * 5_000_000 + b'",}'
    assert without_spare_commas(text) == text[:-2] + b"}"
