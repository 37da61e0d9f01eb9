"""What is wrong with an opened dataset, as `check`, `info` and the window's list of findings tell it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.engine.findings.chunk_findings import chunk_findings
from refbrowser.engine.findings.key_findings import codec_findings, key_findings
from refbrowser.engine.findings.range_findings import range_findings
from refbrowser.engine.findings.url_findings import url_findings
from refbrowser.engine.reading.garbage_collection import collected_later
from refbrowser.errors import ErrorKind, Place, Severity
from refbrowser.findings.finding import Finding
from refbrowser.formats.zarr.metadata_json import NOT_FINITE
from refbrowser.model.multiscales.marks import has_images
from refbrowser.references.content.consolidated import CONSOLIDATED, HOLDS_NOT_FINITE
from refbrowser.references.content.finding_places import as_known, in_refs
from refbrowser.references.findings.rule_findings import all_findings
from refbrowser.references.rules.rule_search import SearchTime

if TYPE_CHECKING:
    from refbrowser.engine.findings.chunk_table import ChunkMarks
    from refbrowser.io.access.access import Access
    from refbrowser.model.nodes import Hierarchy
    from refbrowser.references.document.document import Document

#: Seconds that are spent on files, rows and URLs that arithmetic does not decide.
_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class DatasetFindings:
    """What was found.

    Attributes
    ----------
    document
        Of what the document says: its text, templates, rules, references.
    structure
        Of what it describes: groups and arrays, their metadata and keys.
    """

    document: tuple[Finding, ...]
    structure: tuple[Finding, ...]

    @property
    def all(self) -> list[Finding]:
        """All of them, those of the document first."""
        return [*self.document, *self.structure]


def dataset_findings(
    document: Document,
    hierarchy: Hierarchy | None,
    access: Access | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    marks: ChunkMarks | None = None,
) -> DatasetFindings:
    """Return everything that is wrong with a dataset, as far as it is known without reading data.

    Of a store that was listed, what the listing told is among it. Searches are bounded; what they leave
    open is told as not decided.

    Parameters
    ----------
    hierarchy
        What the document describes; None where that is not known.
    access
        What the document may read: the sizes of local files are asked for. None to look at no file.
    cancelled
        Asked now and then; what is left is then not looked at.
    marks
        Is told the chunks that findings are about, where these are many.
    """
    with collected_later():
        found = _of_document(document, hierarchy, access, cancelled, marks)
        of_document = tuple(as_known(document, found))
    structure: list[Finding] = []
    if hierarchy is not None:
        told = _Told(of_document)
        more = [each for each in hierarchy.findings if not told.has(each)]
        more += [*codec_findings(hierarchy), *_of_images(hierarchy)]
        structure += in_refs(document, more)
    if access is not None and access.memory.lock_fault is not None:
        structure.append(access.memory.lock_fault)
    store = document.store
    if store is not None and store.facts.listing is not None:
        structure += store.facts.listing.findings
    return DatasetFindings(of_document, tuple(structure))


def findings_at_hand(
    document: Document,
    hierarchy: Hierarchy | None,
    access: Access | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    marks: ChunkMarks | None = None,
) -> DatasetFindings:
    """Return what `dataset_findings` does, to describe a dataset: very many references are not read for it.

    That they were not is one of the findings then.
    """
    if not document.is_unread:
        return dataset_findings(document, hierarchy, access, cancelled, marks)
    unread = Finding(
        severity=Severity.WARNING,
        kind=ErrorKind.REF,
        message=f"{document.left:,} references are read as arrays are read, and were not checked",
        place=Place(document=document.name),
        advice="Run an audit, or `refbrowser check`, to read them all.",
    )
    structure = hierarchy.findings if hierarchy is not None else []
    return DatasetFindings((*document.noted(), unread), tuple(in_refs(document, structure)))


def _of_images(hierarchy: Hierarchy) -> Iterable[Finding]:
    if not has_images(hierarchy):
        return ()
    from refbrowser.model.multiscales.conventions import multiscale_findings

    return multiscale_findings(hierarchy)


def _of_document(
    document: Document,
    hierarchy: Hierarchy | None,
    access: Access | None,
    cancelled: Callable[[], bool],
    marks: ChunkMarks | None,
) -> Iterator[Finding]:
    yield from all_findings(document, cancelled)
    left = SearchTime(cancelled, _SECONDS)
    # Of a store and of other files each reference was made here.
    if not document.rules_are_made:
        yield from range_findings(document, access, left)
    yield from url_findings(document, left)
    if hierarchy is not None:
        yield from key_findings(document, hierarchy, left)
        yield from chunk_findings(document, hierarchy, left, marks)


class _Told:
    """What the findings of a document say about each key."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._of_keys: dict[str, tuple[set[str], set[ErrorKind]]] = {}
        for finding in findings:
            if finding.place.key is not None:
                messages, kinds = self._of_keys.setdefault(finding.place.key, (set(), set()))
                messages.add(finding.message)
                kinds.add(finding.kind)

    def has(self, finding: Finding) -> bool:
        """Tell whether a finding of the structure is one of them in other words."""
        key = finding.place.key
        if key is None or key not in self._of_keys:
            return False
        messages, kinds = self._of_keys[key]
        if finding.message in messages:
            return True
        if finding.message.endswith(NOT_FINITE) and HOLDS_NOT_FINITE in messages:
            return True
        # Metadata that is no JSON has no second fault; what contradicts consolidated metadata is told once.
        is_consolidated = key.rpartition("/")[2] == CONSOLIDATED
        return (finding.kind is ErrorKind.JSON and ErrorKind.JSON in kinds) or (
            is_consolidated and ErrorKind.META in kinds
        )
