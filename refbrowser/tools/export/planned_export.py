"""An export as a value: what it costs, carrying it out, and having other software read what was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from refbrowser.api import Progress, control_of
from refbrowser.engine.compute import Compute
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import RefbrowserError, native_errors

if TYPE_CHECKING:
    from refbrowser.exporting.check import CheckReport
    from refbrowser.exporting.request import ExportEstimate, ExportReport, ExportRequest


def _no(error: RefbrowserError) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class PlannedExport:
    """An export that is not made yet, or was made by `write`.

    Attributes
    ----------
    dataset
        The source; it is left open.
    request
        What is written, where, and how.
    compute
        Who does the work.
    """

    dataset: Dataset
    request: ExportRequest
    compute: Compute

    def refusing_stale(self) -> PlannedExport:
        """Return the same of a source that reads no stale file, whatever this one does."""
        from refbrowser.engine.locking import refusing_stale

        return replace(self, dataset=refusing_stale(self.dataset))

    @native_errors()
    def estimate(self, progress: Progress | None = None) -> ExportEstimate:
        """Return what it costs, and what the target cannot hold; no data is read, nothing is written.

        Raises
        ------
        RefbrowserError
            It cannot be made.
        """
        from refbrowser.exporting.exporter import estimate_export

        return estimate_export(self.dataset, self.request, control_of(progress), self.compute)

    @native_errors()
    def write(
        self,
        progress: Progress | None = None,
        *,
        question: Callable[[RefbrowserError], bool] = _no,
        told: Callable[[ExportEstimate], None] | None = None,
    ) -> ExportReport:
        """Carry it out, and verify what was written.

        Parameters
        ----------
        progress
            As `export` has it.
        question
            Asked, with the error that a no becomes, above a size that needs a question.
        told
            Called with the estimate before anything is written.

        Raises
        ------
        RefbrowserError
            As `export` does.
        """
        from refbrowser.exporting.exporter import run_export

        control = control_of(progress)
        return run_export(self.dataset, self.request, control, question, told, self.compute)

    @native_errors()
    def check(self, progress: Progress | None = None) -> CheckReport:
        """Read what was written with other software, and compare it with the source.

        Returns
        -------
        CheckReport
            `is_equal`, `programs`, and `items`: what was compared, and how it differs.

        Raises
        ------
        RefbrowserError
            The target is not there, or of a format that no other software reads; the source cannot be read.
        """
        from refbrowser.exporting.check import check_export

        return check_export(self.dataset, self.request, control_of(progress))
