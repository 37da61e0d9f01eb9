"""What came of some work, shown in a few lines to whoever looks at it at a prompt or in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from refbrowser.errors import quoted

#: Lines of one kind that are shown.
SHOWN = 10
#: Characters of a line.
_WIDTH = 400


class Report:
    """Something whose `repr` is for a reader: `lines` says what it shows."""

    __slots__ = ()

    def lines(self) -> Iterable[str]:
        """Yield what is shown: a summary, then what it counts."""
        raise NotImplementedError

    def __repr__(self) -> str:
        # Names and texts of files act on no terminal.
        return "\n".join(quoted(line, _WIDTH)[1:-1] for line in self.lines())

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def first_of(lines: Sequence[str]) -> Iterator[str]:
    """Yield the first of some lines, indented, and how many more there are."""
    for line in lines[:SHOWN]:
        yield f"  {line}"
    if len(lines) > SHOWN:
        yield f"  and {len(lines) - SHOWN} more"
