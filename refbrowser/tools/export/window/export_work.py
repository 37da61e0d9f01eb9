"""Exports as the window asks for them. Imported inside tasks: it loads the engine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.check import CheckReport
from refbrowser.exporting.request import ExportEstimate, ExportReport, Leftover
from refbrowser.formats.registry import form_named
from refbrowser.tools.export.planned_export import PlannedExport
from refbrowser.tools.export.public import plan_export
from refbrowser.views.compute_places import ComputeChoice
from refbrowser.words import count_text, counted_plain, counted_spaced, size_text

#: What is told of an export that was interrupted.
_LEFTOVERS = {
    Leftover.SAME: ["An export like this was interrupted here: it can continue."],
    Leftover.OTHER: [
        "A different export to this target was interrupted: Export asks before removing what it wrote."
    ],
}
#: Losses and left-out entries that are listed; the rest is counted.
LISTED = 200


@dataclass(frozen=True, slots=True)
class Order:
    """What the user asks for.

    Attributes
    ----------
    arrays
        Paths with the text of a selection; None for the whole dataset.
    options
        Those that something is said of, by name, in the words of the command line.
    compute
        Where it runs.
    allow_stale
        Files that are not those of the lock are read all the same.
    """

    target: str
    format: str
    arrays: list[tuple[str, str]] | None
    force: bool
    resume: bool
    skip_bad: bool
    options: Mapping[str, Any] = field(default_factory=dict)
    compute: ComputeChoice = field(default_factory=ComputeChoice)
    allow_stale: bool = False

    def planned(self, dataset: Dataset, control: TaskControl) -> PlannedExport:
        """Return the export that is asked for.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: no array is chosen, there is no target, or a selection does not fit.
        """
        if not self.target:
            raise RefbrowserError(ErrorKind.USAGE, "there is no target path")
        if self.arrays is not None and not self.arrays:
            raise RefbrowserError(ErrorKind.USAGE, "no array is ticked")
        return plan_export(
            dataset,
            self.target,
            format=self.format,
            arrays=None if self.arrays is None else dict(self.arrays),
            force=self.force,
            resume=self.resume,
            skip_bad=self.skip_bad,
            client=self.compute.compute(),
            progress=control,
            **self.options,
        )


@dataclass(frozen=True, slots=True)
class Cost:
    """What an export will cost, in chunks or what else its unit is, and the room there is."""

    estimate: ExportEstimate
    free: int | None
    unit: str = "chunk"

    def text(self) -> str:
        """Return it in words."""
        estimate = self.estimate
        chunks = counted_spaced(estimate.chunks, self.unit)
        missing = f" ({count_text(estimate.missing)} missing chunks stay missing)" if estimate.missing else ""
        lines = [
            f"{chunks}{missing}. Reads about {size_text(estimate.source_bytes)}, writes at most "
            f"{size_text(estimate.target_bytes)}."
            + ("" if self.free is None else f" Free there: {size_text(self.free)}.")
        ]
        lines += _LEFTOVERS.get(estimate.leftover, ())
        return "\n".join(lines + _losses(estimate.lost))


def cost_of(dataset: Dataset, order: Order, control: TaskControl) -> Cost:
    """Return what an order costs; no data is read.

    Raises
    ------
    RefbrowserError
        It cannot be made; `E_IO`: something is at the target and nothing was said about it.
    """
    planned = order.planned(dataset, control)
    request = planned.request
    form = form_named(request.format)
    is_meant = request.force or request.resume or request.keeps or form.adds
    if os.path.lexists(request.target) and not is_meant:
        raise RefbrowserError(
            ErrorKind.IO,
            "the target exists already",
            Place(path=request.target),
            "Choose another name, or tick the box that replaces or continues it",
        )
    return Cost(planned.estimate(control), _free_space(request.target), form.unit)


def carry_out(dataset: Dataset, order: Order, control: TaskControl) -> ExportReport:
    """Carry out an order; what is written bears no marks: stale files are read where it says so."""
    planned = order.planned(dataset, control)
    return (planned if order.allow_stale else planned.refusing_stale()).write(control)


def check_with_others(dataset: Dataset, order: Order, control: TaskControl) -> CheckReport:
    """Read what an order wrote with other software, and compare it with the source."""
    return order.planned(dataset, control).check(control)


def report_text(report: ExportReport) -> str:
    """Return what became of an export, in words."""
    arrays = counted_plain(report.arrays, "array")
    form = form_named(report.format)
    chunks = counted_spaced(report.chunks, form.unit, form.units)
    facts = [f"{count_text(report.copied)} copied undecoded"] if report.copied else []
    facts += [f"{count_text(report.resumed)} kept from before"] if report.resumed else []
    facts += [f"{count_text(report.missing)} missing in the source as well"] if report.missing else []
    more = f" ({', '.join(facts)})" if facts else ""
    lines = [
        f"Done: {arrays}, {chunks}{more} in {report.target}",
        f"{size_text(report.read_bytes)} read in {count_text(report.requests)} requests, "
        f"{size_text(report.written_bytes)} written, "
        f"{count_text(report.verified)} {form.units} read again and equal.",
    ]
    lines += _losses(report.lost)
    if report.skipped:
        lines.append(f"Left out, because it cannot be read ({len(report.skipped)}):")
        lines += [f"  {error}" for error in report.skipped[:LISTED]]
    return "\n".join(lines)


def _losses(lost: Sequence[str]) -> list[str]:
    if not lost:
        return ["Nothing is lost in this format."]
    lines = [f"Changed or left out in this format ({len(lost)}):", *(f"  {line}" for line in lost[:LISTED])]
    return [*lines, f"  and {len(lost) - LISTED} more"] if len(lost) > LISTED else lines


def _free_space(target: str) -> int | None:
    if "://" in target:
        return None
    for folder in Path(target).absolute().parents:
        if folder.is_dir():
            return shutil.disk_usage(folder).free
    return None
