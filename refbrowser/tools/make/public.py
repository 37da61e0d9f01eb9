"""Making references, and combining files, as functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, Progress, StorageOptions, control_of, path_of, settings_of, texts_of
from refbrowser.errors import ErrorKind, RefbrowserError, native_errors, quoted

if TYPE_CHECKING:
    from refbrowser.exporting.combining.combine import CombineReport
    from refbrowser.exporting.combining.plan import Plan
    from refbrowser.exporting.making.made_references import Made, MakeReport
    from refbrowser.exporting.option_fields import ExportOptions


@native_errors()
def make(
    sources: Path | Iterable[Path],
    target: Path,
    *,
    format: str | None = None,
    arrays: str | Iterable[str] = (),
    force: bool = False,
    resume: bool = False,
    skip_bad: bool = False,
    declares: Path | None = None,
    options: ExportOptions | None = None,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    progress: Progress | None = None,
    done: Callable[[Made], None] = lambda made: None,
    client: Any = None,
    **opening: Any,
) -> MakeReport:
    """Make references of files of data, a document for each, compared with the file.

    Parameters
    ----------
    sources
        Paths and URLs of files, patterns of paths (``data/*.nc``), and lists of such: ``@FILE``, one a line.
    target
        The document, or the Icechunk repository, of the only file; else the folder of documents that have the
        names of their files.
    format
        ``refs-v1``, ``refs-v0``, ``refs-parquet`` or ``icechunk``; as the suffix of `target` says when None.
    arrays
        Names or paths of the arrays that are taken, with their coordinates; all when empty.
    force
        Replace documents that are there.
    resume
        Leave documents as they are that are newer than their files.
    skip_bad
        Leave out files of which no references can be made; else the first ends all.
    declares
        A file with declared properties against which each file is held: no references are made of one that
        does not conform.
    options
        How the references are written, those of the format; the usual ones when None.
    allow, storage_options
        As `open` has them.
    progress
        Called as `progress(done, total, note=...)` with files.
    done
        Called with each document that was made.
    client
        Who does the work, as `export` has it; processes of this machine when None and there are many files.
    opening
        Options of opening the files, as `open` has them: ``grib`` of indexes of GRIB files.

    Returns
    -------
    MakeReport
        The documents that were made, and the files that were left out, with why.

    Raises
    ------
    RefbrowserError
        There is no file, two have one name, or none can be made of one.
    """
    from refbrowser.engine.compute import Compute
    from refbrowser.engine.declarations.declarations_beside import declarations_of
    from refbrowser.exporting.making.made_references import Made, MakeRequest
    from refbrowser.exporting.making.made_references import make as make_references
    from refbrowser.exporting.targets.reference_options import ReferenceOptions

    named = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    request = MakeRequest(
        sources=tuple(path_of(each) for each in named),
        target=path_of(target),
        format=format or "",
        arrays=texts_of(arrays),
        options=options or ReferenceOptions(),
        force=force,
        resume=resume,
        skip_bad=skip_bad,
        declared=declarations_of("" if declares is None else path_of(declares)),
        allow=texts_of(allow),
        storage_options=settings_of(storage_options, [*named, *texts_of(allow)]),
        opening=_said(opening),
    )

    def answered(_source: str, answer: Made | BaseException) -> None:
        if isinstance(answer, Made):
            done(answer)

    return make_references(request, control_of(progress), Compute.of(client), answered)


@native_errors()
def combine(
    sources: Path | Iterable[Path],
    target: Path,
    *,
    concat: str | Iterable[str] = (),
    axis: str | Iterable[str] = (),
    select: str | Iterable[str] = (),
    rename: str | Iterable[str] = (),
    subchunk: str | Iterable[str] = (),
    new_dims: str | Iterable[str] = (),
    merge: bool = False,
    sort: bool = False,
    reencode: bool = False,
    split: str = "",
    arrays: str | Iterable[str] = (),
    leave_out: str | Iterable[str] = (),
    leave_out_var: str | Iterable[str] = (),
    take_as: str | Iterable[str] = (),
    inline_var: str | Iterable[str] = (),
    accept: str | Iterable[str] = (),
    set_attr: str | Iterable[str] = (),
    time_units: str = "",
    declares: Path | None = None,
    fold: bool = False,
    format: str = "",
    options: ExportOptions | None = None,
    force: bool = False,
    resume: bool = False,
    skip_bad: bool = False,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    stale: str = "refuse",
    client: Any = None,
    progress: Progress | None = None,
    told: Callable[[Plan], None] = lambda plan: None,
    question: Callable[[RefbrowserError], bool] = lambda error: False,
    **opening: Any,
) -> CombineReport:
    """Combine files of data, stores or reference documents into one reference document.

    Where a list is taken, one text counts as a list of one.

    Parameters
    ----------
    sources
        Paths, URLs, patterns of paths, and ``@FILE`` with one of these a line; or one NcML (``NAME.ncml``),
        which says itself along what the files lie that it names.
    target
        The document, or the Icechunk repository.
    concat
        Dimensions of the files along which they are laid one after another.
    axis
        ``DIM=FROM:TO:STEP``, such as ``time=2015-01-01:2024-12-31:1D``: a dimension that is a regular axis of
        time, along which files are laid. Missing files, variables and times are holes there.
    select
        ``DIM=FROM:TO``: what is taken along a dimension, in dates, values or indices (``x@0:100``).
    rename
        ``OLD=NEW``: other names of arrays and dimensions.
    subchunk
        ``DIM=N`` or ``ARRAY:DIM=N``: chunks that are not compressed are cut into smaller ones.
    new_dims
        Further dimensions, ``NAME=FROM``.
    merge
        Files may have different arrays.
    sort
        Lay files by the values of their coordinates, not in the order in which they are named.
    reencode
        Write chunks of files that store an array otherwise than most again, as own chunks; numbers stay what
        they are, unless ``rounding`` is accepted.
    split
        ``eras``: each run of files that store all arrays alike becomes a group of its own.
    arrays
        Names or paths of the arrays that are taken, with their coordinates; all when empty.
    leave_out
        Files; ``odd`` is each that a difference names as the odd one.
    leave_out_var
        Names or paths of arrays that are left out.
    take_as
        ``NAME=OTHER:FILES``: the array of these files (a pattern) is another array.
    inline_var
        Names or paths of arrays whose values are to stand in the document.
    accept
        Properties that may differ, or ``PROPERTY:ARRAY``: the common value is taken for all files.
    set_attr
        ``ARRAY:NAME=VALUE``, or ``:NAME=VALUE`` of the whole dataset: the attribute of the result, whatever
        files say.
    time_units
        In which times are expressed, where files have other ones.
    declares
        A file with declared properties against which each file is held; that beside the target when None.
    fold
        Fold the references into templates and gen rules.
    format
        ``refs-v1``, ``refs-v0``, ``refs-parquet`` or ``icechunk``; as the suffix of `target` says when empty.
    options
        How the references are written, those of the format; the usual ones when None.
    force
        Replace the target.
    resume
        Go on with an interrupted run for the same target; replace a document that is there.
    skip_bad
        Leave out files that cannot be read.
    allow, storage_options, stale
        As `open` has them.
    client
        Who looks at the files, as `make` has it.
    progress
        Called as `progress(done, total, note=...)` with files.
    told
        Called with what was found, before anything is written: `Plan.mismatches`.
    question
        Asked, with the error that a no becomes, above a size that needs a question.
    opening
        Options of opening the files, as `make` has them.

    Raises
    ------
    RefbrowserError
        `E_META`: files differ in what would give wrong numbers; or a file cannot be read.
    """
    from refbrowser.engine.compute import Compute
    from refbrowser.exporting.combining.combination import Combination
    from refbrowser.exporting.combining.combine import combine as combine_files
    from refbrowser.exporting.targets.reference_options import ReferenceOptions

    named = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    request = Combination(
        sources=tuple(path_of(each) for each in named),
        target=path_of(target),
        concat=texts_of(concat),
        axis=texts_of(axis),
        select=texts_of(select),
        rename=texts_of(rename),
        subchunk=texts_of(subchunk),
        new_dims=texts_of(new_dims),
        merge=merge,
        sort=sort,
        reencode=reencode,
        split=split,
        arrays=texts_of(arrays),
        leave_out=texts_of(leave_out),
        leave_out_var=texts_of(leave_out_var),
        take_as=texts_of(take_as),
        inline_var=texts_of(inline_var),
        accept=texts_of(accept),
        set_attr=texts_of(set_attr),
        time_units=time_units,
        declares="" if declares is None else path_of(declares),
        fold=fold,
        format=format,
        options=options or ReferenceOptions(),
        force=force,
        resume=resume,
        skip_bad=skip_bad,
        allow=texts_of(allow),
        storage_options=settings_of(storage_options, [*named, *texts_of(allow)]),
        stale=stale,
        opening=_said(opening),
    )
    return combine_files(request, control_of(progress), Compute.of(client), told, question)


def _said(opening: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of opening of which something is said.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: no format has one of them.
    """
    from refbrowser.formats.registry import formats, opening_options

    known = opening_options(formats())
    if unknown := [name for name in opening if name not in known]:
        message = f"there is no option {quoted(unknown[0])}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"options of opening: {', '.join(known)}")
    return {name: value for name, value in opening.items() if value is not None}
