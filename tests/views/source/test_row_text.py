"""What a row shows, and the byte of each character."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.source.row_text import TokenKind, row_text


def kinds(text: str, in_string: bool = False) -> list[tuple[TokenKind, str]]:
    shown = row_text(text.encode("utf-8", "surrogateescape"), in_string, keeps_space=True)
    return [(token.kind, shown.text[token.start : token.stop]) for token in shown.tokens]


def test_parts_are_told_apart():
    assert kinds('"a": ["s3", -1.5e3, true], nope') == [
        (TokenKind.NAME, '"a"'),
        (TokenKind.MARK, "["),
        (TokenKind.STRING, '"s3"'),
        (TokenKind.MARK, ","),
        (TokenKind.NUMBER, "-1.5e3"),
        (TokenKind.MARK, ","),
        (TokenKind.WORD, "true"),
        (TokenKind.MARK, "]"),
        (TokenKind.MARK, ","),
        (TokenKind.BROKEN, "nope"),
    ]
    assert kinds('b\\"c", 1', in_string=True)[:2] == [(TokenKind.STRING, 'b\\"c"'), (TokenKind.MARK, ",")]


def test_what_turns_the_order_of_text_is_shown_as_its_code():
    shown = row_text('"a\u202eb\x00c\udcff"'.encode("utf-8", "surrogateescape"), False, True)
    assert shown.text == '"a⟨U+202E⟩b⟨U+0000⟩c⟨FF⟩"'
    hidden = [token for token in shown.tokens if token.kind is TokenKind.HIDDEN]
    assert [shown.text[token.start : token.stop] for token in hidden] == ["⟨U+202E⟩", "⟨U+0000⟩", "⟨FF⟩"]
    assert shown.byte_of(3) == 2
    assert shown.character_at(5) == shown.text.index("b")


def test_spaces_between_values_are_one_in_a_laid_out_row():
    shown = row_text(b'  "a  b":\n   [1,\n\t2] , ', False, keeps_space=False)
    assert shown.text == '"a  b": [1, 2] ,'
    data = b'  "a  b":\n   [1,\n\t2] , '
    for number, character in enumerate(shown.text):
        byte = data[shown.byte_of(number) : shown.byte_of(number) + 1]
        assert byte.decode() == character or character == " "


@given(st.binary(max_size=80), st.booleans(), st.booleans())
def test_characters_and_bytes_lead_to_each_other(data, in_string, keeps_space):
    shown = row_text(data, in_string, keeps_space)
    bytes_of = [shown.byte_of(number) for number in range(len(shown.text) + 1)]
    assert bytes_of == sorted(bytes_of)
    assert bytes_of[-1] <= len(data)
    assert shown.text.isprintable()
    for number in range(len(shown.text)):
        assert shown.byte_of(shown.character_at(bytes_of[number])) == bytes_of[number]
