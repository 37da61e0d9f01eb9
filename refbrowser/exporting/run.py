"""Exports of every format by one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.folder import partial_of, remove_leftover
from refbrowser.exporting.journal import fingerprint_of
from refbrowser.exporting.request import (
    ExportEstimate,
    ExportReport,
    ExportRequest,
    Leftover,
    Loss,
)
from refbrowser.formats.registry import Written, form_named
from refbrowser.io.archives.known import Confirm
from refbrowser.references.checks.lacking import lacking

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
    form, control = form_named(request.format), control or JobControl()
    left_out = _left_out(dataset, request, form)
    export = _export(dataset, request, form)
    if told is not None:
        told(_estimated(export, request, form, left_out, control))
    report: ExportReport = export.run(control, question)
    if not form.resumes:
        # What can be gone on with is made where it lies: nothing is left of it there.
        remove_leftover(request.target)
    known = {(error.message, error.place.pointer) for error in left_out}
    skipped = (error for error in report.skipped if (error.message, error.place.pointer) not in known)
    return replace(report, skipped=(*left_out, *skipped))


def estimate_export(
    dataset: Dataset, request: ExportRequest, control: JobControl | None = None
) -> ExportEstimate:
    """Return what an export will cost, and what its target cannot hold; no data is read.

    Raises
    ------
    RefbrowserError
        It cannot be made.
    """
    form = form_named(request.format)
    left_out = _left_out(dataset, request, form)
    return _estimated(_export(dataset, request, form), request, form, left_out, control or JobControl())


def _left_out(dataset: Dataset, request: ExportRequest, form: Written) -> list[RefbrowserError]:
    """Return what the document lacks whatever its entries and rows are, where all of it is written.

    What a damaged stream or archive has lost is among the losses of each export.

    Raises
    ------
    RefbrowserError
        It lacks something, and `skip_bad` is not set.
    """
    is_whole = request.arrays is None or _kind(form).is_document
    if not is_whole or dataset.document.derived is not None:
        return []
    found = [finding.error() for finding in lacking(dataset.document)]
    if found and not request.skip_bad:
        raise found[0]
    return found


def _estimated(
    export: Any,
    request: ExportRequest,
    form: Written,
    left_out: list[RefbrowserError],
    control: JobControl,
) -> ExportEstimate:
    estimate = export.estimate(control.token)
    losses = (Loss("/", f"left out: {error.message}") for error in left_out)
    if form.resumes:
        leftover = export.leftover
    else:
        leftover = Leftover.OTHER if fingerprint_of(partial_of(request.target)) else Leftover.NONE
    return replace(estimate, losses=(*estimate.losses, *losses), leftover=leftover)


def _kind(form: Written) -> Any:
    return resolve_name(form.exporter)


def _export(dataset: Dataset, request: ExportRequest, form: Written) -> Any:
    kind = _kind(form)
    if not kind.is_document:
        # What is written is confirmed before, whatever the size.
        dataset = dataset.with_access(dataset.access.confirming(Confirm.ALWAYS))
    return kind(dataset, request)
