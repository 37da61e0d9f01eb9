"""What shows itself at a prompt or in a notebook: datasets, and what came of some work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from refbrowser.errors import quoted
from refbrowser.loading import load

#: Lines of one kind that are shown.
SHOWN = 10
#: Characters of a line.
_WIDTH = 400


#: Where it is said how things show themselves; it stands above them, and is loaded once somebody looks.
_DISPLAY = "refbrowser.views.notebook.display"


class Displayed:
    """Something that views show: as HTML in notebooks, as text at prompts; nothing is read for that.

    Its `repr` may stand among others, in a list or a mapping; `str` is what it shows by itself.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(load(f"{_DISPLAY}:line_of")(self))

    def __str__(self) -> str:
        return str(load(f"{_DISPLAY}:text_of")(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # IPython's printer is within something else where it has entered more than this.
        is_alone = len(getattr(printer, "stack", ())) <= 1
        printer.text(str(self) if is_alone else repr(self))

    def _repr_html_(self) -> str:
        return str(load(f"{_DISPLAY}:html_of")(self))


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
        return str(load(f"{_DISPLAY}:html_of")(self))


def first_of(lines: Sequence[str]) -> Iterator[str]:
    """Yield the first of some lines, indented, and how many more there are."""
    for line in lines[:SHOWN]:
        yield f"  {line}"
    if len(lines) > SHOWN:
        yield f"  and {len(lines) - SHOWN} more"
