"""Make references of files of data: a document for each, or one of all, compared with the files."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import ProgressBar, plain, tell, tell_warning, write_json, write_line
from refbrowser.cli.locks import add_lock, lock_made
from refbrowser.cli.options import (
    add_dask,
    add_json,
    add_option,
    add_origins,
    add_skip_bad,
    add_stale,
    compute_of,
    job_control,
    listed,
    said_of,
)
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.option_fields import declared
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.exporting.combining.combination import Combination
    from refbrowser.exporting.combining.combine import CombineReport
    from refbrowser.exporting.combining.mismatches import Mismatch
    from refbrowser.exporting.saving.making import Made, MakeReport

#: What cannot be kept that is told of each document.
_SHOWN = 5
_RELOCKED = "the lock beside it was renewed: the files are locked as they are now"
#: Told once, since readers differ in it.
_RELATIVE = (
    "files are named relative to the document, so that both can be moved together; fsspec and kerchunk look "
    "for them in the current folder, VirtualiZarr in fs_root (--absolute gives full paths)"
)
#: Harmless differences of files that are combined, and files left out, that are told one by one.
_TOLD = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.exporting.saving.making import FORMS
    from refbrowser.exporting.targets.reference_options import ReferenceOptions

    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="a file or URL, a pattern ('data/*.nc', 's3://bucket/data/*.nc', 'https://host/data/*.nc' where "
        "the server lists the folder), or @LIST: a file with one of these a line",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help="the document of a single file, or of files that are combined; "
        "else the folder of documents that have the names of their files",
    )
    parser.add_argument(
        "--to",
        default="",
        metavar="FORMAT",
        dest="format",
        help=f"{listed(FORMS)}; as the suffix of OUT says where not given (.parquet, .parq: refs-parquet)",
    )
    parser.add_argument(
        "--array",
        action="append",
        default=[],
        dest="arrays",
        metavar="A",
        help="take this array only, with its coordinates (repeatable)",
    )
    parser.add_argument("--force", action="store_true", help="replace documents that are there")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="leave documents that are newer than their files; go on with what an interrupted run found in "
        "files that are combined",
    )
    for each in declared(ReferenceOptions).values():
        add_option(parser, each)
    add_dimensions(add_remedies(parser))
    add_lock(parser)
    add_stale(parser)
    add_dask(parser)
    add_json(parser)
    add_origins(parser)
    add_skip_bad(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Make the documents and report."""
    from refbrowser.exporting.saving.making import MakeRequest, make
    from refbrowser.exporting.targets.reference_options import ReferenceOptions

    said = {
        name: found
        for name, each in declared(ReferenceOptions).items()
        if (found := said_of(arguments, each)) is not None
    }
    known = declared(ReferenceOptions)
    options = ReferenceOptions(**{name: known[name].value(value) for name, value in said.items()})
    if is_combined(arguments):
        combination = request_of(
            arguments,
            sources=tuple(arguments.files),
            target=arguments.output,
            format=arguments.format,
            options=options,
            arrays=tuple(arguments.arrays),
            resume=arguments.resume,
            skip_bad=arguments.skip_bad,
        )
        return run_combined(arguments, combination, token)
    if flag := unused(arguments):
        advice = "give --concat DIM, --new-dim NAME=FROM or --merge"
        raise RefbrowserError(ErrorKind.USAGE, f"{flag} is for files that are combined", advice=advice)
    request = MakeRequest(
        sources=tuple(arguments.files),
        target=arguments.output,
        format=arguments.format,
        options=options,
        arrays=tuple(arguments.arrays),
        force=arguments.force,
        resume=arguments.resume,
        skip_bad=arguments.skip_bad,
        allow=tuple(arguments.allow),
        storage_options=tuple(arguments.storage_option),
    )
    compute = compute_of(arguments)
    with ProgressBar("making", "files") as bar:
        report = make(request, job_control(token, bar), compute)
    for _, error in report.left_out:
        tell_warning(error)
    if arguments.json:
        write_json(_as_json(report))
    else:
        _write_text(report)
    return lock_made([each.target for each in report.made], arguments, token) if arguments.lock else 0


def _as_json(report: MakeReport) -> dict[str, object]:
    return {
        "made": [asdict(each) for each in report.made],
        "left_out": [
            {"source": source, "kind": str(error.kind), "message": error.message}
            for source, error in report.left_out
        ],
    }


def _write_text(report: MakeReport) -> None:
    for each in report.made:
        write_line(_line(each))
        if each.relocked:
            write_line(f"  {_RELOCKED}")
        said = [f"in the document, not referenced: {held}" for held in each.held]
        said += [f"not kept: {loss}" for loss in each.losses]
        for line in said[:_SHOWN]:
            write_line(f"  {plain(line)}")
        if len(said) > _SHOWN:
            write_line(f"  and {len(said) - _SHOWN} more")
    for source, error in report.left_out:
        write_line(f"left out: {plain(source)}: {plain(error.message)}")
    if any(each.is_relative for each in report.made):
        write_line(_RELATIVE)


def _line(made: Made) -> str:
    if made.was_there:
        return f"{plain(made.target)}: newer than its file, left as it is"
    from refbrowser.words import counted_plain

    unread = f", {made.unread} cannot be read" if made.unread else ""
    return (
        f"{plain(made.target)}: {counted_plain(made.arrays, 'array')}, "
        f"{counted_plain(made.references, 'reference')}; "
        f"{counted_plain(made.compared, 'chunk')} compared with {made.with_what}{unread}"
    )


# Files that are combined


def add_remedies(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add what is done about what differs."""
    from refbrowser.exporting.combining.combination import ACCEPTED

    group = parser.add_argument_group("files that are combined")
    for flag, metavar, what in (
        (
            "--leave-out",
            "FILE",
            "leave this file out (a path, its last part, or a pattern); odd: each that differs",
        ),
        ("--leave-out-var", "VAR", "leave this array out"),
        ("--take-as", "VAR=NEW:FILES", "treat the array of these files (a pattern) as a separate one"),
        ("--inline-var", "VAR", "store the values of this array in the document"),
        ("--accept", "WHAT[:VAR]", f"use the common value although files differ: {listed(ACCEPTED)}"),
    ):
        group.add_argument(flag, action="append", default=[], metavar=metavar, help=f"{what} (repeatable)")
    group.add_argument(
        "--time-units",
        default="",
        metavar="UNITS",
        help="convert times to these units: 'days since 2000-01-01'",
    )
    group.add_argument(
        "--sort", action="store_true", help="lay files by their coordinates, not in the order given"
    )
    return group


def add_dimensions(group: argparse._ArgumentGroup) -> None:
    """Add along what files are combined."""
    group.add_argument(
        "--concat",
        action="append",
        default=[],
        metavar="DIM",
        help="lay all files along this dimension, into one document (repeatable)",
    )
    add_new_dimension(group)
    group.add_argument(
        "--fold", action="store_true", help="fold the references into templates and gen rules (refs-v1)"
    )
    group.add_argument("--merge", action="store_true", help="files may have different arrays")
    group.add_argument(
        "--set-attr",
        action="append",
        default=[],
        metavar="[VAR]:NAME=VALUE",
        help="give an array this attribute, or the whole dataset, whatever the files say: t:units=K, "
        ":title=Runs (repeatable)",
    )


def add_new_dimension(group: argparse._ArgumentGroup) -> None:
    """Add along what dimension files lie that they do not have."""
    group.add_argument(
        "--new-dim",
        action="append",
        default=[],
        metavar="NAME=FROM",
        help=r"lay them along a new dimension with values from name:PATTERN with a group, such as "
        r"name:run(\d+), attribute:NAME, variable:NAME or list:A,B,C (repeatable)",
    )


def is_combined(arguments: argparse.Namespace) -> bool:
    """Tell whether files are to be combined."""
    return bool(arguments.concat or arguments.new_dim or arguments.merge)


def unused(arguments: argparse.Namespace) -> str:
    """Return an option that means something for combined files only, and is given; empty where none is."""
    choices = ("leave_out", "leave_out_var", "take_as", "inline_var", "accept", "set_attr")
    names = (*choices, "time_units", "sort", "fold")
    return next((f"--{name.replace('_', '-')}" for name in names if getattr(arguments, name)), "")


def request_of(arguments: argparse.Namespace, **more: Any) -> Combination:
    """Return what is to be combined, as the arguments say."""
    from refbrowser.exporting.combining.combination import Combination

    return Combination(
        concat=tuple(getattr(arguments, "concat", ())),
        new_dims=tuple(getattr(arguments, "new_dim", ())),
        merge=getattr(arguments, "merge", False),
        fold=getattr(arguments, "fold", False),
        sort=arguments.sort,
        leave_out=tuple(arguments.leave_out),
        leave_out_var=tuple(arguments.leave_out_var),
        take_as=tuple(arguments.take_as),
        inline_var=tuple(arguments.inline_var),
        accept=tuple(arguments.accept),
        set_attr=tuple(getattr(arguments, "set_attr", ())),
        time_units=arguments.time_units,
        force=arguments.force,
        allow=tuple(arguments.allow),
        storage_options=tuple(arguments.storage_option),
        stale=arguments.stale,
        **more,
    )


def run_combined(arguments: argparse.Namespace, request: Combination, token: CancelToken) -> int:
    """Combine files and report; what differs is told before anything is written.

    Raises
    ------
    RefbrowserError
        A difference stands against it.
    """
    from refbrowser.exporting.combining.combine import combine
    from refbrowser.exporting.combining.combined import Plan

    found: list[Mismatch] = []

    def told(plan: Plan) -> None:
        found.extend(plan.mismatches)
        if plan.blocking or not arguments.json:
            tell_mismatches(plan.mismatches)

    compute = compute_of(arguments)
    try:
        with ProgressBar("combining", "files") as bar:
            report = combine(request, job_control(token, bar), compute, told)
    except Exception:
        if arguments.json and any(each.is_blocking for each in found):
            write_json({"mismatches": [mismatch_json(each) for each in found]})
        raise
    if arguments.json:
        write_json(_combined_json(report))
    else:
        _write_combined(report)
    return lock_made([report.target], arguments, token) if arguments.lock else 0


def tell_mismatches(found: list[Mismatch]) -> None:
    """Tell what differs on standard error: what stands against combining with all that can be done."""
    harmless = 0
    for each in found:
        if each.is_blocking:
            tell(f"differs: {plain(each.message)}")
            for remedy in each.remedies:
                tell(f"    {plain(remedy.option)}  ({plain(remedy.words)})")
            continue
        harmless += 1
        if harmless <= _TOLD:
            tell(f"note: {plain(each.message)}")
    if harmless > _TOLD:
        tell(f"note: and {harmless - _TOLD} more harmless differences (all with --json)")


def mismatch_json(found: Mismatch) -> dict[str, object]:
    """Return a difference as JSON."""
    told = asdict(found)
    told["remedies"] = [{"option": each.option, "words": each.words} for each in found.remedies]
    return told


def _combined_json(report: CombineReport) -> dict[str, object]:
    return {
        "target": report.target,
        "files": report.files,
        "sizes": report.sizes,
        "arrays": report.arrays,
        "references": report.references,
        "compared": report.compared,
        "unread": report.unread,
        "left_out": [{"source": source, "why": why} for source, why in report.left_out],
        "mismatches": [mismatch_json(each) for each in report.mismatches],
        "losses": list(report.losses),
        "relative": report.is_relative,
        "lock_renewed": report.relocked,
    }


def _write_combined(report: CombineReport) -> None:
    sizes = ", ".join(f"{name} {size}" for name, size in report.sizes.items())
    unread = f", {report.unread} cannot be read" if report.unread else ""
    write_line(
        f"{plain(report.target)}: {report.files} files as one{': ' if sizes else ''}{plain(sizes)}; "
        f"{report.arrays} arrays, {report.references} references; "
        f"{report.compared} chunks compared with files{unread}"
    )
    for source, why in report.left_out[:_TOLD]:
        write_line(f"left out: {plain(source)}: {plain(why)}")
    if len(report.left_out) > _TOLD:
        write_line(f"left out: and {len(report.left_out) - _TOLD} more")
    for loss in report.losses[:_TOLD]:
        write_line(f"  not kept: {plain(loss)}")
    if report.relocked:
        write_line(f"  {_RELOCKED}")
    if report.is_relative:
        write_line(_RELATIVE)
