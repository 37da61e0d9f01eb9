"""The URLs of a gen rule, one for each combination of dimensions that they depend on; no row is expanded."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.references.rules.text_columns import TextColumn

if TYPE_CHECKING:
    from refbrowser.references.rules.gen import GenRule


@dataclass(frozen=True, slots=True)
class RuleUrls:
    """The URLs of a rule; all combinations have the same number of rows.

    Attributes
    ----------
    rule
        Whose URLs they are.
    slots
        The dimensions that its URL depends on, by number.
    lengths
        Their lengths.
    """

    rule: GenRule
    slots: tuple[int, ...]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, rule: GenRule) -> RuleUrls | None:
        """Return the URLs of a rule; None where it has none."""
        columns = rule.columns
        if columns is None or not rule.count or "url" not in rule.fields:
            return None
        slots = tuple(sorted(columns.slots("url")))
        return cls(rule, slots, tuple(rule.space.lengths[slot] for slot in slots))

    @property
    def count(self) -> int:
        """How many there are; one that several combinations give counts as often."""
        return prod(self.lengths)

    def are_more_than(self, most: int) -> bool:
        """Tell whether there may be more than `most`."""
        columns = self.rule.columns
        return self.count > most or columns is None or columns.is_wide

    def positions(self, start: int, stop: int) -> tuple[npt.NDArray[np.int64], ...]:
        """Return where in each of their dimensions some URLs are, each of shape (stop - start,)."""
        if not self.slots:
            return ()
        found = np.unravel_index(np.arange(start, stop), self.lengths)
        return tuple(column.astype(np.int64) for column in found)

    def texts(self, start: int, stop: int) -> list[str | None]:
        """Return some of them; None for one that cannot be rendered."""
        assert self.rule.columns is not None
        at = dict(zip(self.slots, self.positions(start, stop), strict=True))
        zeros = np.zeros(stop - start, np.int64)
        positions = [at.get(slot, zeros) for slot in range(len(self.rule.space.dimensions))]
        found = self.rule.columns.column("url", positions, stop - start).values
        texts = found.texts if isinstance(found, TextColumn) else found
        return [each if isinstance(each, str) else None for each in texts]
