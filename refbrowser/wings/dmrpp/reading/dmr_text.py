"""The XML of a DMR++ as elements; chunks, of which there may be millions, as columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, quoted
from refbrowser.formats.xml_elements import Element, XmlReader

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
class DmrElement(Element):
    """One element of a DMR++; the names of those of DMR++ begin with ``dmrpp:``.

    Attributes
    ----------
    chunks
        What its children ``dmrpp:chunk`` say.
    """

    chunks: ChunkColumns | None = None


def read_dmr(portions: Iterable[bytes], document: str) -> DmrElement:
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
    reader = _Reader(document)
    root = reader.read(portions)
    if root.name != "Dataset" or not isinstance(root, DmrElement):
        reader.fail(ErrorKind.FORMAT, "its root is no Dataset of DAP4")
    return root


class _Reader(XmlReader):
    """Reads a DMR++: chunks become columns of the element above, not elements."""

    prefixes = dict.fromkeys(DMRPP, _OURS)

    def element(self, name: str, attributes: dict[str, str], line: int, above: Element | None) -> Element:
        made = DmrElement(name, attributes, line)
        if name != "dmrpp:chunk" or not isinstance(above, DmrElement):
            if above is not None:
                above.children.append(made)
            return made
        above.chunks = above.chunks or ChunkColumns()
        try:
            above.chunks.add(attributes)
        except (KeyError, ValueError, OverflowError):
            self.fail(ErrorKind.FORMAT, f"a chunk cannot be read: {quoted(attributes)}")
        return made
