"""Write a dataset in another format, whole or some arrays of it, and verify it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from refbrowser.cli.awkward0_options import add_awkward0_options, awkward0_options
from refbrowser.cli.check_report import check_as_json, write_check
from refbrowser.cli.console import (
    ProgressBar,
    plain,
    size_text,
    tell,
    tell_damage,
    tell_findings,
    tell_warning,
    write_json,
    write_line,
)
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_skip_bad,
    add_templates,
    add_yes,
    ask,
    job_control,
    listed,
    open_dataset,
)
from refbrowser.cli.store_options import add_store_options, store_options
from refbrowser.cli.stream_options import add_stream_options, stream_options
from refbrowser.cli.table_options import add_table_options, table_options
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.registry import written
from refbrowser.io.cancel import Cancelled, CancelToken

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.check import CheckReport
    from refbrowser.exporting.request import ArrayChoice, ExportEstimate, ExportReport, ExportRequest


#: Exit code where other software reads something else.
DIFFERENT = 2


class _Choice(argparse.Action):
    """Gathers ``--array`` and ``--select``, which belongs to the array before it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take one option."""
        chosen = list(namespace.arrays or [])
        if option_string == "--array":
            chosen.append((values, ""))
        elif not chosen or chosen[-1][1]:
            parser.error("--select belongs after the --array of which it takes a part")
        else:
            chosen[-1] = (chosen[-1][0], values)
        namespace.arrays = chosen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="PATH", help="what to open")
    parser.add_argument("target", metavar="TARGET", help="the file or folder to be made")
    parser.add_argument(
        "--to",
        required=True,
        metavar="FORMAT",
        dest="format",
        help=listed(written()),
    )
    parser.add_argument(
        "--array", action=_Choice, dest="arrays", metavar="A", help="write this array only (repeatable)"
    )
    parser.add_argument(
        "--select",
        action=_Choice,
        dest="arrays",
        metavar="TEXT",
        help="of the --array before it, for example 0,:,10:20",
    )
    parser.add_argument("--force", action="store_true", help="replace the target")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted export")
    parser.add_argument(
        "--estimate", action="store_true", help="say what it would cost and not keep, and write nothing"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="then read the target with other software (zarr-python, netCDF4, siphon) and compare",
    )
    add_store_options(parser)
    add_stream_options(parser)
    add_awkward0_options(parser)
    add_table_options(parser)
    add_json(parser)
    add_reading(parser)
    add_skip_bad(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Carry out the export and report."""
    from refbrowser.engine.damage import damage_of
    from refbrowser.exporting.request import ExportRequest

    options, stream = store_options(arguments), stream_options(arguments)
    tables, awkward0 = table_options(arguments), awkward0_options(arguments)
    with open_dataset(arguments, token) as dataset:
        request = ExportRequest(
            arguments.target,
            arguments.format,
            _chosen(dataset, arguments.arrays),
            force=arguments.force,
            resume=arguments.resume,
            skip_bad=arguments.skip_bad,
            options=options,
            stream=stream,
            tables=tables,
            awkward0=awkward0,
        )
        if arguments.json or arguments.estimate:
            # Without them it is told with all else that cannot be kept.
            tell_damage(damage_of(dataset, request.paths))
        if arguments.estimate:
            return _estimate(dataset, request, arguments, token)
        report = _export(dataset, request, arguments, token)
        checked = _check(dataset, request, token) if arguments.check else None
        tell_findings(dataset.access.memory.warnings)
    for error in report.skipped:
        tell_warning(error)
    if arguments.json:
        write_json(_as_json(report) | ({} if checked is None else {"check": check_as_json(checked)}))
    else:
        _write_text(report)
        if checked is not None:
            write_check(checked)
    return 0 if checked is None or checked.is_equal else DIFFERENT


def _export(
    dataset: Dataset, request: ExportRequest, arguments: argparse.Namespace, token: CancelToken
) -> ExportReport:
    from refbrowser.exporting.layout import STORE_FORMATS
    from refbrowser.exporting.run import run_export

    try:
        with ProgressBar("exporting") as bar:
            return run_export(
                dataset,
                request,
                job_control(token, bar),
                lambda error: ask(arguments, error),
                # Programs find it in the report.
                None if arguments.json else _tell_before,
            )
    except Cancelled:
        if request.format in STORE_FORMATS:
            tell("refbrowser: interrupted; --resume goes on from here")
        raise


def _check(dataset: Dataset, request: ExportRequest, token: CancelToken) -> CheckReport:
    from refbrowser.exporting.check import check_export

    with ProgressBar("checking") as bar:
        return check_export(dataset, request, job_control(token, bar))


def _estimate(
    dataset: Dataset, request: ExportRequest, arguments: argparse.Namespace, token: CancelToken
) -> int:
    from refbrowser.exporting.request import units_of
    from refbrowser.exporting.run import estimate_export

    with ProgressBar("estimating") as bar:
        estimate = estimate_export(dataset, request, job_control(token, bar))
    if arguments.json:
        shape = asdict(estimate)
        shape["losses"] = [{"path": loss.path, "what": loss.what} for loss in estimate.losses]
        write_json(shape)
        return 0
    units = units_of(request.format)
    write_line(
        f"{estimate.chunks} {units}, {estimate.missing} missing; to read {size_text(estimate.source_bytes)}, "
        f"to write {size_text(estimate.target_bytes)} at most"
    )
    for line in (*_ways(estimate), *(f"not kept: {plain(loss)}" for loss in estimate.losses)):
        write_line(line)
    return 0


def _tell_before(estimate: ExportEstimate) -> None:
    """Say what cannot be kept before it starts."""
    for line in (*_ways(estimate), *(f"not kept: {plain(loss)}" for loss in estimate.losses)):
        tell(f"refbrowser: {line}")


#: What becomes of what an interrupted export left at the target, where it cannot go on.
_LEFTOVERS = {"other": "what another export left here when it was interrupted is removed"}


def _ways(estimate: ExportEstimate) -> list[str]:
    """Return what becomes of an interrupted export, and how chunks that lie across others are made."""
    lines = [_LEFTOVERS[estimate.leftover]] if estimate.leftover in _LEFTOVERS else []
    if estimate.spool_bytes:
        lines.append(f"an intermediate store of {size_text(estimate.spool_bytes)} is made beside the target")
    if estimate.reads > 1.05:
        lines.append(f"chunks are read {estimate.reads:.1f} times on average")
    return lines


def _chosen(dataset: Dataset, arrays: list[tuple[str, str]] | None) -> tuple[ArrayChoice, ...] | None:
    from refbrowser.exporting.request import ArrayChoice

    if arrays is None:
        return None
    chosen = tuple(ArrayChoice.of(dataset, path, select) for path, select in arrays)
    paths = [choice.path for choice in chosen]
    if len(set(paths)) < len(paths):
        raise RefbrowserError(ErrorKind.USAGE, "an array is named twice")
    return chosen


def _as_json(report: ExportReport) -> dict[str, Any]:
    shape = asdict(report)
    shape["skipped"] = [
        {"kind": str(error.kind), "message": error.message, "key": error.place.key, "path": error.place.path}
        for error in report.skipped
    ]
    shape["losses"] = [{"path": loss.path, "what": loss.what} for loss in report.losses]
    return shape


def _write_text(report: ExportReport) -> None:
    from refbrowser.exporting.request import units_of

    units = units_of(report.format)
    resumed = f", {report.resumed} of them there before" if report.resumed else ""
    write_line(
        f"{plain(report.target)}: {report.arrays} arrays, {report.chunks} {units}{resumed}, "
        f"{report.copied} copied undecoded, {report.missing} missing, {report.verified} verified; "
        f"read {size_text(report.read_bytes)}, written {size_text(report.written_bytes)}"
    )
    for loss in report.losses:
        write_line(f"not kept: {plain(loss)}")
