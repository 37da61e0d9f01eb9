"""The hierarchy of a document, with metadata that it does not hold but refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from refbrowser.engine.lending import with_lent_codecs
from refbrowser.engine.reading.garbage_collection import collected_later
from refbrowser.engine.reading.resources import Resources
from refbrowser.errors import RefbrowserError
from refbrowser.formats.references import hierarchy_of
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import Hierarchy
from refbrowser.model.reference import Inline, Missing, Reference, columns_of
from refbrowser.references.document.document import Document
from refbrowser.references.rules.layouts import NotDecided

#: Bytes of metadata that were read from elsewhere, or why they could not be, by where they are.
Elsewhere = Mapping[Reference, "bytes | RefbrowserError"]


def described(
    document: Document,
    access: Access,
    resources: Resources,
    token: CancelToken,
    known: Elsewhere,
) -> tuple[Hierarchy, Elsewhere]:
    """Return what a document describes, and the metadata that was read from elsewhere.

    Metadata that the document refers to is read where that is permitted; else the error of its node names
    what to permit.

    Parameters
    ----------
    known
        Metadata that was read before, so that an edit does not read it again.
    """
    with collected_later():
        return _described(document, access, resources, token, known)


def _described(
    document: Document,
    access: Access,
    resources: Resources,
    token: CancelToken,
    known: Elsewhere,
) -> tuple[Hierarchy, Elsewhere]:
    found = dict(_references_of_metadata(document))
    references = {key: reference for key, reference in found.items() if not isinstance(reference, Inline)}
    elsewhere = _read(references, access, resources, token, known)
    # What is inline goes along: it would be looked up and parsed a second time.
    metadata = _Metadata(
        {
            key: reference.data if isinstance(reference, Inline) else elsewhere[reference]
            for key, reference in found.items()
        }
    )
    return with_lent_codecs(hierarchy_of(document, metadata), access.lenders), elsewhere


class _Metadata(Mapping[str, bytes]):
    """Metadata by key; asking for one that could not be read raises why."""

    def __init__(self, answers: Mapping[str, bytes | RefbrowserError]) -> None:
        self._answers = answers

    def __getitem__(self, key: str) -> bytes:
        answer = self._answers[key]
        if isinstance(answer, RefbrowserError):
            raise answer
        return answer

    def __contains__(self, key: object) -> bool:
        return key in self._answers

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)


def _references_of_metadata(document: Document) -> Iterator[tuple[str, Reference]]:
    """Yield metadata keys with what they stand for; where values are known, those that are elsewhere."""
    known = document.known
    for key in document.expansion.metadata_keys() if known is None else known.elsewhere:
        try:
            reference = document.expansion.metadata_reference(key)
        except RefbrowserError:
            continue
        if isinstance(reference, None | NotDecided | Missing):
            continue
        yield key, reference


def _read(
    references: Mapping[str, Reference],
    access: Access,
    resources: Resources,
    token: CancelToken,
    known: Elsewhere,
) -> dict[Reference, bytes | RefbrowserError]:
    found = {
        reference: known[reference]
        for reference in references.values()
        if isinstance(known.get(reference), bytes)
    }
    keys = {reference: key for key, reference in references.items() if reference not in found}
    asked = list(keys)
    if asked:
        answers = resources.fetch_all(
            columns_of(asked),
            access,
            token=token,
            key=lambda row: keys[asked[row]],
            size_limit=LIMITS.inline_value,
            total_limit=LIMITS.metadata_elsewhere,
        )
        found |= dict(zip(asked, answers, strict=True))
    return found
