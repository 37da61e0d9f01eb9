"""Files that are looked at before they are combined: what differs, where each lies; and combining them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import CombineReport, gather, lacks, made, plan_of, write
from refbrowser.exporting.combining.file_set import FileSet
from refbrowser.exporting.combining.mismatches import Mismatch
from refbrowser.exporting.combining.placed_axis import PlacedAxis
from refbrowser.exporting.combining.plan import Plan, blocked
from refbrowser.exporting.combining.scan_journal import ScanJournal, forget_scans
from refbrowser.exporting.combining.times import target_units, time_of
from refbrowser.exporting.making.made_references import sources_of
from refbrowser.tools.make.combine_order import CombineOrder
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, plural, size_text

#: Files that are looked at to find the dimension.
_SAMPLE = 6
#: Files that are listed, and that are drawn along the dimension.
LISTED, DRAWN = 500, 10_000
#: Groups that are named.
_NAMED = 4
#: What is wrong with how files lie along a dimension.
_PLACES = ("gap", "overlap", "double", "disorder", "off axis", "outside", "hole", "select", "time units")


@dataclass(frozen=True, slots=True)
class FileRow:
    """Where one file lies: from and to in words and as parts of the whole, and what is wrong with it."""

    source: str
    low: str = ""
    high: str = ""
    start: float = 0.0
    end: float = 0.0
    length: int = 0
    trouble: str = ""
    is_fault: bool = False
    is_out: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in files: what the sheet shows, and what it is made of.

    Attributes
    ----------
    along
        The dimensions along which files are laid, with commas between.
    known
        Names of dimensions that may be chosen.
    rows, drawn
        The first of the files in the order in which they lie, with those that are left out behind them; and
        where they and more of them lie.
    files
        How many rows there would be.
    gaps
        Parts of the whole where there is no file.
    remaining
        Files that are combined.
    is_added
        The first file of the plan is a document that the others are added to.
    """

    plan: Plan
    along: str
    known: tuple[str, ...]
    blocking: tuple[Mismatch, ...]
    harmless: tuple[Mismatch, ...]
    rows: tuple[FileRow, ...]
    drawn: tuple[FileRow, ...]
    files: int
    gaps: tuple[tuple[float, float], ...]
    remaining: int
    summary: str
    kept: FileSet | None = None
    is_added: bool = False


# Looking at files


def look(order: CombineOrder, kept: FileSet | None, control: JobControl) -> Found:
    """Look at files, and tell what differs and where each lies; those that are known are not read again.

    Raises
    ------
    RefbrowserError
        It is not plain along which dimension they lie, or they cannot be combined so.
    """
    request = order.request()
    sources = sources_of(order.sources, request.settings, control.token)
    known: tuple[str, ...] = ()
    is_said = request.concat or request.new_dims or order.merge
    # A part of a single file is taken along no dimension.
    if not is_said and (len(sources) > 1 or not request.merge):
        along, known = plain_dimension(sources, request, control)
        request = replace(request, concat=(along,), merge=False)
    # Those that are left out are looked at too: they can be taken back.
    whole = replace(request, leave_out=())
    if kept is None or lacks(kept, request) or _sources(kept) != set(sources):
        # Who cancelled, or lost the window, goes on with what was found.
        journal = whole.target or order.name
        known_looks = ScanJournal(journal, whole.looking(), resume=True)
        kept = gather(whole, control, order.compute.compute(), known_looks)
        kept.journal = journal
    plan = plan_of(kept, request)
    known = known or tuple(_dimensions(kept))
    return found_of(plan, known, kept, added=False)


def _sources(files: FileSet) -> set[str]:
    return {*(each.source for each in files.files), *(source for source, _ in files.left_out)}


def plain_dimension(
    sources: Sequence[str], request: Combination, control: JobControl
) -> tuple[str, tuple[str, ...]]:
    """Return the dimension whose coordinates are other ones in each file, and the names of all.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is none, or there are several.
    """
    count = min(_SAMPLE, len(sources))
    some = sorted({round(at) for at in np.linspace(0, len(sources) - 1, count)})
    sample = replace(
        request,
        sources=tuple(sources[at] for at in some),
        merge=True,
        select=(), rename=(), subchunk=(),
        leave_out=(), leave_out_var=(), inline_var=(), take_as=(), time_units="", accept=(),
    )  # fmt: skip
    files = gather(sample, control)
    values: dict[str, set[bytes]] = {}
    lengths: dict[str, set[int]] = {}
    for file in files.files:
        for array in file.arrays:
            for name, side in zip(array.dimensions, array.shape, strict=True):
                lengths.setdefault(name, set()).add(side)
            if array.is_coordinate and array.path in file.digests:
                values.setdefault(array.name, set()).add(file.digests[array.path])
    known = tuple(_dimensions(files))
    counts = {name: len(each) for name, each in values.items() if len(each) > 1}
    counts = counts or {name: len(each) for name, each in lengths.items() if len(each) > 1}
    best = [name for name, each in counts.items() if each == max(counts.values())]
    if len(best) == 1:
        return best[0], known
    which = f": it could be {', '.join(map(quoted, best))}" if best else ": no coordinates differ"
    message = f"the dimension to join the files along is not clear{which}"
    raise RefbrowserError(
        ErrorKind.USAGE, message, advice=f"Choose it at Along: the files have {', '.join(known) or 'none'}"
    )


def _dimensions(files: FileSet) -> dict[str, None]:
    return dict.fromkeys(
        name for file in files.files[:1] for array in file.arrays if array.problem == ""
        for name in array.dimensions if not name.startswith(f"{array.name}_")
    )  # fmt: skip


def found_of(plan: Plan, known: tuple[str, ...], kept: FileSet | None, *, added: bool) -> Found:
    """Return what a plan tells of its files; `added`: its first file is a document that the others extend."""
    rows, gaps = _rows(plan)
    out = [FileRow(source, trouble=why, is_out=True) for source, why in plan.left_out]
    harmless = [each for each in plan.mismatches if not each.is_blocking]
    return Found(
        plan,
        ", ".join(axis.name for axis in plan.axes if not axis.is_new),
        known,
        tuple(plan.blocking),
        tuple(harmless),
        tuple([*rows, *out][:LISTED]),
        tuple(each for each in rows if each.end > each.start)[:DRAWN],
        len(rows) + len(out),
        gaps,
        len(plan.files) - added,
        _summary(plan, len(harmless), added=added),
        kept,
        added,
    )


def _summary(plan: Plan, harmless: int, *, added: bool) -> str:
    count, blocking = len(plan.files) - added, len(plan.blocking)
    files = counted_spaced(count, "file")
    if blocking:
        which = plural(blocking, "difference")
        if blocking == 1 and not plan.blocking[0].common:
            # It has no column that is wide enough.
            message = one_line(plan.blocking[0].message)
            return f"{files}: 1 difference to settle: {message}. Nothing is written before you decide."
        return f"{files}: {count_text(blocking)} {which} to settle. Nothing is written before you decide."
    if added:
        axis = plan.axes[0]
        if plan.filled:
            filled = counted_spaced(plan.filled, "missing time")
            return f"{files} to be added: {filled} of {one_line(axis.name)} filled."
        return (
            f"{files} to be added: {one_line(axis.name)} grows from {count_text(axis.lengths[0])} "
            f"to {count_text(axis.size)}."
        )
    missing = {each.dimension: each.count for each in plan.holes if not each.path}
    sizes = ", ".join(
        f"{one_line(axis.name)} {count_text(axis.size)}"
        + (f" ({count_text(missing[axis.name])} missing)" if axis.name in missing else "")
        for axis in plan.axes
    )
    if plan.eras:
        return f"{files} in {count_text(len(plan.eras))} groups, one for each era: {_eras_text(plan)}."
    arrays = f"{count_text(len(plan.arrays))} arrays"
    noted = f" {count_text(harmless)} harmless differences are noted." if harmless > 1 else ""
    noted = " A harmless difference is noted." if harmless == 1 else noted
    own = f" About {size_text(plan.own_size)} of chunks are written again." if plan.own_size else ""
    return f"{files} as one: {sizes + '; ' if sizes else ''}{arrays}.{own}{noted}"


def _eras_text(plan: Plan) -> str:
    """Return the names of the first groups."""
    names = [one_line(each.path.strip("/")) for each in plan.eras[:_NAMED]]
    return ", ".join(names) + (", …" if len(plan.eras) > _NAMED else "")


def _rows(plan: Plan) -> tuple[list[FileRow], tuple[tuple[float, float], ...]]:
    """Return where files lie along the first dimension that they have, and the gaps between them."""
    axis = next((each for each in plan.axes if not each.is_new), plan.axes[0] if plan.axes else None)
    told: dict[str, list[str]] = {}
    faults: set[str] = set()
    for each in plan.mismatches:
        if each.is_blocking or each.kind in _PLACES:
            for at, source in enumerate(each.files):
                what = f"other {each.name} of {each.path}"
                if each.kind in _PLACES:
                    what = each.message.removeprefix(f"{each.path}: ")
                if each.kind == "gap":
                    what = f"{what.partition(' between ')[0]} {'before' if at else 'behind'} it"
                told.setdefault(source, []).append(what)
                faults |= {source} if each.is_blocking or each.kind != "gap" else set()
    if axis is None:
        rows = [
            FileRow(each.source, trouble="; ".join(told.get(each.source, ())), is_fault=each.source in faults)
            for each in plan.files
        ]
        return rows, ()
    lows, highs, words = _ends(axis, plan)
    low, whole = float(lows.min()), float(highs.max() - lows.min()) or 1.0
    starts, ends = (lows - low) / whole, (highs - low) / whole
    rows = []
    for number, file in enumerate(plan.files):
        at = axis.of_file[number]
        if at < 0:
            rows.append(FileRow(file.source, trouble=f"does not have {axis.name}"))
            continue
        rows.append(
            FileRow(
                file.source,
                words[2 * at],
                words[2 * at + 1],
                float(starts[at]),
                float(ends[at]),
                axis.lengths[at],
                "; ".join(told.get(file.source, ())),
                file.source in faults,
            )
        )
    of_source = {row.source: row for row in rows}
    gaps = []
    for each in plan.mismatches:
        pair = [of_source[source] for source in each.files if source in of_source]
        if each.kind == "gap" and len(pair) == 2:
            gaps.append((min(row.end for row in pair), max(row.start for row in pair)))
    if axis.regular is not None:
        there = set(axis.of_file)
        holes = (part for part in range(len(axis.lengths)) if part not in there)
        gaps += [(float(starts[part]), float(ends[part])) for part in holes]
    rows.sort(key=lambda row: row.start)
    return rows, tuple(gaps)


def _ends(axis: PlacedAxis, plan: Plan) -> tuple[Any, Any, list[str]]:
    """Return where each part begins and ends, as numbers and in words, two for each."""
    starts = np.array(axis.starts, np.float64)
    by_order = starts, starts + axis.lengths
    plain = [text for at, side in zip(axis.starts, axis.lengths, strict=True) for text in _span(at, side)]
    parts = axis.values
    if parts is None or not all(len(each) for each in parts):
        return *by_order, plain
    ends = [end for each in parts for end in (each.min(), each.max())] if parts[0].dtype.kind != "U" else []
    if not ends:
        return *by_order, [str(end) for each in parts for end in (each[0], each[-1])]
    values = np.array(ends)
    words = [f"{each:.6g}" if values.dtype.kind == "f" else str(each) for each in values.tolist()]
    coordinate = next((each for each in plan.arrays if each.path == axis.path), None)
    units = None
    if coordinate is not None and time_of(coordinate.first) is not None:
        units = target_units(coordinate.first, plan.request)
    if units is not None:
        try:
            words = [text.removesuffix(" 00:00:00") for text in units.texts(values)]
        except RefbrowserError:
            words = [f"{each:.6g}" for each in values.tolist()]
    numbers = values.astype(np.float64)
    step = _step(parts)
    return numbers[::2], numbers[1::2] + step, words


def _span(start: int, length: int) -> tuple[str, str]:
    return count_text(start), count_text(start + length - 1)


def _step(parts: Sequence[Any]) -> float:
    """Return how long one coordinate lasts, as they mostly do: so files that meet are seen to."""
    many = [np.abs(np.diff(each.astype(np.float64))) for each in parts if len(each) > 1]
    if many:
        return float(np.median(np.concatenate(many)))
    firsts = np.sort(np.array([float(each[0]) for each in parts]))
    between = np.diff(firsts)
    return float(np.median(between[between > 0])) if (between > 0).any() else 0.0


# Combining


def settled(found: Found, request: Combination) -> Found:
    """Return what was found, for the request that combines the files along the dimension that was found, too.

    Raises
    ------
    RefbrowserError
        A difference stands against it.
    """
    plan = found.plan
    if plan.blocking:
        raise blocked(plan)
    plan.request = replace(request, concat=plan.request.concat, merge=plan.request.merge)
    return found


def written(found: Found, control: JobControl) -> CombineReport:
    """Write the document of files whose differences are settled.

    Raises
    ------
    RefbrowserError
        The document cannot be written, or it gives other values.
    """
    report = write(found.plan, control)
    _forget(found)
    return report


def unwritten(
    found: Found, name: str, session: Session, control: JobControl
) -> tuple[Dataset, CombineReport]:
    """Return the dataset of files whose differences are settled, which is in no file.

    Parameters
    ----------
    name
        What the document is called.
    session
        What it is read with.

    Raises
    ------
    RefbrowserError
        It gives other values.
    """
    found.plan.request = replace(found.plan.request, target=name, fold=False)
    dataset, report = made(found.plan, session, control)
    _forget(found)
    return dataset, report


def _forget(found: Found) -> None:
    """Forget what was kept for going on: it was carried out."""
    if found.kept is not None and found.kept.journal:
        forget_scans(found.kept.journal)
