"""Exports, and exports that are planned, as functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from refbrowser.api import Path, Progress, control_of, dataset_of, path_of, texts_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, RefbrowserError, native_errors, quoted

if TYPE_CHECKING:
    from refbrowser.exporting.option_fields import ExportOptions
    from refbrowser.exporting.request import ArrayChoice, ExportReport
    from refbrowser.exporting.targets.keywords import ExportKeywords
    from refbrowser.io.cancel import CancelToken
    from refbrowser.tools.export.planned_export import PlannedExport


@native_errors()
def export(
    dataset: Dataset | Path,
    target: Path,
    *,
    format: str,
    arrays: Iterable[str] | Mapping[str, Any] | None = None,
    force: bool = False,
    resume: bool = False,
    skip_bad: bool = False,
    options: ExportOptions | None = None,
    allow: Iterable[str] = (),
    progress: Progress | None = None,
    client: Any = None,
    **said: Unpack[ExportKeywords],
) -> ExportReport:
    """Write a dataset in another format.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    target
        The file or folder to be made.
    format
        ``refs-v0``, ``refs-v1``, ``refs-parquet``, ``zarr-v2``, ``zarr-v3``, ``zarr-v3-draft``, ``nczarr``,
        ``netcdf4``, ``ncstream``, ``awkward0``, ``parquet``, ``feather``, ``icechunk`` or
        ``dmrpp``.
    arrays
        Paths of the arrays to be written, all when None; as a mapping, path to an index as numpy takes it, or
        to text as ``--select`` takes it. Coordinates among them that are taken whole are cut likewise.
    force
        Replace the target.
    resume
        Go on with an export that was interrupted.
    skip_bad
        Leave out what cannot be read, and list it in the report.
    options
        How it is written, as one object in place of single keywords: `StoreOptions` (chunks, codec, shards,
        container), `StreamOptions`, `TableOptions`, `Awkward0Writing`, `ReferenceOptions` or `CommitOptions`
        of ``refbrowser``, or what a format of another package has; the usual ones when None.
    allow
        Origins that may be read from, where `dataset` is a path.
    progress
        Called as `progress(done, total, read_bytes=..., requests=...)`.
    client
        Who does the work: a ``distributed.Client`` or a ``concurrent.futures.Executor``, or the text that
        ``--dask`` takes. Formats that are one file are made in this process whoever is given. Workers need
        the same versions of refbrowser, numpy and numcodecs, and see source and target under the same paths.
    said
        Options of the format: ``chunks=(1, 90, 360)``, ``codec="zstd:3"``, ``shards``, ``container="zip"``,
        ``inline=500``, ``profile``... as ``refbrowser export --to FORMAT --help`` lists them, or
        `refbrowser.exporting.targets.keywords.ExportKeywords`.

    Returns
    -------
    ExportReport
        What was written, and in `losses` what the target cannot hold.

    Raises
    ------
    RefbrowserError
        The target exists, there is no room, a chunk cannot be read, or verification failed; `client` is none,
        does not answer, or has no workers; or the format has no such option.

    Examples
    --------
    >>> import refbrowser
    >>> refbrowser.export("sea_surface.json", "sea", format="zarr-v3", codec="zstd:3").arrays
    13
    """
    with dataset_of(dataset, allow) as opened:
        planned = plan_export(
            opened,
            target,
            format=format,
            arrays=arrays,
            force=force,
            resume=resume,
            skip_bad=skip_bad,
            options=options,
            client=client,
            progress=progress,
            **said,
        )
        return planned.write(progress)


@native_errors()
def plan_export(
    dataset: Dataset,
    target: Path,
    *,
    format: str,
    arrays: Iterable[str] | Mapping[str, Any] | None = None,
    force: bool = False,
    resume: bool = False,
    skip_bad: bool = False,
    options: ExportOptions | None = None,
    client: Any = None,
    progress: Progress | None = None,
    **said: Unpack[ExportKeywords],
) -> PlannedExport:
    """Return an export that can be estimated, carried out, and checked with other software.

    Parameters
    ----------
    dataset
        An opened dataset.
    target, format, arrays, force, resume, skip_bad, options, client, progress, said
        As `export` has them.

    Returns
    -------
    PlannedExport
        `estimate()` tells what it costs and what the target cannot hold, `write()` does what `export` does,
        `check()` has other software read what was written.

    Raises
    ------
    RefbrowserError
        There is no such array, format or option.

    Examples
    --------
    >>> import refbrowser
    >>> with refbrowser.open("sea_surface.json") as dataset:
    ...     planned = refbrowser.plan_export(dataset, "sst.zarr", format="zarr-v3", arrays=["/ocean/sst"])
    ...     print(planned.estimate().chunks, planned.write().chunks)
    24 24
    """
    from refbrowser.engine.compute import Compute
    from refbrowser.exporting.request import ExportRequest
    from refbrowser.exporting.targets.keywords import options_said
    from refbrowser.tools.export.chosen_parts import with_coordinates
    from refbrowser.tools.export.planned_export import PlannedExport

    if options is not None and said:
        message = f"options say how it is written: {quoted(min(said))} is said besides"
        raise RefbrowserError(ErrorKind.USAGE, message)
    chosen = None
    if arrays is not None:
        indices = arrays if isinstance(arrays, Mapping) else dict.fromkeys(texts_of(arrays), ...)
        token = control_of(progress).token
        chosen = with_coordinates(
            dataset, [_choice(dataset, path, index, token) for path, index in indices.items()]
        )
    request = ExportRequest(
        path_of(target),
        format,
        chosen,
        force=force,
        resume=resume,
        skip_bad=skip_bad,
        options=options or options_said(format, said, path_of(target)),
    )
    return PlannedExport(dataset, request, Compute.of(client))


def _choice(dataset: Dataset, path: str, index: Any, token: CancelToken) -> ArrayChoice:
    from refbrowser.exporting.request import ArrayChoice

    if not isinstance(index, str) or not index:
        return ArrayChoice.of(dataset, path, index)
    from refbrowser.views.plot.named_selection import selection_at

    array = dataset.array(ArrayChoice.of(dataset, path).path)
    return ArrayChoice(array.path, selection_at(array, index, token))
