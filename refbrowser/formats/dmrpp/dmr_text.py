"""The XML of a DMR++ as elements; chunks, of which there may be millions, as columns.

Nothing but elements, attributes and text is understood: a text that declares a type or an entity is refused,
so that nothing is expanded and nothing else is ever read.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS

#: Namespaces: of the description, and of where its data are (DMR++ 1.0.0, and that of its later schema).
DAP = "http://xml.opendap.org/ns/DAP/4.0#"
DMRPP = ("http://xml.opendap.org/dap/dmrpp/1.0.0#", "http://opendap.org/ns/dmrpp/1.0#")
#: Before the names of elements and attributes that are of DMR++.
_OURS = "dmrpp:"
_BREAKS = str.maketrans("[],", "   ")


@dataclass(eq=False, slots=True)
class ChunkColumns:
    """The chunks of one array, as their elements say it.

    Attributes
    ----------
    places
        Positions of the first elements in the array, one number after another.
    named
        URLs that chunks have of their own, with the number of each in `urls`; -1 of the others.
    masks
        Filters that were left out, a bit for each.
    has_links
        Whether a chunk is only one of several blocks.
    """

    offsets: array[int] = field(default_factory=lambda: array("q"))
    sizes: array[int] = field(default_factory=lambda: array("q"))
    places: array[int] = field(default_factory=lambda: array("q"))
    urls: array[int] = field(default_factory=lambda: array("i"))
    named: dict[str, int] = field(default_factory=dict)
    masks: set[int] = field(default_factory=set)
    has_links: bool = False

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, said: dict[str, str]) -> None:
        """Take the attributes of one chunk; raises ValueError where they are none of one."""
        offset, size = int(said["offset"]), int(said["nBytes"])
        if offset < 0 or size < 0:
            raise ValueError("a range before the file")
        places = [int(each) for each in said.get("chunkPositionInArray", "").translate(_BREAKS).split()]
        self.offsets.append(offset)
        self.sizes.append(size)
        self.places.extend(places)
        url = said.get("href")
        self.urls.append(-1 if url is None else self.named.setdefault(url, len(self.named)))
        if mask := int(said.get("fm", "0")):
            self.masks.add(mask)
        self.has_links |= "LinkedBlockIndex" in said

    def positions(self, ndim: int) -> npt.NDArray[np.int64]:
        """Return the positions, shape (n, ndim); raises ValueError where others are said."""
        return np.frombuffer(self.places, np.int64).reshape(len(self), ndim)


@dataclass(eq=False, slots=True)
class Element:
    """One element: its name, attributes, children and text; those of DMR++ begin with ``dmrpp:``.

    Attributes
    ----------
    chunks
        What its children ``dmrpp:chunk`` say.
    line
        Where it begins, from 1.
    """

    name: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    chunks: ChunkColumns | None = None

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


def read_dmr(portions: Iterable[bytes], document: str) -> Element:
    """Return the root of a DMR++.

    Parameters
    ----------
    portions
        The text, in parts.
    document
        For messages.

    Raises
    ------
    RefbrowserError
        `FORMAT`: it is no XML, or no DMR++; `UNSAFE`: it declares entities; `BUDGET`: there is too much.
    """
    return _Reader(document).read(portions)


class _Reader:
    def __init__(self, document: str) -> None:
        self._document = document
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
        try:
            for portion in portions:
                self._size += len(portion)
                if self._size > LIMITS.xml_size:
                    self._fail(ErrorKind.BUDGET, f"the text has more than {LIMITS.xml_size} bytes")
                self._parser.Parse(portion, False)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            self._fail(ErrorKind.FORMAT, f"it is no XML: {expat.ErrorString(error.code)}")
        if self._root is None or self._root.name != "Dataset":
            self._fail(ErrorKind.FORMAT, "its root is no Dataset of DAP4")
        return self._root

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > LIMITS.xml_elements:
            self._fail(ErrorKind.BUDGET, f"the text has more than {LIMITS.xml_elements} elements")
        if len(self._open) >= LIMITS.group_nesting:
            self._fail(ErrorKind.BUDGET, f"elements are nested more than {LIMITS.group_nesting} levels deep")
        plain, above = _plain(name), self._open[-1] if self._open else None
        said = {_plain(key): value for key, value in attributes.items()}
        if plain == "dmrpp:chunk" and above is not None:
            above.chunks = above.chunks or ChunkColumns()
            try:
                above.chunks.add(said)
            except (KeyError, ValueError, OverflowError):
                self._fail(ErrorKind.FORMAT, f"a chunk cannot be read: {quoted(said)}")
        element = Element(plain, said, self._parser.CurrentLineNumber)
        if above is None:
            self._root = element
        elif plain != "dmrpp:chunk":
            above.children.append(element)
        self._open.append(element)

    def _end(self, name: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        self._open[-1].texts.append(text)

    def _refuse(self, *_declared: object) -> None:
        self._fail(ErrorKind.UNSAFE, "it declares a document type: entities are never expanded")

    def _fail(self, kind: ErrorKind, message: str) -> NoReturn:
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        place = Place(document=self._document, line=line, column=column)
        raise RefbrowserError(kind, message, place)


def _plain(name: str) -> str:
    """Return a name without its namespace, with the mark of those that are of DMR++."""
    space, _, local = name.rpartition("\n")
    return f"{_OURS}{local}" if space in DMRPP else local
