"""Pages of reports: what they say of themselves, and that they are whole, bounded and load nothing."""

from __future__ import annotations

import re
from html import unescape

import pytest
from html_read import Read

from refbrowser.limits import LIMITS
from refbrowser.markup import element
from refbrowser.version import __version__
from refbrowser.views.reports.html_page import (
    Made,
    ReportPage,
    definitions,
    listing,
    long_text,
    page_bytes,
    page_text,
    verdict,
)

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e\ud800\"' onload=x"


def page(**members: object) -> str:
    return page_text(ReportPage(**{"title": "t", **members}), Made(command="refbrowser x", when=0))  # type: ignore[arg-type]


def test_a_page_says_what_was_asked_when_and_by_which_version() -> None:
    seen = Read(page(about=(("Document", "a.json"),)))
    for told in ("Document", "a.json", "1970-01-01 00:00 UTC", f"refbrowser {__version__}", "refbrowser x"):
        assert told in seen.said
    assert "Command" not in Read(page_text(ReportPage(title="t"))).said


def test_foreign_text_is_text_everywhere() -> None:
    text = page_text(
        ReportPage(
            title=HOSTILE,
            about=((HOSTILE, HOSTILE),),
            sections=(
                verdict(HOSTILE),
                element("p", HOSTILE, title=HOSTILE),
                definitions([(HOSTILE, HOSTILE)]),
                listing(("A",), [(HOSTILE,)]),
                long_text(HOSTILE, 500),
            ),
        ),
        Made(command=HOSTILE),
    )
    seen = Read(text)
    assert not {"script", "img", "link", "iframe", "a", "base", "form"} & set(seen.elements)
    assert not {"src", "href", "style", "onload"} & seen.names
    assert seen.said.count("<script>alert(1)</script>") == 11
    assert not {"\x1b", "\u202e", "\ud800"} & set(text)


def test_a_page_loads_nothing_and_is_fit_for_paper_and_dark_rooms() -> None:
    text = page()
    assert "default-src 'none'" in unescape(text)
    assert not re.search(r"https?:|url\(|@import", text)
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_what_is_secret_is_in_no_part_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("USERPROFILE", "/home/anna")
    told = "/home/anna/x https://me:word@h/?token=abc"
    text = page(title=told, about=((told, told),), sections=(verdict(told), listing((told,), [(told,)])))
    assert not re.search("anna|word|abc", text)
    assert text.count("~/x https://…@h/?token=…") == 7


def test_a_page_ends_before_it_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [element("p", f"<{number:04}>") for number in range(100)]
    size = len(items[0])
    for whole in (10, 100):
        monkeypatch.setitem(LIMITS.__dict__, "page_size", size * whole)
        seen = Read(page(sections=iter(items)))
        assert f"<{whole - 1:04}>" in seen.said
        assert (f"<{whole:04}>" in seen.said) is False
        assert ("The page ends here" in seen.said) is (whole < 100)


def test_long_lists_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS.__dict__, "page_rows", 3)
    for count, more in ((3, False), (4, True)):
        rows = [(f"r{number}", "x") for number in range(count)]
        for made in (listing(("A", "B"), rows), definitions(rows)):
            assert ("and 1 more" in made) is more
            assert "r2" in made
            assert "r3" not in made
    assert definitions([]) == ""


def test_columns_have_classes_and_texts_their_length() -> None:
    made = listing(("A", "B"), [("1", "2")], ("number",))
    assert '<td class="number">1</td><td>2</td>' in made
    assert len(long_text("x" * 5000, 4000)) == 4001
    assert page_bytes(ReportPage(title="é")).count("é".encode()) == 2
