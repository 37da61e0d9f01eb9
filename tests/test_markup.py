"""HTML that is made of foreign text has the program's elements and nothing else."""

from __future__ import annotations

from html_read import Read
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.markup import SHOWN, element, folded, markup, page, plain, style, table

HOSTILE = st.one_of(
    st.text(st.characters(), max_size=40),
    st.sampled_from(
        [
            "</style><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onclick='x", "<!-- ",
            "]]>", "&lt;b&gt;", "\ud800", "\u202egnp.exe\u2066", "\x00\x1b[31m", "a\u2028b\nc\td",
        ]
    ),
)  # fmt: skip


@given(HOSTILE)
def test_whatever_a_text_says_it_stays_text(text: str) -> None:
    made = element("p", element("b", text, title=text), text, class_="a")
    read = Read(made)
    assert read.elements == ["p", "b"]
    shown = plain(text)
    assert read.values == ["a", shown.replace("\n", " ")]
    assert read.said == shown * 2
    made.encode()


@given(HOSTILE)
def test_plain_text_acts_on_nothing(text: str) -> None:
    shown = plain(text)
    assert all(each.isprintable() or each in "\n\t\xa0\u202f" for each in shown)
    assert len(shown) == len(text)
    assert [a for a, b in zip(text, shown, strict=True) if a.isprintable()] == [
        b for a, b in zip(text, shown, strict=True) if a.isprintable()
    ]


def test_long_texts_are_cut() -> None:
    assert plain("x" * SHOWN) == "x" * SHOWN
    assert plain("x" * 3000) == "x" * SHOWN + "…"
    assert plain("abcdef", 3) == "abc…"
    assert len(element("p", "x" * 10**6)) < SHOWN + 10


def test_elements_have_attributes_as_they_are_meant() -> None:
    assert element("rect", x=1, y=0.1 + 0.2, stroke_width=2, rx=None) == (
        '<rect x="1" y="0.3" stroke-width="2"></rect>'
    )
    assert element("details", open=True) == "<details open></details>"
    assert element("details", open=False, class_="rb") == '<details class="rb"></details>'
    assert element("meta", name="viewport", http_equiv="a") == '<meta name="viewport" http-equiv="a">'
    assert element("br") == "<br>"


def test_contents_may_be_many() -> None:
    assert markup("a<", (element("i", each) for each in "xy"), ["<", [element("b")]]) == (
        "a&lt;<i>x</i><i>y</i>&lt;<b></b>"
    )
    assert table(["A"], [["1<"], [element("i")]], class_="t") == (
        '<table class="t"><thead><tr><th scope="col">A</th></tr></thead>'
        "<tbody><tr><td>1&lt;</td></tr><tr><td><i></i></td></tr></tbody></table>"
    )
    assert table([], [["1"]]) == "<table><tbody><tr><td>1</td></tr></tbody></table>"
    assert folded("<", "b", is_open=True) == "<details open><summary>&lt;</summary>b</details>"


def test_a_page_loads_nothing() -> None:
    made = page("<Title>", "p { color: red; }", element("p", "text"))
    read = Read(made)
    assert read.elements == ["html", "head", *["meta"] * 4, "title", "style", "body", "p"]
    assert "default-src 'none'; style-src 'unsafe-inline'" in read.values
    assert "<title>&lt;Title&gt;</title>" in made
    assert style("p { a: b; }", "i { c: d; }") == "<style>p { a: b; }i { c: d; }</style>"
