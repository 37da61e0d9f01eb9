"""Other names of arrays and dimensions of the result: files are told by the names that they have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import quoted, usage_error
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.metadata_keys import METADATA_NAMES
from refbrowser.references.content.value_table import json_of
from refbrowser.references.document.manifest import ManifestBuilder

#: Attributes whose values name arrays and dimensions (CF conventions 1.11).
_NAMING = (
    "coordinates", "bounds", "climatology", "grid_mapping", "formula_terms", "ancillary_variables",
    "cell_measures", "cell_methods", "geometry", "node_coordinates", "node_count", "part_node_count",
)  # fmt: skip
_WORD = re.compile(r"[^\s:]+")


@dataclass(frozen=True, slots=True)
class Names:
    """The new names of arrays and dimensions, by their names or paths in files."""

    new: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Names:
        """Return what ``OLD=NEW`` say.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: one is not of this form, or a name is said twice.
        """
        found: dict[str, str] = {}
        for text in texts:
            old, equals, new = text.partition("=")
            is_name = bool(new) and "/" not in new and new not in (".", "..") and new not in METADATA_NAMES
            if not equals or not old or not is_name:
                raise usage_error(f"{quoted(text)} is not of the form OLD=NEW", "for example t=temperature")
            if old in found or new in found.values():
                raise usage_error(f"{quoted(old if old in found else new)} is named twice")
            found[old] = new
        return cls(found)

    def check(self, paths: Iterable[str], dimensions: Iterable[str]) -> None:
        """Raise `E_USAGE` where there is nothing of a name, or something of the new one already."""
        paths, dimensions = set(paths), set(dimensions)
        for old, new in self.new.items():
            arrays = [each for each in paths if old in (each, each.rpartition("/")[2])]
            if not arrays and old not in dimensions:
                known = sorted({*(each.rpartition("/")[2] for each in paths), *dimensions})
                meant = get_close_matches(old, known, 1)
                advice = (
                    f"did you mean {quoted(meant[0])}?" if meant else f"there are {', '.join(known[:20])}"
                )
                raise usage_error(f"there is no array or dimension {quoted(old)}", advice)
            if new in dimensions - {*self.new} and old in dimensions:
                raise usage_error(f"there is a dimension {quoted(new)} already")
        after = [self.path(each) for each in paths]
        if twice := [each for each in after if after.count(each) > 1]:
            raise usage_error(f"two arrays would be called {quoted(twice[0])}")

    def path(self, path: str) -> str:
        """Return the path of an array in the result; with or without the ``/`` at its beginning."""
        group, slash, name = path.rpartition("/")
        whole = f"/{path.lstrip('/')}"
        return group + slash + self.new.get(whole, self.new.get(name, name))

    def dimension(self, name: str) -> str:
        """Return the name of a dimension in the result."""
        return self.new.get(name, name)

    def attributes(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return attributes that name arrays and dimensions as the result has them."""
        return {
            name: _WORD.sub(lambda match: self.dimension(match[0]), value)
            if name in _NAMING and isinstance(value, str)
            else [self.dimension(each) for each in value]
            if name == DIMENSIONS_ATTRIBUTE
            else value
            for name, value in attributes.items()
        }


@dataclass(slots=True)
class RenamedManifest(ManifestBuilder):
    """Gathers metadata and references under new names.

    Attributes
    ----------
    names
        The new names.
    arrays
        Paths of the arrays that keys are of, without ``/`` at their beginning.
    """

    names: Names = field(default_factory=Names)
    arrays: frozenset[str] = frozenset()

    def add_metadata(self, documents: Mapping[str, bytes]) -> None:
        """Add metadata documents, in which dimensions and attributes have the new names, too."""
        renamed = {self._key(key): self._text(key, data) for key, data in documents.items()}
        ManifestBuilder.add_metadata(self, renamed)

    def add_bytes(self, key: str, data: bytes) -> None:
        """Add the bytes of a chunk."""
        ManifestBuilder.add_bytes(self, self._key(key), data)

    def add_columns(
        self,
        prefix: str,
        coords: npt.NDArray[np.int64],
        numbers: npt.NDArray[np.int32],
        offsets: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int64],
        encoding: ChunkKeyEncoding,
    ) -> None:
        """Add the chunks of an array that are ranges of many files."""
        prefix = f"{self.names.path(prefix.rstrip('/'))}/"
        ManifestBuilder.add_columns(self, prefix, coords, numbers, offsets, lengths, encoding)

    def _key(self, key: str) -> str:
        at = key.find("/")
        while at >= 0:
            if key[:at] in self.arrays:
                return self.names.path(f"/{key[:at]}")[1:] + key[at:]
            at = key.find("/", at + 1)
        return key

    def _text(self, key: str, data: bytes) -> bytes:
        told = json.loads(data)
        if key.endswith(".zattrs"):
            return json_of(self.names.attributes(told))
        if "dimension_names" in told:
            told["dimension_names"] = [self.names.dimension(each) for each in told["dimension_names"]]
        if "attributes" in told:
            told["attributes"] = self.names.attributes(told["attributes"])
        return json_of(told)
