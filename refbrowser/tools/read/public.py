"""Files of values as a function; programs read values by `array[...]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, Progress, control_of, dataset_of, path_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array
    from refbrowser.exporting.request import Loss


@native_errors()
def compute(
    dataset: Dataset,
    expression: str,
    datasets: Mapping[str, Dataset] | None = None,
    *,
    long_name: str = "",
    progress: Progress | None = None,
) -> Array:
    """Return an array that is computed of others, part by part when it is read.

    Parameters
    ----------
    dataset
        What the expression is about.
    expression
        Arrays by their paths, numbers, ``+ - * / **``, comparisons, and functions: ``/t2m - 273.15``,
        ``mean(/t2m, time)``, ``sqrt(/u**2 + /v**2)``, ``/t2m[time=2024-07] - by_position(/t2m[time=2024-01],
        time)``, ``where(/sst > 290, /sst, nan)``. ``NAME = ...`` names the array. Values are the physical
        ones, NaN where they are missing; dimensions go together by their names, and must have the same
        coordinates. The manual lists the functions.
    datasets
        More datasets by labels: their arrays are ``LABEL::/array``.
    long_name
        Of the array; empty for the expression.
    progress
        As `open` has it; of what is read to select and compare coordinates.

    Returns
    -------
    Array
        Of a dataset of its own, ``array.dataset``, with its coordinates, which `export` writes. It is read
        while the datasets are open.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the text is no expression, names what is not there, or puts together what does not fit:
        other units, sizes or coordinates.

    Examples
    --------
    >>> import refbrowser
    >>> with refbrowser.open("sea_surface.json") as dataset:
    ...     print(refbrowser.compute(dataset, "mean(/ocean/sst, lat, lon)").shape)
    (12,)
    """
    from refbrowser.views.derived.computed import computed

    labelled = {**(datasets or {}), "": dataset}
    return computed(expression, labelled, control_of(progress).token, long_name)


@native_errors()
def write_values(
    dataset: Dataset | Path,
    array: str,
    target: Path,
    index: Any = ...,
    *,
    force: bool = False,
    allow: Iterable[str] = (),
    progress: Progress | None = None,
) -> tuple[Loss, ...]:
    """Write values of an array to a file, in the form that its suffix says.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    array
        Path of the array.
    target
        ``.npy`` and ``.json`` hold values as they are stored, ``.csv`` has a row for each element with its
        coordinates and the decoded value; ``.parquet`` and ``.nc`` are what `export` writes, the latter with
        the coordinates. Of ``.json`` and ``.csv`` a few values are in memory at a time.
    index
        Integers, slices and ``...`` as in ``array[index]``, or text as ``--select`` takes it.
    force
        Replace the target.
    allow
        Origins that may be read from, where `dataset` is a path.
    progress
        Called as `progress(done, total, read_bytes=..., requests=...)`.

    Returns
    -------
    tuple of Loss
        What the form cannot hold.

    Raises
    ------
    RefbrowserError
        There is no such array, the index does not fit, values cannot be read or the form cannot hold them;
        the target is there or cannot be written.

    Examples
    --------
    >>> import refbrowser
    >>> refbrowser.write_values("sea_surface.json", "/ocean/sst", "march.csv", "time=2024-03,lat=0:10")
    ()
    """
    from refbrowser.io.files.atomic import write_atomically
    from refbrowser.tools.read.value_files import (
        CSV,
        EXPORTED,
        check_count,
        form_of,
        held_values,
        write_csv,
        write_exported,
    )
    from refbrowser.views.plot.element_rows import ElementRows
    from refbrowser.views.plot.named_selection import selection_at

    path, control = path_of(target), control_of(progress)
    form = form_of(path, force=force)
    with dataset_of(dataset, allow) as opened:
        found = opened.array(array)
        selection = selection_at(found, index, control.token)
        if form in EXPORTED:
            return write_exported(found, selection, path, control, lambda error: False, force=force).losses
        check_count(found, selection)
        if form == CSV:
            write_csv(found, ElementRows(found, control.token), selection, path, control)
            return ()
        with held_values(found, selection, form, control) as portions:
            write_atomically(path, portions)
        return ()
