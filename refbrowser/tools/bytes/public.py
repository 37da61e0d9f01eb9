"""Plans of reading, and what reading costs, as functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, Progress, control_of, dataset_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.engine.reading.reader import ReadPlan
    from refbrowser.tools.bytes.report.reading_costs import CostTable


@native_errors()
def plan(
    dataset: Dataset | Path,
    array: str,
    index: Any = ...,
    *,
    allow: Iterable[str] = (),
    progress: Progress | None = None,
) -> ReadPlan:
    """Return which requests reading part of an array needs; of data nothing is read.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    array
        Path of the array.
    index
        Integers, slices and ``...`` as in ``array[index]``, or text as ``--select`` takes it: values of
        coordinates are looked up in these, which are read.
    allow
        Origins that may be read from, where `dataset` is a path.
    progress
        Called as `progress(done, total, ...)`.

    Returns
    -------
    ReadPlan
        `requests`, `useful_bytes`, `wasted_bytes`, `chunks`; its text sums them up.

    Examples
    --------
    >>> import refbrowser
    >>> print(refbrowser.plan("sea_surface.json", "/ocean/sst", 0).chunks)
    2
    >>> print(refbrowser.plan("sea_surface.json", "/ocean/sst", "time=2024-03").chunks)
    2
    """
    from refbrowser.views.plot.named_selection import selection_at

    with dataset_of(dataset, allow) as opened:
        found = opened.array(array)
        return found.plan(selection_at(found, index, control_of(progress).token))


@native_errors()
def cost(
    dataset: Dataset | Path,
    array: str,
    chunks: Iterable[str | Sequence[int]] = (),
    *,
    allow: Iterable[str] = (),
) -> CostTable:
    """Return what a map, a series, a profile and all of an array cost to read, with other chunks, too.

    Nothing is read.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    array
        Path of the array.
    chunks
        Shapes of chunks beside those that are compared anyway: ``(1, 180, 360)``, or ``"1,:,:"`` with ``:``
        for a whole dimension.
    allow
        Origins that may be read from, where `dataset` is a path.

    Returns
    -------
    CostTable
        `chunkings` (the first one is that of the array), `reaches`, and `cost(chunking, reach)` with
        `requests`, `read_bytes`, `used_bytes` and `seconds`; or why that is not known.

    Raises
    ------
    RefbrowserError
        The array cannot be read or has no chunks; `chunks` do not fit it.

    Examples
    --------
    >>> import refbrowser
    >>> table = refbrowser.cost("sea_surface.json", "/ocean/sst", [(12, 10, 10)])
    >>> [chunking.text for chunking in table.chunkings]
    ['1,90,360', '1,180,360', '12,90,180', '12,10,10']
    """
    from refbrowser.engine.session import readable_grid
    from refbrowser.tools.bytes.report.reading_costs import cost_table, own_chunkings, reaches_of

    with dataset_of(dataset, allow) as opened:
        node = opened.array(array).node
        readable_grid(node)
        shapes = (chunks,) if isinstance(chunks, str) else chunks
        texts = [each if isinstance(each, str) else ",".join(map(str, each)) for each in shapes]
        own, reaches = own_chunkings(texts, node.shape), reaches_of(opened.hierarchy, node)
        return cost_table(opened.session, opened.access, node, reaches, own)
