"""Add files to a reference document along a dimension: one edit, which leaves all else as it is."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from refbrowser.engine.compute import HERE, Compute
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import CombinedProof, gather, plan_of
from refbrowser.exporting.combining.combined import Plan, blocked, combined_document
from refbrowser.exporting.combining.mismatches import ArrayOfFiles, Mismatch
from refbrowser.exporting.combining.properties import FileSet, Values, all_coords, looked_at
from refbrowser.exporting.saving.making import sources_of
from refbrowser.exporting.saving.save import SaveOrder, write_document
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.references.document.document import Document
from refbrowser.references.edits.edits import Compound, Edit, SetMetadata
from refbrowser.references.edits.many_edits import RemoveReferences, SetReferences, runs_of

#: Elements of a coordinate that are compared to find the dimension.
_COMPARED = 1 << 24
#: A brace that jinja would take for more than text.
_BEGIN = re.compile(r"\{(?=[{%#])")
#: What the values of an array that stand in the document change of its metadata.
_OF_VALUES = (
    "shape",
    "chunks",
    "dtype",
    "compressor",
    "filters",
    "order",
    "chunk_grid",
    "codecs",
    "data_type",
)


@dataclass(slots=True, kw_only=True)
class Appended:
    """What was added to a document.

    Attributes
    ----------
    along
        The dimension that got longer, and its length before and after.
    files
        How many were added.
    left_out
        Those that were not, with why.
    mismatches
        What differs in them, and is harmless.
    references
        Entries that were added or changed.
    compared, unread
        Chunks whose values were those of their files, and those that could not be read.
    """

    target: str
    along: str
    before: int
    after: int
    files: int
    left_out: list[tuple[str, str]] = field(default_factory=list)
    mismatches: list[Mismatch] = field(default_factory=list)
    references: int = 0
    compared: int = 0
    unread: int = 0


def append_files(
    target: str,
    request: Combination,
    control: JobControl | None = None,
    compute: Compute = HERE,
    told: Any = lambda plan: None,
) -> Appended:
    """Add files to a document, and write it.

    Parameters
    ----------
    target
        The document.
    request
        The files (`sources`), and what is done about what differs; `target` is what is written, the document
        itself where it is empty. The dimension is found where `concat` is empty.
    told
        Called with the `Plan` before anything is written.

    Raises
    ------
    RefbrowserError
        `E_META`: a difference stands against it; `E_USAGE`: it is not plain along which dimension; a file or
        the document cannot be read, or the document cannot be written.
    Cancelled
        The control's token was cancelled.
    """
    control = control or JobControl()
    opening = OpenRequest(
        target,
        allow=request.allow,
        storage_options=request.storage_options,
        settings=request.settings,
        stale=request.stale,
    )
    out = request.target or target
    with open_dataset(opening, control) as dataset:
        if dataset.document.from_parquet or "://" in out:
            message = "files are added to documents of text on this computer"
            raise RefbrowserError(ErrorKind.USAGE, message, Place(document=target), "give -o OUT.json")
        if out != target and os.path.exists(out) and not request.force:
            message = "the document is there already"
            raise RefbrowserError(ErrorKind.IO, message, Place(document=out), "give --force")
        plan = append_plan(dataset, request, control, compute)
        told(plan)
        edit = append_edit(dataset, plan, control)
        document = dataset.document.apply(edit)
        changed = dataset.with_document(document, control)
        proof = CombinedProof(plan)
        proof.check(changed, range(1, len(plan.files)), control.token)
        expected = None if out != target else _identity(target)
        write_document(document, SaveOrder(out, is_copy=out != target), expected, control.token)
        axis = plan.axes[0]
        return Appended(
            target=out,
            along=axis.name,
            before=axis.lengths[0],
            after=axis.size,
            files=len(plan.files) - 1,
            left_out=plan.left_out,
            mismatches=plan.mismatches,
            references=len(document.refs) - len(dataset.document.refs),
            compared=proof.compared,
            unread=proof.unread,
        )


def append_plan(
    dataset: Dataset, request: Combination, control: JobControl | None = None, compute: Compute = HERE
) -> Plan:
    """Return what becomes of a document to which files are added: it is the first file of the plan.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is not plain along which dimension; a file cannot be read.
    """
    sources = sources_of(request.sources)
    if not sources:
        raise RefbrowserError(ErrorKind.USAGE, "there is no file to be added")
    if not request.concat:
        request = replace(request, concat=(_growing(dataset, sources[0], request),))
    if len(request.concat) > 1 or request.new_dims or request.merge:
        raise RefbrowserError(ErrorKind.USAGE, "files are added along one dimension that the document has")
    request = replace(request, extends=True)
    added = gather(request, control, compute)
    files = FileSet(added.looking, left_out=added.left_out)
    files.add(looked_at(dataset, dataset.path, added.looking, is_target=True))
    for each in added.files:
        files.add(each)
    plan = plan_of(files, request)
    if plan.axes[0].of_file[0] != 0:
        name = plan.axes[0].name
        message = f"files lie before the document along {quoted(name)}: they are not added at its end"
        raise RefbrowserError(ErrorKind.META, message, Place(document=dataset.path), "combine them anew")
    return plan


def _growing(dataset: Dataset, source: str, request: Combination) -> str:
    """Return the dimension whose coordinates in a file are others than in the document."""
    opening = OpenRequest(
        source,
        allow=request.allow,
        storage_options=request.storage_options,
        settings=request.settings,
        stale=request.stale,
    )
    differing = []
    with open_dataset(opening) as file:
        for node in file.hierarchy.walk():
            other = dataset.hierarchy.find(node.path)
            if not (isinstance(node, ArrayNode) and isinstance(other, ArrayNode)):
                continue
            if node.dimensions != (node.name,) or other.dimensions != node.dimensions:
                continue
            if node.shape != other.shape or not _is_alike(_read(file, node), _read(dataset, other)):
                differing.append(node.name)
    if len(set(differing)) != 1:
        found = f": it could be {', '.join(map(quoted, differing))}" if differing else ""
        message = f"it is not plain along which dimension files are added{found}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="give --along DIM")
    return differing[0]


def _read(dataset: Dataset, node: ArrayNode) -> Values:
    whole = Selection.from_index(tuple(slice(0, min(side, _COMPARED)) for side in node.shape), node.shape)
    return np.asarray(dataset.session.read(node, dataset.access, whole))


def _is_alike(one: Values, other: Values) -> bool:
    return one.shape == other.shape and bool((one == other).all())


# The edit


def append_edit(dataset: Dataset, plan: Plan, control: JobControl | None = None) -> Edit:
    """Return what adds the files of a plan to its document, as one step.

    Raises
    ------
    RefbrowserError
        `E_META`: a difference stands against it, or a gen rule gives coordinates that change.
    """
    if plan.blocking:
        raise blocked(plan)
    document, nodes = dataset.document, {}
    for array in plan.arrays:
        node = dataset.hierarchy.find(array.path)
        if array.role == "same":
            continue
        if not isinstance(node, ArrayNode):
            message = f"the document has no array {quoted(array.path)}"
            raise RefbrowserError(ErrorKind.META, message, advice=f"--leave-out-var {array.path}")
        nodes[array.path] = node
    keys = {path: node.chunk_keys for path, node in nodes.items()}
    made = combined_document(plan, control.token if control else None, keys=keys)
    metadata: list[Edit] = []
    gone: list[int] = []
    values: list[tuple[str, Any]] = []
    prefixes = {}
    for array in plan.arrays:
        node = nodes.get(array.path)
        if node is None:
            continue
        prefixes[f"{array.path.strip('/')}/"] = node.key_prefix
        metadata.append(_metadata(document, made, array, node, plan))
        if array.role == "inlined":
            gone += _chunks_of(document, node)
    renders = document.renders is not None
    rows = range(len(made.refs))
    for key, row in zip(made.refs.keys_of(rows), rows, strict=True):
        prefix = next((each for each in prefixes if key.startswith(each) and not _is_metadata(key)), None)
        if prefix is not None:
            value = json.loads(made.refs.value_text(row))
            if renders and isinstance(value, list):
                value[0] = _BEGIN.sub("{{ '{' }}", value[0])
            values.append((prefixes[prefix] + key[len(prefix) :], value))
    stay = {key for key, _ in values}
    positions = sorted(
        document.refs.position(slot) for slot in gone if document.refs.key_of(slot) not in stay
    )
    removal: list[Edit] = []
    if positions:
        removal.append(RemoveReferences(runs_of(np.array(positions, np.int64))))
    count = len(plan.files) - 1
    title = f"Append {count} file{'' if count == 1 else 's'} along {plan.axes[0].name}"
    return Compound(title, (*removal, *metadata, SetReferences(tuple(values))))


def _is_metadata(key: str) -> bool:
    return key.endswith(("/.zarray", "/.zattrs", "/.zgroup", "/zarr.json"))


def _metadata(document: Document, made: Document, array: ArrayOfFiles, node: ArrayNode, plan: Plan) -> Edit:
    key = next(each for each in node.metadata_keys if each.endswith((".zarray", "zarr.json")))
    before = json.loads(document.expansion.value(key) or b"{}")
    if array.role == "placed":
        return SetMetadata(key, {**before, "shape": list(plan.shape(array))})
    name = key.rpartition("/")[2]
    after = json.loads(made.expansion.value(f"{array.path.strip('/')}/{name}") or b"{}")
    return SetMetadata(key, {**before, **{each: after[each] for each in _OF_VALUES if each in after}})


def _chunks_of(document: Document, node: ArrayNode) -> Iterator[int]:
    """Yield the slots of the chunks of an array, which all stand in the document."""
    coords = all_coords(node.grid.grid_shape)
    slots = document.refs.find_chunks(node.key_prefix, coords, node.chunk_keys)
    if document.rules:
        columns = document.expansion.chunk_columns(node.key_prefix, coords, node.chunk_keys)
        if ((slots == -1) & (columns.kind != 0)).any():
            message = f"a gen rule gives {quoted(node.path)}, which changes"
            raise RefbrowserError(ErrorKind.META, message, Place(path=node.path), "write the rule out first")
    yield from slots[slots != -1].tolist()


def _identity(path: str) -> Any:
    from refbrowser.io.local import open_regular

    with open_regular(path) as (_, identity):
        return identity
