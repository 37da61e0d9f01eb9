"""What a file without references leads on to: the files that it names, and what is to become of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

#: What the names of NcML end with.
NCML = ".ncml"


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A file, store or description that is named.

    Attributes
    ----------
    url
        An absolute path or URL; patterns select several.
    name
        What it is called there.
    kind
        What it is said to be.
    rank
        How well it can be opened: 0 is nothing that can be, the most is what is opened best.
    """

    url: str
    name: str = ""
    kind: str = ""
    rank: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """The files that one names.

    Attributes
    ----------
    is_one
        They are parts of one dataset.
    concat, new_dims, merge
        How they are put together, as `refbrowser make` has it.
    attributes
        Array, name and value of attributes that are to be set; ``/`` is the whole dataset.
    unsaid
        What else is said, and not followed.
    why
        Why it is not opened as one dataset by itself; empty where that was not tried.
    """

    sources: tuple[NamedSource, ...] = ()
    is_one: bool = False
    concat: tuple[str, ...] = ()
    new_dims: tuple[str, ...] = ()
    merge: bool = False
    attributes: tuple[tuple[str, str, Any], ...] = ()
    unsaid: tuple[str, ...] = ()
    why: str = ""

    @property
    def best(self) -> NamedSource | None:
        """What opens best of what is named; None where nothing can be opened."""
        most = max(self.sources, key=lambda each: each.rank, default=None)
        return None if most is None or not most.rank else most

    def lines(self) -> Iterator[str]:
        """Yield what is named, a line each, in columns."""
        columns = [[each.name, each.kind, each.url] for each in self.sources]
        widths = [max((len(row[at]) for row in columns), default=0) for at in range(2)]
        for name, kind, url in columns:
            fields = [text.ljust(width) for text, width in zip((name, kind), widths, strict=True) if width]
            yield "  ".join((*fields, url))


def is_led(sources: Sequence[str]) -> bool:
    """Return whether an NcML is all that is named, by its name: it says itself what is put together."""
    return len(sources) == 1 and sources[0].partition("?")[0].lower().endswith(NCML)
