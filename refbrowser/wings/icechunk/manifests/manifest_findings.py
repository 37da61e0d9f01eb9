"""Manifests that make reading slow, as findings of checks and audits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, Place
from refbrowser.findings.finding import Finding, FindingKind
from refbrowser.findings.kinds import WARNING
from refbrowser.limits import MIB
from refbrowser.wings.icechunk.manifests.manifest_words import split_words, step_words
from refbrowser.wings.icechunk.manifests.manifests import costs_of
from refbrowser.wings.icechunk.reading.opening import IcechunkOrigin

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl

#: Bytes of manifests that a step reads before it is a finding.
_MUCH = 8 * MIB
MANIFEST_LARGE = FindingKind(
    code="manifest-large",
    level="set",
    severity=WARNING,
    error=ErrorKind.FORMAT,
    title="array of an Icechunk repository with large manifests",
    meaning="whoever reads a few chunks first reads a manifest of very many",
    advice="Split the manifests: `refbrowser manifests REPOSITORY` prints how.",
)


def manifest_findings(dataset: Dataset, control: JobControl) -> list[Finding]:
    """Return the arrays of which a step reads many bytes of manifests, and few if these were split."""
    origin = dataset.document.made_from(IcechunkOrigin)
    if origin is None:
        return []
    found = []
    for array in costs_of(origin, dataset.hierarchy).arrays:
        if array.advice is not None and array.steps[0].size >= _MUCH:
            message = f"{step_words(array.steps[0])} of manifests; {split_words(array.advice)}"
            found.append(MANIFEST_LARGE.finding(message, Place(path=array.path)))
    return found
