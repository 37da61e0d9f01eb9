"""Which of some rows a term of a query means, by columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.views.reference_queries.reference_query import (
    Asked,
    Field,
    FromTerm,
    KindTerm,
    NumberTerm,
    StateTerm,
    TextTerm,
)

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RowsAsked:
    """Rows of one origin.

    Attributes
    ----------
    columns
        What they refer to.
    read_keys
        Returns their keys; None for one that cannot be made. Called only where a key is asked for.
    origin
        The number of the gen rule, -1: ``refs``.
    changed, replaced
        Return which of them differ from the saved state, and which have a key that comes again later.
    """

    columns: ReferenceColumns
    read_keys: Callable[[], Sequence[str | None]]
    origin: int
    changed: Callable[[], Bools]
    replaced: Callable[[], Bools]


@dataclass(frozen=True)
class TermMatcher:
    """Tells of rows whether they are what one term asks for; of a URL it is found out once."""

    asked: Asked
    _urls: dict[str, bool] = field(default_factory=dict)

    def matches(self, rows: RowsAsked) -> Bools:
        """Return which rows are meant, shape (n,)."""
        asked = self.asked
        if isinstance(asked, TextTerm):
            is_url = asked.field is Field.URL
            return self._of_urls(asked, rows.columns) if is_url else asked.which(rows.read_keys())
        if isinstance(asked, NumberTerm):
            return self._of_numbers(asked, rows.columns)
        if isinstance(asked, KindTerm):
            return rows.columns.kind == asked.kind
        if isinstance(asked, FromTerm):
            return np.full(len(rows.columns), is_from(asked, rows.origin))
        assert isinstance(asked, StateTerm)
        return rows.changed() if asked.state == "changed" else rows.replaced()

    def is_meant(self, text: str) -> bool:
        """Tell of one key or URL."""
        assert isinstance(self.asked, TextTerm)
        return bool(self.asked.which([text])[0])

    def _of_urls(self, asked: TextTerm, columns: ReferenceColumns) -> Bools:
        used, place = np.unique(columns.url, return_inverse=True)
        texts = [columns.urls[number] if number >= 0 else None for number in used.tolist()]
        new = [text for text in dict.fromkeys(texts) if text is not None and text not in self._urls]
        self._urls.update(zip(new, asked.which(new).tolist(), strict=True))
        of_used = np.array([text is not None and self._urls[text] for text in texts], bool)
        return of_used[place]

    @staticmethod
    def _of_numbers(asked: NumberTerm, columns: ReferenceColumns) -> Bools:
        if asked.field is Field.OFFSET:
            numbers, known = columns.offset, columns.kind == ReferenceKind.RANGE
        else:
            numbers = columns.length.copy()
            for at in np.flatnonzero((columns.kind == ReferenceKind.INLINE) & (numbers < 0)).tolist():
                numbers[at] = len(columns.inline[at])
            known = numbers >= 0
        return known & (numbers >= asked.low) & (numbers <= asked.high)


def is_from(asked: FromTerm, origin: int) -> bool:
    """Tell whether rows of an origin are meant: the number of a gen rule, or -1 for ``refs``."""
    return origin >= 0 if asked.rule is None else origin == asked.rule
