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
    add_opening,
    add_options_of_forms,
    add_origins,
    add_request,
    add_skip_bad,
    add_stale,
    add_yes,
    ask,
    compute_of,
    job_control,
    options_of_form,
    said_of_fields,
    said_of_opening,
)
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.option_fields import group_of
from refbrowser.formats.lead import is_led
from refbrowser.formats.option_fields import declared
from refbrowser.formats.registry import form_named, referring
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.exporting.combining.combine import CombineReport
    from refbrowser.exporting.combining.holes import Hole
    from refbrowser.exporting.combining.mismatches import Mismatch
    from refbrowser.exporting.combining.plan import Plan
    from refbrowser.exporting.making.made_references import Made, MakeReport
    from refbrowser.exporting.option_fields import ExportOptions

#: What says that files become one document, or that one of them does in parts or under other names.
_COMBINES = {"concat", "axis", "new_dims", "merge", "select", "rename", "subchunk"}
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
    from refbrowser.exporting.combining.combination import Combination

    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="a file or URL, a pattern ('data/*.nc', 's3://bucket/data/*.nc', 'https://host/data/*.nc' where "
        "the server lists the folder), or @LIST: a file with one of these a line; one NcML (NAME.ncml) says "
        "by itself what is put together",
    )
    add_request(parser, Combination, *declared(Combination))
    add_options_of_forms(parser, _groups())
    add_lock(parser)
    add_stale(parser)
    add_dask(parser)
    add_json(parser)
    add_opening(parser)
    add_origins(parser)
    add_skip_bad(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Make the documents and report."""
    from refbrowser.exporting.combining.combination import Combination
    from refbrowser.formats.reference_forms import FORMS, form_of
    from refbrowser.tools.make.public import make

    said = said_of_fields(arguments, Combination)
    form = form_of(said["target"], said.get("format", ""))
    if arguments.lock and form not in FORMS:
        raise RefbrowserError(ErrorKind.USAGE, "--lock is for documents of references")
    said |= {
        "options": options_of_form(arguments, form_named(form), _groups(), said["target"]),
        "skip_bad": arguments.skip_bad,
        "allow": arguments.allow,
        "storage_options": arguments.storage_option,
        "client": compute_of(arguments),
        **said_of_opening(arguments),
    }
    if said.keys() & _COMBINES or is_led(arguments.files):
        return _run_combined(arguments, said, token)
    for name, each in declared(Combination).items():
        if each.heading and name in said:
            message = f"{each.flag} is for files that are combined"
            advice = "give --concat DIM, --new-dim NAME=FROM or --merge"
            raise RefbrowserError(ErrorKind.USAGE, message, advice=advice)
    with ProgressBar("making", "files") as bar:
        report = make(arguments.files, **said, progress=job_control(token, bar))
    for _, error in report.left_out:
        tell_warning(error)
    if arguments.json:
        write_json(_as_json(report))
    else:
        _write_text(report)
    return lock_made([each.target for each in report.made], arguments, token) if arguments.lock else 0


def _groups() -> list[type[ExportOptions]]:
    """Return the options of all forms in which references are made."""
    found = (group_of(form) for form in referring().values())
    return list(dict.fromkeys(each for each in found if each is not None))


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
        said += [f"note: {loss}" for loss in each.losses]
        for line in said[:_SHOWN]:
            write_line(f"  {plain(line)}")
        if len(said) > _SHOWN:
            write_line(f"  and {len(said) - _SHOWN} more")
    for source, error in report.left_out:
        write_line(f"left out: {plain(source)}: {plain(error.message)}")
    for line in report.made[0].opened_by if len(report.made) == 1 else ():
        write_line(plain(line))
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


def _run_combined(arguments: argparse.Namespace, said: dict[str, Any], token: CancelToken) -> int:
    """Combine files and report; what differs is told before anything is written.

    Raises
    ------
    RefbrowserError
        A difference stands against it.
    """
    from refbrowser.tools.make.public import combine

    found: list[Mismatch] = []

    def told(plan: Plan) -> None:
        found.extend(plan.mismatches)
        if plan.blocking or not arguments.json:
            tell_mismatches(plan.mismatches)

    stale = arguments.stale
    try:
        with ProgressBar("combining", "files") as bar:
            control = job_control(token, bar)
            report = combine(
                arguments.files,
                **said,
                stale=stale,
                told=told,
                question=lambda error: ask(arguments, error),
                progress=control,
            )
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


def hole_json(hole: Hole) -> dict[str, object]:
    """Return the times that no file has as JSON."""
    return {
        "dimension": hole.dimension,
        "path": hole.path,
        "missing": hole.count,
        "of": hole.size,
        "runs": [list(each) for each in hole.runs],
    }


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
        "holes": [hole_json(each) for each in report.holes],
        "losses": list(report.losses),
        "relative": report.is_relative,
        "lock_renewed": report.relocked,
        "opened_by": list(report.opened_by),
        "own_chunks": [asdict(each) for each in report.own],
        "groups": [
            {"path": each.path, "files": len(each.files), "what": list(each.what)} for each in report.eras
        ],
    }


def _write_combined(report: CombineReport) -> None:
    from refbrowser.exporting.combining.selected_parts import NOT_SELECTED
    from refbrowser.words import counted_plain

    sizes = ", ".join(report.size_texts())
    unread = f", {report.unread} cannot be read" if report.unread else ""
    write_line(
        f"{plain(report.target)}: {counted_plain(report.files, 'file')} as one"
        f"{': ' if sizes else ''}{plain(sizes)}; "
        f"{counted_plain(report.arrays, 'array')}, {counted_plain(report.references, 'reference')}; "
        f"{counted_plain(report.compared, 'chunk')} compared with files{unread}"
    )
    for line in (*report.own_lines(), *report.era_lines()):
        write_line(plain(line))
    unselected = [source for source, why in report.left_out if why == NOT_SELECTED]
    left_out = [each for each in report.left_out if each[1] != NOT_SELECTED]
    if unselected:
        write_line(f"{counted_plain(len(unselected), 'file')} hold nothing of what is selected")
    for source, why in left_out[:_TOLD]:
        write_line(f"left out: {plain(source)}: {plain(why)}")
    if len(left_out) > _TOLD:
        write_line(f"left out: and {len(left_out) - _TOLD} more")
    for loss in report.losses[:_TOLD]:
        write_line(f"  note: {plain(loss)}")
    for line in report.opened_by:
        write_line(plain(line))
    if report.relocked:
        write_line(f"  {_RELOCKED}")
    if report.is_relative:
        write_line(_RELATIVE)
