"""What a dataset holds, as a function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from refbrowser.api import Path, Progress, control_of, dataset_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobControl
    from refbrowser.views.description import Description


@native_errors()
def info(
    dataset: Dataset | Path, *, allow: Iterable[str] = (), progress: Progress | None = None
) -> Description:
    """Return what is in a dataset: groups, dimensions, arrays with all that is known of them, and problems.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    allow
        Origins that may be read from, where `dataset` is a path.
    progress
        Called as `progress(done, total)` with the keys of a store that are listed.

    Returns
    -------
    Description
        Its text is what ``refbrowser info`` prints; `to_json()`, of which ``info(...)["arrays"]`` is part, is
        what ``--json`` prints; `findings` are findings.

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
    with dataset_of(dataset, allow) as opened:
        return description_of(opened, control_of(progress)).kept()


def description_of(dataset: Dataset, control: JobControl, below: str = "") -> Description:
    """Return what is in a dataset that stays open: each form is made when it is first asked for.

    `below` is a group or array: it alone is described, with what is below it.
    """
    from refbrowser.views.description import Description

    if dataset.document.store is not None:
        # So that missing chunks are known.
        from refbrowser.engine.store_listing import list_store

        control.stage("listing")
        list_store(dataset, control)
    return Description(dataset, control.token, below)
