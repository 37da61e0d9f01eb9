"""Add files to a reference document along a dimension: one edit, which leaves all else as it is."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from refbrowser.engine.compute import HERE, Compute
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.declarations.declarations_beside import declarations_of
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError, quoted
from refbrowser.exporting.appending.document_axis import (
    filling,
    offering_axis,
    unmarked,
)
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import (
    ODD,
    VALUES_FROM,
    Combination,
    NewDimension,
    array_of,
    is_safe,
)
from refbrowser.exporting.combining.combine import gather, plan_of
from refbrowser.exporting.combining.combined import OF_DIMENSIONS, combined_document
from refbrowser.exporting.combining.combined_proof import CombinedProof, named_places
from refbrowser.exporting.combining.file_set import FileSet
from refbrowser.exporting.combining.mismatches import Mismatch, named, of_files
from refbrowser.exporting.combining.plan import Plan, blocked
from refbrowser.exporting.combining.properties import (
    ArrayProperties,
    ScannedSource,
    Values,
    all_coords,
    looked_at,
    metadata_of,
)
from refbrowser.exporting.making.made_references import sources_of
from refbrowser.exporting.rewritten_document import is_relative
from refbrowser.exporting.saving.lock_beside import take_lock_along
from refbrowser.exporting.saving.save import SaveOrder, write_document
from refbrowser.formats.parquet_text import PARQUET
from refbrowser.formats.zarr.v3 import chunk_grid_json
from refbrowser.io.access.access import Access
from refbrowser.io.files.final_names import recover
from refbrowser.io.origins import Origin, local_path, parse_storage_options
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.report import Report, first_of
from refbrowser.model.selection import Selection
from refbrowser.references.document.document import Document
from refbrowser.references.edits.edits import Compound, Edit, RemoveRule, SetMetadata
from refbrowser.references.edits.many_edits import (
    RebaseUrls,
    RemoveReferences,
    SetReferences,
    prefix_between,
    relative_urls,
    runs_of,
)
from refbrowser.words import counted, counted_plain

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


@dataclass(slots=True, kw_only=True, repr=False)
class Appended(Report):
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
    snapshot
        Of a repository: what was committed.
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
    snapshot: str = ""

    def lines(self) -> Iterator[str]:
        """Yield what was added, what differs in it, and what was left out."""
        yield (
            f"{self.target}: {counted(self.files, 'file')} added; {self.along}: {self.before} before, "
            f"{self.after} now; {counted(self.compared, 'chunk')} compared"
        )
        yield from first_of([f"note: {each.message}" for each in self.mismatches])
        yield from first_of([f"left out: {source}: {why}" for source, why in self.left_out])


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
    _check_target(target, out, request)
    if local_path(target) is not None:
        # Of what was killed while it was written.
        recover(Path(os.path.realpath(target)))
    with open_dataset(opening, control) as dataset:
        plan = append_plan(dataset, request, control, compute)
        told(plan)
        edit = append_edit(dataset, plan, control)
        document = dataset.document.apply(edit)
        changed = _at_place(dataset, document, out, plan, control)
        proof = CombinedProof(plan)
        proof.check(changed, range(1, len(plan.files)), control.token)
        _write(dataset.document, changed.document, target, out, control)
        prefix = prefix_between(dataset.access.base, os.path.dirname(os.path.realpath(out)))
        moved = RebaseUrls(prefix).moved if prefix and out != target else str
        take_lock_along(target, out, moved, dataset.access, changed.document, changed.access, control)
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


def _check_target(target: str, out: str, request: Combination) -> None:
    """Raise where a document cannot be written to a place, before anything is read."""
    if "://" in out:
        message = "a document is written on this computer"
        if out == target:
            message = "the document is on another computer: it is read there, never written"
        advice = "give -o OUT.json: the document with the files added is written there"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=out), advice)
    if out != target and os.path.exists(out) and not request.force:
        message = "the document exists already"
        raise TargetExistsError(ErrorKind.IO, message, Place(document=out), "give --force to replace it")


def _at_place(dataset: Dataset, document: Document, out: str, plan: Plan, control: JobControl) -> Dataset:
    """Return a changed document as it is read where it is written: with the files that the user named."""
    access = dataset.access
    if out != dataset.path:
        prefix = prefix_between(access.base, os.path.dirname(os.path.realpath(out)))
        if prefix and next(relative_urls(document.with_template_values({})), None) is not None:
            document = document.apply(RebaseUrls(prefix))
        kept = {*access.allowed, *access.private}
        kept |= set() if access.from_network else {Origin("file", folder=access.base)}
        access = Access.for_document(os.path.abspath(out), kept, access.settings)
    return dataset.with_access(access.allow(named_places(plan))).with_document(document, control)


def _write(before: Document, after: Document, target: str, out: str, control: JobControl) -> None:
    from refbrowser.formats.parquet_references import update_parquet, write_parquet

    if before.from_parquet and out == target:
        update_parquet(before, after, out, cancel=control.token)
    elif out.lower().rstrip("/").endswith(PARQUET):
        write_parquet(after, out, force=True, cancel=control.token)
    else:
        expected = None if out != target else _identity(target)
        write_document(after, SaveOrder(out, is_copy=out != target), expected, control.token)


def append_plan(
    dataset: Dataset, request: Combination, control: JobControl | None = None, compute: Compute = HERE
) -> Plan:
    """Return what becomes of a document to which files are added: it is the first file of the plan.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is not plain along which dimension; a file cannot be read.
    """
    settings = {**request.settings, **parse_storage_options(request.storage_options)}
    sources = sources_of(request.sources, settings)
    if not sources:
        raise RefbrowserError(ErrorKind.USAGE, "there is no file to add")
    if _new_dimension(request) is None:
        request = _growing(dataset, sources[0], request)
    new = _new_dimension(request)
    if new is not None:
        request = replace(request, concat=())
    asked = request
    if new is not None:
        # What is one value of each file there is read of these, too.
        flat = [each.path for each in _arrays_of(dataset) if each.dimensions == (new.name,)]
        asked = replace(request, inline_var=(*request.inline_var, *flat))
    added = gather(asked, control, compute)
    if new is not None:
        # From here on all of them have it.
        request = replace(request, concat=(new.name,), new_dims=())
    declared = declarations_of(request.declares, dataset.path)
    request = replace(request, extends=True, declared=declared)
    files = FileSet(request.looking(), left_out=added.left_out)
    target = looked_at(dataset, dataset.path, files.looking, is_target=True)
    files.add(target)
    for each in added.files if new is None else with_dimension(target, added.files, new):
        files.add(each)
    name = request.concat[0]
    if not any(name in told.dimensions for each in files.files[1:] for told in each.arrays):
        raise _without([name])
    plan = plan_of(files, request)
    unasked = [] if request.arrays else [each for each in plan.mismatches if _is_of_files_alone(each)]
    if unasked:
        request = replace(request, leave_out_var=(*request.leave_out_var, *(each.path for each in unasked)))
        plan = plan_of(files, request)
        plan.mismatches = [*plan.mismatches, *map(_left_out, unasked)]
    filled = filling(plan, dataset) if plan.filled else []
    if ODD in request.leave_out and (odd := [*of_files(filled)]):
        request = replace(request, leave_out=(*request.leave_out, *odd))
        plan = plan_of(files, request)
        filled = filling(plan, dataset) if plan.filled else []
    in_order = plan
    if {each.kind for each in plan.blocking} == {"disorder"}:
        in_order = plan_of(files, replace(request, sort=True))
    if in_order.axes[0].of_file[0] != 0:
        message = f"files come before the document along {quoted(name)}: they are not added at its end"
        raise RefbrowserError(ErrorKind.META, message, Place(document=dataset.path), "combine them again")
    if len(plan.files) == 1:
        raise RefbrowserError(ErrorKind.USAGE, "no file is left to add")
    told = [*filled, *unmarked(plan, dataset), *offering_axis(plan, dataset)]
    plan.mismatches = [
        replace(each, remedies=tuple(it for it in each.remedies if not it.names(dataset.path)))
        for each in sorted(told, key=lambda each: not each.is_blocking)
    ]
    return plan


def _is_of_files_alone(mismatch: Mismatch) -> bool:
    """Tell whether it is about an array that the document does not have, and that nobody asked for."""
    return mismatch.kind == "presence" and mismatch.common == "missing" and mismatch.is_blocking


def _left_out(mismatch: Mismatch) -> Mismatch:
    """Return what tells of an array that only files have once it is left out, and how it is added."""
    adding = tuple(each for each in mismatch.remedies if each.kind == "accept")
    how = "".join(f" ({each.option} adds it)" for each in adding)
    message = f"{mismatch.message}: left out, as the document does not have it{how}"
    return replace(mismatch, message=message, remedies=adding, is_blocking=False)


def _arrays_of(dataset: Dataset) -> Iterator[ArrayNode]:
    return (node for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode))


def _new_dimension(request: Combination) -> NewDimension | None:
    """Return the dimension of the document that the files do not have, where one is said."""
    new = request.new_dimensions()
    names = {*request.concat, *(each.name for each in new)}
    if len(names) > 1 or len(new) > 1 or request.merge:
        message = "files are added along one dimension that the document has"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="combine all files again for more")
    return new[0] if new else None


def _without(names: Sequence[str]) -> RefbrowserError:
    """Return the error of files that lack dimensions along which the document lies."""
    which = " or ".join(map(quoted, names))
    advice = rf"give the source of its value: --new-dim {names[0]}=name:{names[0]}(\d+), for example"
    return RefbrowserError(ErrorKind.USAGE, f"the files do not have the dimension {which}", advice=advice)


def with_dimension(
    target: ScannedSource, files: Sequence[ScannedSource], new: NewDimension
) -> list[ScannedSource]:
    """Return files as if they had a dimension that the document made new: one value of it each.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the document has no such dimension; `E_META`: a file has no value, or no number where the
        document has numbers.
    """
    along = {told.path: told for told in target.arrays if new.name in told.dimensions}
    if not along:
        message = f"the document has no dimension {quoted(new.name)}"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=target.source))
    values, lacking = new.values(files)
    if lacking:
        files_without = named([each.source for each in lacking])
        message = f"the {new.kind} {quoted(new.argument)} gives no value for {files_without}"
        raise RefbrowserError(ErrorKind.META, message, advice="leave them out, or give another --new-dim")
    coordinate = next(
        (told for told in along.values() if told.dimensions == (new.name,) == (told.name,)), None
    )
    column = array_of(values)
    if coordinate is not None:
        if coordinate.dtype[:1] in "iuf" and column.dtype.kind == "U":
            message = f"{new.name}: {quoted(str(column[0]))} is not a number, and the document has numbers"
            raise RefbrowserError(ErrorKind.META, message, Place(document=files[0].source))
        column = column.astype("U") if coordinate.dtype.startswith("U") else column
        attributes = new.attributes(files)
        told = tuple((name, json.dumps(value)) for name, value in attributes.items())
        coordinate = replace(coordinate, shape=(1,), attributes=told or coordinate.attributes)
        if column.dtype.kind != "U":
            coordinate = replace(coordinate, dtype=column.dtype.str[1:], itemsize=column.dtype.itemsize)
    return [
        _grown(file, along, new.name, coordinate, column[number : number + 1])
        for number, file in enumerate(files)
    ]


def _grown(
    file: ScannedSource,
    along: Mapping[str, ArrayProperties],
    name: str,
    coordinate: ArrayProperties | None,
    value: Values,
) -> ScannedSource:
    """Return a file whose arrays have one more dimension where those of the document do."""
    arrays, values = [], dict(file.values)
    counts = list(file.chunks.counts)
    for told in file.arrays:
        other = along.get(told.path)
        if coordinate is not None and told.path == coordinate.path:
            arrays.append(coordinate)
            continue
        if other is None or name in told.dimensions or any(each in told.codecs for each in OF_DIMENSIONS):
            arrays.append(told)
            continue
        # A side of one chunk of length 1 leaves the flat places of all chunks as they are.
        at = other.dimensions.index(name)
        sides = [
            (*each[:at], one, *each[at:])
            for each, one in ((told.shape, 1), (told.chunks, 1), (told.dimensions, name))
        ]
        arrays.append(replace(told, shape=sides[0], chunks=sides[1], dimensions=sides[2]))
        if told.path in values:
            values[told.path] = np.expand_dims(values[told.path], at)
    if coordinate is not None:
        values[coordinate.path] = value
        if coordinate not in arrays:
            arrays.append(coordinate)
            counts.append(0)
    chunks = replace(file.chunks, counts=tuple(counts))
    return replace(file, arrays=tuple(arrays), values=values, chunks=chunks)


def _growing(dataset: Dataset, source: str, request: Combination) -> Combination:
    """Return a request with the dimension to append along.

    One that a file lacks is new, with values from where the document says; else it is the one that is asked
    for, or the one whose coordinates in the file are others than in the document.
    """
    if request.concat and not _recorded(dataset, request.concat[0]):
        return request
    opening = OpenRequest(
        source,
        allow=request.allow,
        storage_options=request.storage_options,
        settings=request.settings,
        stale=request.stale,
        options=request.opening,
    )
    differing = []
    lacking: dict[str, None] = {}
    with open_dataset(opening) as file:
        for node in file.hierarchy.walk():
            other = dataset.hierarchy.find(node.path)
            if not (isinstance(node, ArrayNode) and isinstance(other, ArrayNode)):
                continue
            if len(other.shape) > len(node.shape) > 0:
                lacking |= dict.fromkeys(
                    each for each in other.dimensions if each and each not in node.dimensions
                )
            if request.concat or node.dimensions != (node.name,) or other.dimensions != node.dimensions:
                continue
            if node.shape != other.shape or not _is_alike(_read(file, node), _read(dataset, other)):
                differing.append(node.name)
    if lacking and not differing:
        return replace(request, concat=(), new_dims=(_as_recorded(dataset, [*lacking]),))
    if request.concat:
        return request
    if len(set(differing)) != 1:
        found = f": it could be {', '.join(map(quoted, differing))}" if differing else ""
        message = f"the dimension to append along is not clear{found}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="give --concat DIM")
    return replace(request, concat=(differing[0],))


def _recorded(dataset: Dataset, name: str) -> str:
    """Return where the coordinate of a dimension has its values from, as the document says; empty if not."""
    for node in _arrays_of(dataset):
        if node.dimensions == (name,) == (node.name,):
            said = node.attributes.get(VALUES_FROM)
            return said if isinstance(said, str) else ""
    return ""


def _as_recorded(dataset: Dataset, lacking: list[str]) -> str:
    """Return the dimension that files lack, with values from where those of the document are: `NAME=FROM`.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the document does not say, or its pattern might take very long.
    """
    name, source = next(((each, said) for each in lacking if (said := _recorded(dataset, each))), ("", ""))
    if not source:
        raise _without(lacking)
    if not is_safe(source):
        message = f"the files do not have the dimension {quoted(name)}"
        said = quoted(f"{name}={source}")
        advice = f"the document was made with --new-dim {said}: give that if you trust it"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=advice)
    return f"{name}={source}"


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
        `E_META`: a difference stands against it, or a gen rule gives coordinates that change and more.
    """
    if plan.blocking:
        raise blocked(plan)
    document = dataset.document
    kept = {plan.axes[0].path} if plan.filled else set()
    found = {
        array.path: dataset.hierarchy.find(array.path)
        for array in plan.arrays
        if array.role != "same" and array.path not in kept
    }
    nodes = {path: node for path, node in found.items() if isinstance(node, ArrayNode)}
    keys = {path: node.chunk_keys for path, node in nodes.items()}
    made = combined_document(plan, control, keys=keys, opening=CombinedProof(plan).file_opening)
    metadata: list[Edit] = [
        SetMetadata(key, json.loads(made.expansion.value(key) or b"{}"))
        for key in _metadata_of_new(dataset, made, found.keys() - nodes.keys())
    ]
    gone: list[int] = []
    rules: set[int] = set()
    for array in plan.arrays:
        node = nodes.get(array.path)
        if node is None:
            continue
        if array.role != "placed" or not plan.filled:
            metadata.append(_metadata(dataset, made, array, node, plan))
        if array.role == "inlined":
            gone += _chunks_of(document, node)
            rules |= {*_rules_of(document, node)}
    # What the document does not have lies where it was made.
    places = {f"{path.strip('/')}/": f"{path.strip('/')}/" for path in found}
    places |= {f"{path.strip('/')}/": node.key_prefix for path, node in nodes.items()}
    values = _references(document, made, places, _folder_of_names(dataset))
    stay = {key for key, _ in values}
    positions = sorted(
        document.refs.position(slot) for slot in gone if document.refs.key_of(slot) not in stay
    )
    removal: list[Edit] = []
    if positions:
        removal.append(RemoveReferences(runs_of(np.array(positions, np.int64))))
    what = counted_plain(len(plan.files) - 1, "file")
    title = f"Append {what} along {plan.axes[0].name}"
    if plan.filled:
        title = f"Fill {counted_plain(plan.filled, 'missing time')} with {what}"
    # The last first: the numbers of the others stay.
    removal += [RemoveRule(index) for index in sorted(rules, reverse=True)]
    return Compound(title, (*removal, *metadata, SetReferences(tuple(values))))


def _folder_of_names(dataset: Dataset) -> str:
    """Return the folder of a document that names files relative to it; empty for one that does not."""
    document, access = dataset.document.with_template_values({}), dataset.access
    if access.from_network or next(relative_urls(document), None) is None:
        return ""
    return access.base.rstrip(os.sep) + os.sep


def _references(
    document: Document, made: Document, places: Mapping[str, str], folder: str
) -> list[tuple[str, Any]]:
    """Return the chunks of what was made, by their keys in the document.

    Parameters
    ----------
    places
        What keys of each array begin with in what was made, and in the document.
    folder
        Files in it, and below it, are named relative to it; all in full where it is empty.
    """
    renders = document.renders is not None
    rows = range(len(made.refs))
    values: list[tuple[str, Any]] = []
    for key, row in zip(made.refs.keys_of(rows), rows, strict=True):
        prefix = next((each for each in places if key.startswith(each) and not _is_metadata(key)), None)
        if prefix is not None:
            value = json.loads(made.refs.value_text(row))
            if isinstance(value, list) and folder and is_relative(rest := value[0].removeprefix(folder)):
                value[0] = rest
            if renders and isinstance(value, list):
                value[0] = _BEGIN.sub("{{ '{' }}", value[0])
            values.append((places[prefix] + key[len(prefix) :], value))
    return values


def _metadata_of_new(dataset: Dataset, made: Document, paths: Set[str]) -> list[str]:
    """Return the keys of metadata of arrays that the document does not have, and of groups around them."""
    wanted = {*paths}
    for path in paths:
        while (path := path.rpartition("/")[0]) and dataset.hierarchy.find(path) is None:
            wanted.add(path)
    return [key for key in made.expansion.metadata_keys() if f"/{key.rpartition('/')[0]}" in wanted]


def _is_metadata(key: str) -> bool:
    return key.endswith(("/.zarray", "/.zattrs", "/.zgroup", "/zarr.json"))


def _metadata(dataset: Dataset, made: Document, array: ArrayOfFiles, node: ArrayNode, plan: Plan) -> Edit:
    key = next(each for each in node.metadata_keys if each.endswith((".zarray", "zarr.json")))
    before = json.loads(metadata_of(dataset, key) or b"{}")
    changed: dict[str, Any] = {}
    if (holes := plan.hole_fill(array)) is not None:
        changed["fill_value"] = holes.fill
        if holes.attributes:
            changed["attributes"] = {**before.get("attributes", {}), **holes.attributes}
    if array.role == "placed":
        changed["shape"] = list(plan.shape(array))
        if array.edges:
            changed["chunk_grid"] = chunk_grid_json(plan.grid(array))
        return SetMetadata(key, {**before, **changed})
    name = key.rpartition("/")[2]
    after = json.loads(made.expansion.value(f"{array.path.strip('/')}/{name}") or b"{}")
    changed |= {each: after[each] for each in _OF_VALUES if each in after}
    return SetMetadata(key, {**before, **changed})


def _chunks_of(document: Document, node: ArrayNode) -> Iterator[int]:
    """Yield the slots of the chunks of an array that stand in the document."""
    coords = all_coords(node.grid.grid_shape)
    slots = document.refs.find_chunks(node.key_prefix, coords, node.chunk_keys)
    yield from slots[slots != -1].tolist()


def _rules_of(document: Document, node: ArrayNode) -> Iterator[int]:
    """Yield the numbers of the gen rules that give chunks of an array whose values are to stand there.

    Raises
    ------
    RefbrowserError
        `E_META`: one gives keys of other arrays, too.
    """
    prefix = node.key_prefix
    for rule in document.rules:
        if not (rule.count and rule.may_give(prefix)):
            continue
        begins = rule.key_begins
        if begins is None or not begins[0].startswith(prefix):
            message = f"gen rule {rule.index} makes {quoted(node.path)}, which changes, and other arrays"
            raise RefbrowserError(ErrorKind.META, message, Place(path=node.path), "write the rule out first")
        yield rule.index


def _identity(path: str) -> Any:
    from refbrowser.io.access.local_files import open_regular

    with open_regular(path) as (_, identity):
        return identity
