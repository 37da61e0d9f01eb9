"""Arrays that are in Awkward 0 already: their expressions and blobs go over as they are.

So cycles, shared parts, classes of vectors and arrays of enormous lengths stay what they are. Only what is
sound is copied: each function is one of the table, there are no pickles, every blob is there, and all values
can be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.engine.awkward0_soundness import row_findings
from refbrowser.engine.jobs import JobControl
from refbrowser.exporting.request import Loss
from refbrowser.formats.awkward0.arrays import Awkward0Array, blob_finder
from refbrowser.formats.awkward0.container import Blob
from refbrowser.formats.awkward0.expressions import ExpressionKind, SchemaDocument
from refbrowser.formats.awkward0.functions import Standing, canonical_name
from refbrowser.formats.awkward0.lengths import length_of
from refbrowser.formats.awkward0.naming import schema_name
from refbrowser.formats.awkward0.origin import Awkward0Origin
from refbrowser.formats.awkward0.safety import report
from refbrowser.formats.awkward0.writing.blobs import Sink
from refbrowser.formats.awkward0.writing.expressions import MODULE, Json, Said
from refbrowser.formats.awkward0.writing.naming import Naming
from refbrowser.formats.awkward0.writing.serialize import put_schema
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline, WholeFile

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken

#: Bytes of a blob that are read at once.
PORTION = 16 * 1024 * 1024
#: How containers store what can be read in parts.
_IN_PARTS = ("stored", "file", "hdf5")


@dataclass(frozen=True, slots=True)
class CopiedArray:
    """One array that is copied.

    Attributes
    ----------
    name
        In the target.
    blobs
        By the names that expressions have for them, without the array's prefix.
    """

    name: str
    path: str
    schema: SchemaDocument
    blobs: dict[str, Blob]
    length: int | None
    losses: tuple[Loss, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of its blobs."""
        return sum(blob.size for blob in self.blobs.values())

    @property
    def steps(self) -> int:
        """In how many steps it is written."""
        return max(1, len(self.blobs))

    def blob_names(self, naming: Naming) -> list[str]:
        """Return the names of all blobs, its description last."""
        prefix = naming.prefix(self.name)
        return [*(prefix + each for each in self._keys(naming).values()), naming.schema(self.name)]

    def _keys(self, naming: Naming) -> dict[str, str]:
        """Return the names in the target for those in expressions."""
        return {name: f"{number}{naming.suffix}" for number, name in enumerate(self.blobs)}

    def check(self, dataset: Dataset, token: CancelToken) -> None:
        """Read all blobs.

        Raises
        ------
        RefbrowserError
            One cannot be read.
        """
        for blob in self.blobs.values():
            for _ in _pieces(dataset, blob, token):
                token.check()

    def check_values(self, dataset: Dataset, token: CancelToken) -> None:
        """Read all values: blobs that are sound each may contradict one another.

        Raises
        ------
        RefbrowserError
            Something cannot be read.
        """
        node = dataset.hierarchy.find(self.path)
        if not isinstance(node, ArrayNode) or (node.nested is None and not node.codecs):
            return
        for finding in row_findings(dataset, node, JobControl(token)):
            raise finding.error()

    def put(self, dataset: Dataset, sink: Sink, naming: Naming, token: CancelToken) -> Iterator[Blob]:
        """Put its blobs and its description; yields each blob that was put.

        Raises
        ------
        RefbrowserError
            A blob cannot be read.
        OSError
            The target cannot be written.
        """
        keys, prefix = self._keys(naming), naming.prefix(self.name)
        for name, blob in self.blobs.items():
            sink.put(prefix + keys[name], _pieces(dataset, blob, token), blob.size)
            yield blob
        root = _modern(json.loads(self.schema.text)["schema"], keys)
        put_schema(root, sink, self.name, naming, Said(self.schema.doc, self.schema.metadata))


def copied_array(dataset: Dataset, array: Awkward0Array, name: str) -> CopiedArray | None:
    """Return an array of the file behind a dataset as one that is copied; None where it is not sound."""
    schema, built = array.schema, array.built
    if schema is None or built is None or array.error is not None or schema.findings or built.findings:
        return None
    found = report([array])
    if found.pickles or any(use.verdict.standing is not Standing.ALLOWED for use in found.functions):
        return None
    blobs: dict[str, Blob] = {}
    origin = dataset.document.derived
    if not isinstance(origin, Awkward0Origin):
        return None
    find = blob_finder(origin.container, schema_name(array.member, schema.prefix))
    for expression in schema.expressions:
        if expression.kind is ExpressionKind.READ:
            blob = None if expression.is_absolute else find(schema.prefix + expression.value)
            if blob is None or blob.error is not None:
                return None
            blobs[expression.value] = blob
    return CopiedArray(name, array.path, schema, blobs, length_of(built.layout))


def _pieces(dataset: Dataset, blob: Blob, token: CancelToken) -> Iterator[bytes]:
    """Yield the bytes of a blob, free of what the container packs them in."""
    reference = blob.reference
    if isinstance(reference, Inline) or blob.method not in _IN_PARTS or blob.size <= PORTION:
        yield dataset.session.read_reference(blob.name, reference, dataset.access, token)
        return
    assert isinstance(reference, ByteRange | WholeFile)
    start = reference.offset if isinstance(reference, ByteRange) else 0
    for at in range(0, blob.size, PORTION):
        part = ByteRange(reference.url, start + at, min(PORTION, blob.size - at))
        yield dataset.session.read_reference(blob.name, part, dataset.access, token)


def _modern(node: Json, keys: dict[str, str]) -> Json:
    """Return an expression as the last release spells it, with the names of the target."""
    made: Json = {}
    for name, value in node.items():
        if name in ("call", "function"):
            made[name] = _spelled(value)
        elif name == "read":
            made[name] = keys[value]
        elif name in ("args", "list", "tuple"):
            made[name] = [_modern(each, keys) for each in value]
        elif name in ("kwargs", "dict"):
            made[name] = {key: _modern(each, keys) for key, each in value.items()}
        elif name == "pairs":
            made[name] = [[key, _modern(each, keys)] for key, each in value]
        elif name != "absolute":
            made[name] = value
    return made


def _spelled(function: list[str]) -> list[str]:
    """Return a function in the spelling that awkward0 reads (persistence notes, section 2)."""
    if canonical_name(function) == "frombuffer":
        return [MODULE, "numpy", "frombuffer"]
    library, _, inner = function[0].partition(".")
    if library not in ("awkward", MODULE):
        return function
    return [MODULE if not inner or inner.startswith("array.") else f"{MODULE}.{inner}", *function[1:]]


def source_arrays(dataset: Dataset) -> dict[str, Awkward0Array]:
    """Return the arrays of the file of Awkward 0 behind a dataset by path; none of other formats."""
    origin = dataset.document.derived
    return {each.path: each for each in origin.arrays} if isinstance(origin, Awkward0Origin) else {}
