"""Which functions a user allows beside those that are always built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted


@dataclass(frozen=True, slots=True)
class AllowList:
    """Patterns of functions (serialization text, "Whitelist specification").

    They open further entries of the table in `functions`, and nothing else: no name is ever looked up.

    Attributes
    ----------
    patterns
        Each compared part by part, by the rules of fnmatch, as far as it goes: ``("*",)`` allows all.
    """

    patterns: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, value: Any) -> AllowList:
        """Return the list that a text, a pattern (a list of texts) or a list of patterns is.

        A single text is promoted to a pattern of one part, a single pattern to a list of patterns.

        Raises
        ------
        RefbrowserError
            E_USAGE: it is none of these.
        """
        if isinstance(value, str):
            return cls(((value,),))
        items: list[Any] = list(value) if isinstance(value, Sequence) else [None]
        if items and all(isinstance(each, str) for each in items):
            return cls((tuple(items),))
        patterns = [AllowList.of(each).patterns for each in items if isinstance(each, Sequence)]
        if len(patterns) != len(items) or any(len(each) != 1 for each in patterns):
            raise RefbrowserError(ErrorKind.USAGE, f"{quoted(value)} is no list of functions")
        return cls(tuple(each[0] for each in patterns))

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> AllowList:
        """Return the list of single texts, as a command line gives them: ``bz2.decompress``, ``zst*``."""
        return cls(tuple((text,) for text in texts))

    def allows(self, specification: Sequence[str]) -> bool:
        """Tell whether a pattern fits a function: one of a single part fits its module or its whole name."""
        return any(self._fits(pattern, specification) for pattern in self.patterns)

    @staticmethod
    def _fits(pattern: tuple[str, ...], specification: Sequence[str]) -> bool:
        if len(pattern) == 1 and fnmatchcase(".".join(specification), pattern[0]):
            return True
        return 0 < len(pattern) <= len(specification) and all(
            fnmatchcase(part, each) for part, each in zip(specification, pattern, strict=False)
        )
