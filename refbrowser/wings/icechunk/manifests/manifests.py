"""What the manifests of an Icechunk repository cost, as a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.model.nodes import Hierarchy
from refbrowser.wings.icechunk.manifests.manifest_costs import ManifestCosts, manifest_costs
from refbrowser.wings.icechunk.manifests.manifest_words import cost_lines
from refbrowser.wings.icechunk.manifests.request import ManifestsRequest
from refbrowser.wings.icechunk.reading.opening import IcechunkOrigin

#: Files that are read to open a snapshot: of version 1 its branch and the configuration; of 2 one for both.
_FILES = {1: 3, 2: 2}


@dataclass(frozen=True, slots=True)
class Manifests:
    """The manifests of a snapshot, and what they cost.

    Attributes
    ----------
    path
        Of the repository.
    snapshot
        Its identifier.
    """

    path: str
    snapshot: str
    costs: ManifestCosts

    def lines(self) -> Iterator[str]:
        """Yield it as lines of text."""
        return cost_lines(self.costs)

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        said = asdict(self.costs)
        for array in said["arrays"]:
            array["bytes"] = array.pop("size")
            array["shared"] = array.pop("is_shared")
            for each in (*array["steps"], *array["splits"], *filter(None, [array["advice"]])):
                each["bytes"] = round(each.pop("size"))
        said["bytes"] = said.pop("size")
        said["opening_bytes"] = said.pop("opening")
        return {"path": self.path, "snapshot": self.snapshot, **said}

    def exit_code(self) -> int:
        """Return 0."""
        return 0


def manifests(request: ManifestsRequest, dataset: Dataset, control: JobControl) -> Manifests:
    """Return what the manifests of the snapshot that a dataset is cost.

    Raises
    ------
    RefbrowserError
        E_USAGE: it is of no Icechunk repository, there is no such array, or a splitting is none.
    """
    origin = dataset.document.made_from(IcechunkOrigin)
    if origin is None:
        message = "this is no Icechunk repository: only those have manifests"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=dataset.path))
    costs = costs_of(origin, dataset.hierarchy, request.array, request.split_size)
    return Manifests(origin.path, origin.snapshot.facts.id, costs)


def costs_of(
    origin: IcechunkOrigin, hierarchy: Hierarchy, arrays: Iterable[str] = (), splits: Iterable[str] = ()
) -> ManifestCosts:
    """Return what the manifests of a snapshot that is open cost; the parameters are those of the request."""
    return manifest_costs(origin.snapshot, hierarchy, _FILES[origin.repository.version], arrays, splits)
