"""XML as elements. Nothing but elements, attributes and text is understood.

A text that declares a type or an entity is refused: nothing is expanded, and nothing else is ever read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NoReturn
from xml.parsers import expat

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.limits import LIMITS

#: Bytes that are parsed at a time.
_PORTION = 1 << 20


@dataclass(eq=False, slots=True)
class Element:
    """One element: its name, attributes, children and text.

    Attributes
    ----------
    line
        Where it begins, from 1.
    """

    name: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its text, without that of its children."""
        return "".join(self.texts)

    def named(self, *names: str) -> Iterator[Element]:
        """Yield the children of some names."""
        return (each for each in self.children if each.name in names)

    def first(self, name: str) -> Element | None:
        """Return the first child of a name; None where there is none."""
        return next(self.named(name), None)


class XmlReader:
    """Reads one text.

    Parameters
    ----------
    document
        For messages.
    most
        Elements at most; the limit of descriptions of data when None.

    Attributes
    ----------
    prefixes
        What stands before the names that are of a namespace; those of others stand alone.
    """

    prefixes: ClassVar[Mapping[str, str]] = {}

    def __init__(self, document: str, most: int | None = None) -> None:
        self._document = document
        self._most = LIMITS.xml_elements if most is None else most
        self._open: list[Element] = []
        self._root: Element | None = None
        self._count = self._size = 0
        self._parser = expat.ParserCreate(namespace_separator="\n")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._refuse

    def read(self, portions: Iterable[bytes]) -> Element:
        """Return the root.

        Parameters
        ----------
        portions
            The text, in parts.

        Raises
        ------
        RefbrowserError
            `FORMAT`: it is no XML; `UNSAFE`: it declares entities; `BUDGET`: there is too much.
        """
        try:
            for portion in portions:
                for start in range(0, len(portion), _PORTION):
                    self._take(portion[start : start + _PORTION])
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            self.fail(ErrorKind.FORMAT, f"it is no XML: {expat.ErrorString(error.code)}")
        assert self._root is not None
        return self._root

    def _take(self, portion: bytes) -> None:
        self._size += len(portion)
        if self._size > LIMITS.xml_size:
            self.fail(ErrorKind.BUDGET, f"the text has more than {LIMITS.xml_size} bytes")
        self._parser.Parse(portion, False)
        # Attributes of one element are kept until it is whole, however many they are.
        if self._size - self._parser.CurrentByteIndex > LIMITS.xml_tag:
            self.fail(ErrorKind.BUDGET, f"an element begins with more than {LIMITS.xml_tag} bytes (xml_tag)")

    def element(self, name: str, attributes: dict[str, str], line: int, above: Element | None) -> Element:
        """Return an element that begins; it is kept below `above` where it is added to its children."""
        made = Element(name, attributes, line)
        if above is not None:
            above.children.append(made)
        return made

    def fail(self, kind: ErrorKind, message: str) -> NoReturn:
        """Raise what is wrong where the text is read."""
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        place = Place(document=self._document, line=line, column=column)
        raise RefbrowserError(kind, message, place)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > self._most:
            self.fail(ErrorKind.BUDGET, f"the text has more than {self._most} elements")
        if len(self._open) >= LIMITS.group_nesting:
            self.fail(ErrorKind.BUDGET, f"elements are nested more than {LIMITS.group_nesting} levels deep")
        above = self._open[-1] if self._open else None
        said = {self._plain(key): value for key, value in attributes.items()}
        made = self.element(self._plain(name), said, self._parser.CurrentLineNumber, above)
        if above is None:
            self._root = made
        self._open.append(made)

    def _end(self, name: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        self._open[-1].texts.append(text)

    def _refuse(self, *_declared: object) -> None:
        self.fail(ErrorKind.UNSAFE, "it declares a document type: entities are never expanded")

    def _plain(self, name: str) -> str:
        space, _, local = name.rpartition("\n")
        return f"{self.prefixes.get(space, '')}{local}"
