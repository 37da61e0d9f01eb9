"""A corpus of small stores for those who judge readers: each codec, type and grid in one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from reader_corpus.small_store import NAME


@dataclass(frozen=True)
class Store:
    """One store.

    Attributes
    ----------
    name
        What it has: the format, and what is special.
    write
        Writes it into a folder, which is there and empty, and returns the path that is opened.
    values
        What its array `array` holds; None where nothing is compared: nobody reads it.
    needs
        Modules without which it cannot be written.
    """

    name: str
    write: Callable[[Path], Path]
    values: Any
    array: str = f"/{NAME}"
    needs: tuple[str, ...] = ()

    def is_written_here(self) -> bool:
        """Whether all that writes it is installed."""
        return all(find_spec(each) is not None for each in self.needs)


def all_stores() -> Iterator[Store]:
    """Yield every store of the corpus."""
    from reader_corpus.document_stores import document_stores
    from reader_corpus.icechunk_stores import icechunk_stores
    from reader_corpus.v2_stores import v2_stores
    from reader_corpus.v3_stores import v3_stores

    yield from v2_stores()
    yield from v3_stores()
    yield from document_stores()
    yield from icechunk_stores()


def write_store(store: Store, folder: Path) -> Path:
    """Write a store below a folder, and return the path that is opened."""
    place = folder / re.sub(r"\W+", "-", store.name)
    place.mkdir()
    return store.write(place)


#: Two sides that chunks of (3, 4) do not meet.
NUMBERS = np.arange(70, dtype="<i4").reshape(7, 10) * 3 - 40
REALS = (np.arange(70, dtype="<f8").reshape(7, 10) * 0.25 - 4).astype("<f4")
SIDES = (3, 4)
