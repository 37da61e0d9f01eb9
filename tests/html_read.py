"""HTML as a browser reads it: elements, attributes and text, for tests of what may be in it."""

from __future__ import annotations

from html.parser import HTMLParser

#: Elements that show something, and do nothing.
HARMLESS = {
    "b", "br", "code", "details", "div", "i", "p", "path", "pre", "rect", "span", "style", "summary", "svg",
    "table", "tbody", "td", "text", "th", "thead", "title", "tr", "tspan",
}  # fmt: skip
#: Attributes that show something, and load nothing.
HARMLESS_ATTRIBUTES = {
    "aria-label", "class", "d", "dx", "font-size", "height", "open", "role", "scope", "text-anchor",
    "title", "viewbox", "width", "x", "y",
}  # fmt: skip


class Read(HTMLParser):
    """What a page holds: its elements in their order, its attributes, its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.said = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, "an element has no end"

    @property
    def names(self) -> set[str]:
        """The names of its attributes."""
        return {name for name, _ in self.attributes}

    @property
    def values(self) -> list[str | None]:
        return [value for _, value in self.attributes]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.said += data

    def handle_comment(self, data: str) -> None:
        self.elements.append("comment")


def read_harmless(text: str) -> Read:
    """Read HTML that shows something and does nothing."""
    read = Read(text)
    assert set(read.elements) <= HARMLESS
    assert read.names <= HARMLESS_ATTRIBUTES
    assert text.count("<style>") == text.count("</style>") == 1
    assert "url(" not in text
    assert "@import" not in text
    text.encode()
    assert all(each.isprintable() or each in "\n\t\xa0\u202f" for each in text)
    return read
