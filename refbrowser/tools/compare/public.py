"""Comparing as a function."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from refbrowser.api import Path, Progress, control_of, dataset_of, path_of, texts_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.engine.comparing.differences import Comparison


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
    progress: Progress | None = None,
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
    from refbrowser.engine.comparing.differences import difference_kind

    kinds = tuple(map(difference_kind, texts_of(ignore)))
    request = CompareRequest(values, texts_of(arrays), kinds)
    with ExitStack() as stack:
        one, other = (stack.enter_context(dataset_of(each, allow)) for each in (here, there))
        found = compare_datasets(one, other, request, control_of(progress))
    if html is not None:
        from refbrowser.io.files.atomic import write_atomically
        from refbrowser.tools.compare.comparison_html import page_of
        from refbrowser.views.reports.html_page import page_bytes

        write_atomically(path_of(html), [page_bytes(page_of(found))])
    return found
