"""Write a dataset in another format, whole or some arrays of it, and verify it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict, replace
from textwrap import fill, indent
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import (
    ProgressBar,
    plain,
    tell,
    tell_damage,
    tell_findings,
    tell_warning,
    write_json,
    write_line,
)
from refbrowser.cli.locks import add_lock, lock_made
from refbrowser.cli.options import (
    SELECT,
    add_dask,
    add_json,
    add_options_of_forms,
    add_output,
    add_reading,
    add_request,
    add_skip_bad,
    add_templates,
    add_yes,
    ask,
    compute_of,
    find_array,
    job_control,
    open_dataset,
    options_of_form,
    request_of,
    said_of,
    selection_of,
    take_output,
)
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.option_fields import group_of, groups
from refbrowser.formats.option_fields import declared
from refbrowser.formats.registry import form_named, known_form, readers
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.loading import absent, is_there
from refbrowser.words import binary_size_text, counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.check import CheckReport
    from refbrowser.exporting.request import ArrayChoice, ExportEstimate, ExportReport, Loss
    from refbrowser.tools.export.planned_export import PlannedExport


def check_as_json(checked: CheckReport) -> dict[str, Any]:
    """Return the report as plain JSON values."""
    return {
        "equal": checked.is_equal,
        "programs": {program.name: program.version for program in checked.programs},
        "notes": list(checked.notes),
        "items": [
            {
                "program": item.program,
                "path": item.path,
                "what": item.what,
                "equal": item.is_equal,
                "expected": item.expected,
                "found": item.found,
                "scope": item.scope,
            }
            for item in checked.items
        ],
    }


def write_check(checked: CheckReport) -> None:
    """Write the report: what is equal in one line for each program, every difference by name."""
    for note in checked.notes:
        write_line(plain(note))
    for program in checked.programs:
        items = [item for item in checked.items if item.program == program.name]
        equal = [item for item in items if item.is_equal]
        arrays = {item.path for item in equal if item.what == "values"}
        write_line(
            f"{program.name} {program.version}: {len(equal)} of {len(items)} comparisons equal, "
            f"values of {len(arrays)} arrays"
        )
        for item in items:
            if not item.is_equal:
                write_line(
                    f"{program.name}: {plain(item.path)}: {item.what}: "
                    f"expected {plain(item.expected)}, found {plain(item.found)}"
                )
            elif item.scope != "whole":
                write_line(f"{program.name}: {plain(item.path)}: {item.what}: {plain(item.scope)}")


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
    from refbrowser.exporting.request import ExportRequest

    parser.add_argument("path", metavar="PATH", help="what to open")
    add_output(parser, "the file or folder to be made")
    add_request(parser, ExportRequest, "format")
    parser.add_argument(
        "--array", action=_Choice, dest="arrays", metavar="ARRAY", help="write this array only (repeatable)"
    )
    parser.add_argument(
        "--select",
        action=_Choice,
        dest="arrays",
        metavar="TEXT",
        help=f"of the --array before it {SELECT}",
    )
    add_request(parser, ExportRequest, "force", "resume")
    parser.add_argument(
        "--estimate", action="store_true", help="say what it would cost and not keep, and write nothing"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help=f"then read the target with other software ({', '.join(readers())}) and compare",
    )
    add_lock(parser)
    add_dask(parser)
    add_export_options(parser)
    add_json(parser)
    add_reading(parser)
    add_skip_bad(parser)
    add_templates(parser)
    add_yes(parser)


def add_export_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how a format is written, those of each group of options below a heading.

    Raises
    ------
    RefbrowserError
        Another package has an option whose name means something else here.
    """
    parser.set_defaults(shorten_help=_only_of_format, check_known=_check_is_there)
    add_options_of_forms(parser, groups())


def _check_is_there(arguments: argparse.Namespace) -> None:
    """Raise where the format that is asked for is of a wing that is missing: so are its options."""
    from refbrowser.exporting.request import ExportRequest

    form = known_form(said_of(arguments, declared(ExportRequest)["format"]) or "")
    for needed in () if form is None else (form.options, form.target):
        if not is_there(needed):
            raise absent(needed)


def _only_of_format(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Leave in the help the options of the format that was asked for, or name the others in one line each."""
    from refbrowser.exporting.request import ExportRequest

    name = said_of(arguments, declared(ExportRequest)["format"])
    own = None if name is None else group_of(form_named(name))
    kept = {} if own is None else {each.flag: each for each in declared(own).values()}
    known = {each.flag: each for group in groups() for each in declared(group).values()}
    for action in parser._actions:
        flag = next(iter(action.option_strings), "")
        if flag in kept:
            # Groups that share an option may say other things of it.
            action.help, action.metavar = kept[flag].words.replace("%", "%%"), kept[flag].metavar or None
        elif flag in known:
            action.help = argparse.SUPPRESS
    if name is None:
        lines = []
        for group in groups():
            flags = ", ".join(each.flag for each in declared(group).values())
            lines.append(f"  {group.heading}:\n{indent(fill(flags, 100, break_on_hyphens=False), '    ')}")
        others = "\n".join(lines)
        parser.epilog = (
            f"options of formats, explained by refbrowser export --to FORMAT --help:\n{others}\n\n"
            f"{parser.epilog or ''}"
        )


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Carry out the export and report."""
    from refbrowser.exporting.request import ExportRequest
    from refbrowser.formats.reference_forms import FORMS
    from refbrowser.tools.export.planned_export import PlannedExport

    take_output(arguments)
    asked = request_of(arguments, ExportRequest, target=arguments.target, skip_bad=arguments.skip_bad)
    asked = replace(
        asked, options=options_of_form(arguments, form_named(asked.format), groups(), arguments.target)
    )
    if asked.keeps and asked.force:
        message = "--force replaces the target, --append keeps it"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="choose one of them")
    compute = compute_of(arguments)
    if arguments.lock and (asked.format not in FORMS or arguments.estimate):
        raise RefbrowserError(ErrorKind.USAGE, "--lock is for references that are written")
    with open_dataset(arguments, token) as dataset:
        request = replace(asked, arrays=_chosen(dataset, arguments.arrays, token))
        planned = PlannedExport(dataset, request, compute)
        if arguments.json or arguments.estimate:
            # Without them it is told with all else that cannot be kept.
            tell_damage(dataset.damage if request.paths is None else dataset.damage_at(*request.paths))
        if arguments.estimate:
            return _estimate(planned, arguments, token)
        before = _Before()
        report = _export(planned, arguments, token, before)
        checked = _check(planned, token) if arguments.check else None
        tell_findings(dataset.access.memory.warnings)
    for error in report.skipped:
        tell_warning(error)
    if arguments.json:
        write_json(_as_json(report) | ({} if checked is None else {"check": check_as_json(checked)}))
    else:
        _write_text(report, before.news(report))
        if checked is not None:
            write_check(checked)
    code = lock_made([arguments.target], arguments, token) if arguments.lock else 0
    return code if checked is None or checked.is_equal else DIFFERENT


def _export(
    planned: PlannedExport, arguments: argparse.Namespace, token: CancelToken, before: _Before
) -> ExportReport:
    try:
        with ProgressBar("exporting") as bar:
            return planned.write(
                job_control(token, bar),
                question=lambda error: ask(arguments, error),
                # Programs find it in the report.
                told=None if arguments.json else before.tell,
            )
    except Cancelled:
        if form_named(planned.request.format).resumes:
            tell("refbrowser: interrupted; --resume goes on from here")
        raise


def _check(planned: PlannedExport, token: CancelToken) -> CheckReport:
    with ProgressBar("checking") as bar:
        return planned.check(job_control(token, bar))


def _estimate(planned: PlannedExport, arguments: argparse.Namespace, token: CancelToken) -> int:
    with ProgressBar("estimating") as bar:
        estimate = planned.estimate(job_control(token, bar))
    if arguments.json:
        shape = asdict(estimate)
        shape["losses"] = [{"path": loss.path, "what": loss.what} for loss in estimate.losses]
        write_json(shape)
        return 0
    units = form_named(planned.request.format).units
    write_line(
        f"{estimate.chunks} {units}, {estimate.missing} missing; "
        f"to read {binary_size_text(estimate.source_bytes)}, "
        f"to write {binary_size_text(estimate.target_bytes)} at most"
    )
    for line in (*_ways(estimate), *_notes(estimate)):
        write_line(line)
    return 0


def _notes(told: ExportEstimate | ExportReport) -> list[str]:
    """Return a line for each thing that is not as in the source."""
    return [f"note: {plain(line)}" for line in told.lost]


class _Before:
    """What was said before an export began: its report does not say it again."""

    def __init__(self) -> None:
        self._losses: frozenset[Loss] = frozenset()

    def tell(self, estimate: ExportEstimate) -> None:
        """Say what will not be as in the source."""
        self._losses = frozenset(estimate.losses)
        for line in (*_ways(estimate), *_notes(estimate)):
            tell(f"refbrowser: {line}")

    def news(self, report: ExportReport) -> list[str]:
        """Return what was found out since."""
        news = tuple(loss for loss in report.losses if loss not in self._losses)
        return _notes(replace(report, losses=news))


#: What becomes of what an interrupted export left at the target, where it cannot go on.
_LEFTOVERS = {"other": "what another export left here when it was interrupted is removed"}


def _ways(estimate: ExportEstimate) -> list[str]:
    """Return what becomes of an interrupted export, and how chunks that lie across others are made."""
    lines = [_LEFTOVERS[estimate.leftover]] if estimate.leftover in _LEFTOVERS else []
    if estimate.here:
        lines.append(f"it is made in this process: {estimate.here}")
    if estimate.partly_here:
        lines.append(f"made in this process: {estimate.partly_here}")
    if estimate.spool_bytes:
        lines.append(
            f"an intermediate store of {binary_size_text(estimate.spool_bytes)} is made beside the target"
        )
    if estimate.reads > 1.05:
        lines.append(f"chunks are read {estimate.reads:.1f} times on average")
    return lines


def _chosen(
    dataset: Dataset, arrays: list[tuple[str, str]] | None, token: CancelToken
) -> tuple[ArrayChoice, ...] | None:
    if arrays is None:
        return None
    from refbrowser.tools.export.chosen_parts import with_coordinates

    chosen = tuple(_choice(dataset, path, select, token) for path, select in arrays)
    paths = [choice.path for choice in chosen]
    if len(set(paths)) < len(paths):
        raise RefbrowserError(ErrorKind.USAGE, "an array is named twice")
    return with_coordinates(dataset, chosen)


def _choice(dataset: Dataset, path: str, select: str, token: CancelToken) -> ArrayChoice:
    from refbrowser.exporting.request import ArrayChoice

    array = find_array(dataset, path)
    return ArrayChoice(array.path, selection_of(array, select, token) if select else None)


def _as_json(report: ExportReport) -> dict[str, Any]:
    shape = asdict(report)
    shape["skipped"] = [
        {"kind": str(error.kind), "message": error.message, "key": error.place.key, "path": error.place.path}
        for error in report.skipped
    ]
    shape["losses"] = [{"path": loss.path, "what": loss.what} for loss in report.losses]
    return shape


def _write_text(report: ExportReport, notes: Iterable[str]) -> None:
    units = form_named(report.format).units
    resumed = f", {report.resumed} of them there before" if report.resumed else ""
    write_line(
        f"{plain(report.target)}: {counted_plain(report.arrays, 'array')}, {report.chunks} {units}{resumed}, "
        f"{report.copied} copied undecoded, {report.missing} missing, {report.verified} verified; "
        f"read {binary_size_text(report.read_bytes)}, written {binary_size_text(report.written_bytes)}"
    )
    for line in notes:
        write_line(line)
    for line in report.opened_by:
        write_line(plain(line))
