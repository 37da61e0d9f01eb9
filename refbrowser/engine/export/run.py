"""Exports of every format by one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from refbrowser.engine.export.request import (
    AWKWARD_FORMAT,
    FORMATS,
    REFERENCE_FORMATS,
    STREAM_FORMAT,
    ExportEstimate,
    ExportReport,
    ExportRequest,
)
from refbrowser.engine.export.table_options import TABLE_FORMATS
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.zip_archives import Confirm

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


def _no(error: RefbrowserError) -> bool:
    return False


def run_export(
    dataset: Dataset,
    request: ExportRequest,
    control: JobControl | None = None,
    question: Callable[[RefbrowserError], bool] = _no,
    told: Callable[[ExportEstimate], None] | None = None,
) -> ExportReport:
    """Carry out an export.

    Parameters
    ----------
    control
        Cancels, and is told the progress in chunks.
    question
        Asked, with the error that a no becomes, above a size that needs a question.
    told
        Called with the estimate before anything is written.

    Raises
    ------
    RefbrowserError
        It cannot be made; `E_USAGE` for a format that is not known.
    Cancelled
        The control's token was cancelled; a Zarr store can be gone on with.
    """
    export, control = _export(dataset, request), control or JobControl()
    if told is not None:
        told(export.estimate(control.token))
    report: ExportReport = export.run(control, question)
    return report


def estimate_export(
    dataset: Dataset, request: ExportRequest, control: JobControl | None = None
) -> ExportEstimate:
    """Return what an export will cost, and what its target cannot hold; no data is read.

    Raises
    ------
    RefbrowserError
        It cannot be made.
    """
    return _export(dataset, request).estimate((control or JobControl()).token)


def _export(dataset: Dataset, request: ExportRequest) -> Any:
    if request.format not in FORMATS:
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"{quoted(request.format)} is not a format that can be written",
            advice=f"known: {', '.join(FORMATS)}",
        )
    if request.format in REFERENCE_FORMATS:
        from refbrowser.engine.export.references import ReferencesExport

        return ReferencesExport(dataset, request)
    # What is written is confirmed before, whatever the size.
    dataset = dataset.with_access(dataset.access.confirming(Confirm.ALWAYS))
    if request.format == STREAM_FORMAT:
        from refbrowser.engine.export.ncstream.export import StreamExport

        return StreamExport(dataset, request)
    if request.format == AWKWARD_FORMAT:
        from refbrowser.engine.export.awkward0.export import Awkward0Export

        return Awkward0Export(dataset, request)
    if request.format in TABLE_FORMATS:
        from refbrowser.engine.export.tables.export import TableExport

        return TableExport(dataset, request)
    from refbrowser.engine.export.store import StoreExport

    return StoreExport(dataset, request)
