"""What an audit knows of the chunks of one array: a value to colour a chunk map by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from refbrowser.engine.audit.audit_result import AuditResult

#: Codes that are told apart on one map.
CODES_MOST = 100


@dataclass(frozen=True, slots=True, eq=False)
class ChunkAudit:
    """What is known of the chunks of an array.

    Attributes
    ----------
    codes
        Of its findings, what should be missed least last: warnings before faults.
    faults
        How many of them, at the end, are faults.
    coords, code
        Chunks that findings are about, shape (n, ndim), and for each its position in `codes`.
    read
        Chunks that were read, as numbers in C order of the grid.
    states
        Of files that were asked about: the code of what is worst, empty where nothing is.
    result
        What it was made of.
    """

    codes: tuple[str, ...] = ()
    faults: int = 0
    coords: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    code: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    read: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    states: Mapping[str, str] = field(default_factory=dict)
    result: AuditResult | None = None

    @classmethod
    def of(cls, result: AuditResult | None, path: str) -> ChunkAudit:
        """Return what a result tells of an array."""
        if result is None:
            return cls()
        parts = result.read.get(path)
        read = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        marks = result.array_marks(path)
        if marks is None:
            return cls(read=read, states=result.states, result=result)
        severe = {group.code for group in result.groups if group.is_fault}
        # The worst stand first there, and last here: later numbers are seen where chunks share a pixel.
        codes = marks.codes[:CODES_MOST][::-1]
        kept = marks.code < len(codes)
        numbers = (len(codes) - 1 - marks.code[kept].astype(np.int64)).astype(np.uint8)
        order = np.argsort(numbers, kind="stable")
        faults = sum(1 for code in codes if code in severe)
        return cls(codes, faults, marks.coords[kept][order], numbers[order], read, result.states, result)

    def title(self, number: int) -> str:
        """Return what a code means, in a few words."""
        groups = () if self.result is None else self.result.groups
        code = self.codes[number]
        # Findings bring their kinds, which may be of a format alone.
        return next((group.kind.title for group in groups if group.code == code), code)

    def is_fault(self, number: int) -> bool:
        """Tell whether a code is that of a fault."""
        return number >= len(self.codes) - self.faults
