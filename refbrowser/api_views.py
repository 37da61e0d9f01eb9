"""What ``import refbrowser`` gives to programs that compare, merge and look into datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, StorageOptions, control_of, open, path_of, settings_of, texts_of
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.opening import OpenRequest
from refbrowser.errors import ErrorKind, Finding, RefbrowserError, native_errors, quoted
from refbrowser.model.selection import Selection, SelectionError

if TYPE_CHECKING:
    from refbrowser.engine.comparing.differences import Comparison
    from refbrowser.engine.reading.reader import ReadPlan
    from refbrowser.references.merging.merge import Merged
    from refbrowser.views.description import Description
    from refbrowser.views.explain.explanation import Explanation


@native_errors()
def diff(
    here: Dataset | Path,
    there: Dataset | Path,
    *,
    values: str = "auto",
    arrays: Iterable[str] = (),
    ignore: Iterable[str] = (),
    html: Path | None = None,
    allow: Iterable[str] = (),
    progress: Callable[..., None] | None = None,
) -> Comparison:
    """Tell how two datasets of any format differ.

    Parameters
    ----------
    here, there
        Opened datasets, or what to open.
    values
        ``auto`` (a sample of the arrays whose references do not tell whether they are the same), ``none``,
        ``sample`` (some blocks of each array, always the same ones) or ``all``.
    arrays
        Paths of the arrays that are compared; all when there are none.
    ignore
        Kinds of differences that do not count: ``layout``, ``references``, ``attributes``...
    html
        The file of a report as one page.
    allow
        Origins that may be read from, where a dataset is a path.
    progress
        Called as `progress(done, total, note=...)`.

    Returns
    -------
    Comparison
        `is_equal` (None where nothing differs, but not all was compared), `verdict` (what tells that they are
        equal: ``same references``, ``same bytes``, ``same values (all)``, ``same values (sample)``; else
        ``different`` or ``not compared``), `differences` (whole, one for each thing), `arrays` (references as
        grids of states, and values), and `to_json()`.

    Raises
    ------
    RefbrowserError
        One cannot be opened; neither has an array of `arrays`; there is no kind of `ignore`.
    """
    from refbrowser.engine.comparing.comparison import CompareRequest, compare_datasets
    from refbrowser.engine.comparing.differences import DifferenceKind, difference_kind

    kinds: frozenset[DifferenceKind] = frozenset(map(difference_kind, texts_of(ignore)))
    request = CompareRequest(values, texts_of(arrays), kinds)
    with ExitStack() as stack:
        one, other = (
            each if isinstance(each, Dataset) else stack.enter_context(open(each, allow=allow))
            for each in (here, there)
        )
        found = compare_datasets(one, other, request, control_of(progress))
    if html is not None:
        from refbrowser.io.atomic import write_atomically
        from refbrowser.views.comparing.comparison_html import comparison_html

        write_atomically(path_of(html), [comparison_html(found).encode("utf-8", "replace")])
    return found


@native_errors()
def merge(
    base: Path,
    ours: Path,
    theirs: Path,
    target: Path | None = None,
    *,
    favor: str | None = None,
    force: bool = False,
    progress: Callable[..., None] | None = None,
) -> Merged:
    """Merge what two sides changed of a reference document.

    Parameters
    ----------
    base
        The document that both sides began with.
    ours, theirs
        What became of it; the result is `ours` with edits.
    target
        The file to be made, which may be `ours`; None for none.
    favor
        ``ours`` or ``theirs``: whose value is taken where both changed a place.
    force
        Replace the target.
    progress
        Called as `progress(done, total, note=...)`.

    Returns
    -------
    Merged
        The merged `document`, its `edits`, the `conflicts` that are left (place, the three values, and the
        `edit` that settles it), and `warnings`.

    Raises
    ------
    RefbrowserError
        A document cannot be read, or is none; the target is there.
    """
    from refbrowser.exporting.saving.merged_file import MergeRequest, merge_files
    from refbrowser.references.merging.merge import Choice

    if favor not in (None, Choice.OURS, Choice.THEIRS):
        raise RefbrowserError(ErrorKind.USAGE, f"favor is 'ours' or 'theirs', not {quoted(favor)}")
    before, mine, other = (OpenRequest(path_of(each)) for each in (base, ours, theirs))
    request = MergeRequest(
        before,
        mine,
        other,
        target=None if target is None else path_of(target),
        favor=None if favor is None else Choice(favor),
        force=force,
    )
    return merge_files(request, control_of(progress))


@native_errors()
def info(dataset: Dataset | Path, *, allow: Iterable[str] = ()) -> Description:
    """Return what is in a dataset: groups, dimensions, arrays with all that is known of them, and problems.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    allow
        Origins that may be read from, where `dataset` is a path.

    Returns
    -------
    Description
        Its text is what ``refbrowser info`` prints; `to_json()`, of which ``info(...)["arrays"]`` is part, is
        what ``--json`` prints; `problems` are findings.

    Raises
    ------
    RefbrowserError
        It cannot be opened.

    Examples
    --------
    >>> import refbrowser
    >>> refbrowser.info("sea_surface.json")["arrays"]["/ocean/sst"]["shape"]
    [12, 180, 360]
    """
    from refbrowser.engine.store_listing import list_store
    from refbrowser.io.cancel import CancelToken
    from refbrowser.views.description import Description

    with _opened(dataset, allow) as opened:
        list_store(opened)
        return Description(opened, CancelToken()).kept()


@native_errors()
def plan(dataset: Dataset | Path, array: str, index: Any = ..., *, allow: Iterable[str] = ()) -> ReadPlan:
    """Return which requests reading part of an array needs; nothing is read.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    array
        Path of the array.
    index
        Integers, slices and ``...`` as in ``array[index]``, or text as ``--select`` takes it.
    allow
        Origins that may be read from, where `dataset` is a path.

    Returns
    -------
    ReadPlan
        `requests`, `useful_bytes`, `wasted_bytes`, `chunks`; its text sums them up.

    Examples
    --------
    >>> import refbrowser
    >>> print(refbrowser.plan("sea_surface.json", "/ocean/sst", 0).chunks)
    2
    """
    with _opened(dataset, allow) as opened:
        found = opened.array(array)
        is_text = isinstance(index, str)
        return found.plan(found.selection(index) if is_text else Selection.from_index(index, found.shape))


@native_errors()
def explain(
    dataset: Dataset | Path,
    array: str = "",
    index: int | Iterable[int] = (),
    *,
    key: str | None = None,
    allow: Iterable[str] = (),
) -> Explanation:
    """Explain why an element has the value that it has, step by step; its one chunk is read.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    array, index
        Path of the array, and the index of the element along each dimension.
    key
        A key of the document, in place of an element.
    allow
        Origins that may be read from, where `dataset` is a path.

    Returns
    -------
    Explanation
        `verdict`, `steps` and `to_json()`; its text says all.

    Raises
    ------
    RefbrowserError
        There is no such array, element or key.

    Examples
    --------
    >>> import refbrowser
    >>> refbrowser.explain("sea_surface.json", "/ocean/sst", (0, 90, 180)).verdict
    'This element is 27.658 degree_Celsius'
    """
    from refbrowser.io.cancel import CancelToken
    from refbrowser.views.explain.explain import Question
    from refbrowser.views.explain.explain import explain as answer

    if (key is None) != bool(array):
        raise RefbrowserError(ErrorKind.USAGE, "an explanation is of an array and an index, or of a key")
    with _opened(dataset, allow) as opened:
        if key is not None:
            return answer(opened, Question(key=key), CancelToken())
        found = opened.array(array)
        at = (index,) if isinstance(index, int) else tuple(index)
        chosen = Selection.from_index(at, found.shape)
        if len(chosen.dropped) != found.ndim:
            message = f"the array has {found.ndim} dimensions, the index {len(at)}"
            raise SelectionError(ErrorKind.USAGE, message)
        place = tuple(each.start for each in chosen.axes)
        return answer(opened, Question(array=found.path, index=place), CancelToken())


@native_errors()
def check(
    document: Path,
    *,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    templates: Mapping[str, str] | None = None,
    progress: Callable[..., None] | None = None,
) -> list[Finding]:
    """Return what is wrong with a document and what it describes; what it refers to is not read.

    Parameters
    ----------
    document
        A path or URL.
    allow, storage_options, templates
        As `open` has them.
    progress
        Called as `progress(done, total, ...)`.

    Returns
    -------
    list of Finding
        Each with `severity`, `message`, `place` and `advice`; empty where nothing is wrong.

    Raises
    ------
    RefbrowserError
        It cannot be opened.

    Examples
    --------
    >>> import refbrowser
    >>> for finding in refbrowser.check("sea_surface.json"):
    ...     print(finding.severity, finding.message)
    warning 1 of 12 chunks have no reference, the others have one
    warning 4 of 96 chunks have no reference, the others have one
    """
    from refbrowser.engine.problems.checking import checked_findings

    path, allowed = path_of(document), texts_of(allow)
    settings = settings_of(storage_options, [path, *allowed])
    request = OpenRequest(path, allowed, settings, dict(templates or {}))
    return checked_findings(request, lambda _: nullcontext(control_of(progress)))


def _opened(dataset: Dataset | Path, allow: Iterable[str]) -> AbstractContextManager[Dataset]:
    """Return what gives a dataset, and closes it where it was opened here."""
    return nullcontext(dataset) if isinstance(dataset, Dataset) else open(dataset, allow=allow)
