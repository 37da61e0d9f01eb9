"""Where the files of a document lie, and whether they lie at another place: for verb, function and page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from refbrowser.engine.findings.collected_findings import failures_of
from refbrowser.engine.findings.file_probes import Probed, probe, probes_of
from refbrowser.engine.reading.garbage_collection import collected_later
from refbrowser.engine.sources import listed_sources_of
from refbrowser.tools.move.report.health import Health, health_judge
from refbrowser.tools.move.report.prefix_tree import PrefixNode, prefix_tree

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl
    from refbrowser.io.access.access import Access, Source
    from refbrowser.io.fetching.fetch import Fetcher
    from refbrowser.references.document.document import Document
    from refbrowser.tools.move.report.move_preview import MovePreview


def _unknown(source: Source) -> Health:
    return Health.UNKNOWN


def places_in(
    document: Document, control: JobControl, health: Callable[[Source], Health] = _unknown
) -> tuple[PrefixNode, ...]:
    """Return the places of the files of a document as it is written, without values for its templates.

    Parameters
    ----------
    health
        Tells what is known of a file.
    """
    said = document.with_template_values({}) if document.templates.values else document
    # Looking for garbage among so many nodes would hold up other threads.
    with collected_later():
        return prefix_tree(listed_sources_of(said, control.check), control.check, health)


def health_in(dataset: Dataset, asked: Mapping[str, str]) -> Callable[[Source], Health]:
    """Return what tells the health of files: by what was read of them, and what an audit was told.

    Parameters
    ----------
    asked
        As `refbrowser.tools.move.report.health.health_judge` has it.
    """
    return health_judge(dataset.access, failures_of(dataset), asked)


def tested(
    document: Document, preview: MovePreview, access: Access, fetcher: Fetcher, control: JobControl
) -> list[Probed]:
    """Look at some of the files that would move at their new places; nothing where nothing moves."""
    if preview.edit is None:
        return []
    return probe(probes_of(document, preview.edit), access, fetcher, control)
