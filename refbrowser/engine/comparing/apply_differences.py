"""Differences as edits: what one of two datasets has, given to the document of the other.

What cannot be written as an edit of that document is refused with a reason. What the documents say beside
references comes first, then metadata, then chunks, compared anew where that changed them.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.attribute_edits import AttributeChange, attributes_edit
from refbrowser.engine.comparing.chunk_differences import absolute_url, compare_chunks, reference_text
from refbrowser.engine.comparing.differences import (
    ArrayComparison,
    ChunkComparison,
    ChunkState,
    Difference,
    DifferenceKind,
)
from refbrowser.engine.comparing.document_differences import chunk_grids
from refbrowser.engine.comparing.node_differences import plain_value
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.node_metadata import (
    MetadataText,
    Origin,
    attributes_in,
    attributes_key,
    read_metadata,
    with_attributes,
)
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.nodes import ArrayNode, Node
from refbrowser.model.reference import ByteRange, Inline, Reference, ReferenceKind, WholeFile
from refbrowser.references.content.reference_values import BASE64_PREFIX
from refbrowser.references.document.document import Document
from refbrowser.references.edits.compare import Side, changed_keys
from refbrowser.references.edits.edits import (
    Compound,
    Edit,
    InsertRule,
    RemoveMember,
    RemoveRule,
    SetMember,
    SetMetadata,
    SetRule,
    SetVersion,
    document_renders,
)
from refbrowser.references.edits.many_edits import is_relative
from refbrowser.references.edits.outer_edits import rule_values, top_members
from refbrowser.references.merging.merge import (
    key_edits,
    order_edits,
    reference_edits,
    template_edits,
    value_of,
)
from refbrowser.references.merging.merged_members import ABSENT, member_at, same_meaning, with_member_at
from refbrowser.references.merging.merged_rules import rule_text
from refbrowser.references.templates.syntax import names_in

#: Chunks that one edit takes over, and keys that are no chunks.
MOST, MOST_KEYS = 4_000_000, 500_000
#: What documents say that somebody wrote.
WRITTEN = frozenset({DifferenceKind.TEMPLATE, DifferenceKind.MEMBER, DifferenceKind.RULE, DifferenceKind.KEY})
#: What a whole node is.
_NODES = frozenset({DifferenceKind.ARRAY, DifferenceKind.GROUP})
#: Members of the metadata of an array in which a difference stands, in Zarr 2 and 3, by kind and by name.
_MEMBERS: dict[DifferenceKind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    DifferenceKind.SHAPE: (("shape",), ("shape",)),
    DifferenceKind.TYPE: (("dtype", "fill_value"), ("data_type", "fill_value")),
    DifferenceKind.FILL: (("fill_value",), ("fill_value",)),
    DifferenceKind.DIMENSION: ((), ("dimension_names",)),
}
_LAYOUT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "chunk shape": (("chunks",), ("chunk_grid",)),
    "byte order": (("dtype",), ("codecs",)),
    "order of axes": (("order", "filters"), ("codecs",)),
    "codecs": (("compressor", "filters"), ("codecs",)),
}
#: Attributes in which differences stand that are no attributes.
_ATTRIBUTES: dict[DifferenceKind, tuple[str, ...]] = {
    DifferenceKind.FILL: (FILL_ATTRIBUTE,),
    DifferenceKind.DIMENSION: (DIMENSIONS_ATTRIBUTE, "_nczarr_", "_NCZARR_"),
    DifferenceKind.SHAPE: ("_nczarr_", "_NCZARR_"),
}


@dataclass(frozen=True, slots=True)
class WantedDifferences:
    """What is taken over.

    Attributes
    ----------
    differences
        Of structure, metadata and documents.
    arrays
        Those whose references are.
    box
        Of a single array: the chunks along each dimension; all that differ where it is None.
    """

    differences: tuple[Difference, ...] = ()
    arrays: tuple[ArrayComparison, ...] = ()
    box: tuple[range, ...] | None = None


def obstacle(difference: Difference, source: Dataset, target: Dataset) -> str:
    """Return why a difference cannot be taken over, as far as that is plain at once; empty where it can.

    Parameters
    ----------
    source, target
        The dataset that has it, and the one to be changed.
    """
    kind = difference.kind
    if kind in WRITTEN:
        return "" if not target.document.rules_are_made else "references of that side are read-only"
    if kind in _NODES and difference.side is Side.BOTH:
        return "an array with another name cannot be taken over: rename its keys"
    if kind in _NODES and target.document.rules_are_made:
        return "references of that side are read-only: arrays are not added or removed there"
    if not target.document.has_keys:
        return "that side has no Zarr metadata to edit"
    if kind is DifferenceKind.LAYOUT and difference.name not in _LAYOUT:
        return "the way values are stored is not a member of metadata"
    if kind is not DifferenceKind.ATTRIBUTE and not source.document.has_keys:
        return "the other side writes its metadata in another form"
    return ""


def references_obstacle(
    target: Dataset, to: Side, array: ArrayComparison, coords: tuple[int, ...] | None = None
) -> str:
    """Return why the references of an array, or of one chunk, cannot be taken over; empty where they may be.

    Only a chunk is looked at: the one at `coords`, or the first that differs.
    """
    if target.document.rules_are_made:
        return "references of that side are read-only"
    if array.chunks.why:
        return f"they were not compared: {array.chunks.why}"
    node = target.hierarchy.find(array.path if to is Side.HERE else array.there)
    if coords is None:
        coords = next((each.coords for each in array.chunks.examples if each.state.differs), None)
    if not isinstance(node, ArrayNode) or coords is None:
        return ""
    return _rules_obstacle(target.document, node, np.array([coords], np.int64).reshape(1, len(coords)))


def _rules_obstacle(document: Document, node: ArrayNode, coords: npt.NDArray[np.int64]) -> str:
    manifest = node.manifest
    if not isinstance(manifest, ExpansionManifest):
        return "the references of that side are not those of one document"
    rules = document.expansion.rules_giving(manifest.prefix, coords, manifest.encoding)
    named = ", ".join(map(str, rules[:5]))
    return f"gen rule {named} gives them and overrides any entry: take over the rule" if rules else ""


def apply_differences(
    source: Dataset,
    target: Dataset,
    to: Side,
    wanted: WantedDifferences,
    title: str,
    control: JobControl | None = None,
) -> Edit:
    """Return the edit of the target's document that gives it what the source has.

    Parameters
    ----------
    to
        Which side of the comparison the target is: `HERE` or `THERE`.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: something of it cannot be written as an edit of that document.
    """
    return _Application(source, target, to, control or JobControl()).edit(wanted, title)


def _refused(what: str, why: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, f"{what} cannot be taken over: {why}")


@dataclass(slots=True, eq=False)
class _Application:
    """One edit, as it is put together; `document` is the target's as it is edited."""

    source: Dataset
    target: Dataset
    to: Side
    control: JobControl
    document: Document = field(init=False)
    edits: list[Edit] = field(default_factory=list)
    #: Arrays that it did not have: their chunks are still to be taken.
    added: list[str] = field(default_factory=list)

    def edit(self, wanted: WantedDifferences, title: str) -> Edit:
        self.document = self.target.document
        for each in wanted.differences:
            why = obstacle(each, self.source, self.target)
            if why:
                raise _refused(each.name or each.path, why)
        self._take_written([each for each in wanted.differences if each.kind in WRITTEN])
        nodes = [each for each in wanted.differences if each.kind in _NODES]
        for each in nodes:
            self.control.check()
            self._take_node(each)
        for each in wanted.differences:
            if each.kind not in WRITTEN and each not in nodes:
                self.control.check()
                self._take_metadata(each)
        self._take_chunks(wanted, anew=bool(self.edits))
        return Compound(title, tuple(self.edits))

    def _do(self, edits: Iterable[Edit]) -> None:
        for each in edits:
            self.document = self.document.apply(each)
            self.edits.append(each)

    def _is_mine(self, difference: Difference) -> bool:
        """Tell whether the target alone has it."""
        return difference.side is self.to

    # What documents say

    def _take_written(self, differences: Sequence[Difference]) -> None:
        steps = {DifferenceKind.MEMBER: self._take_member, DifferenceKind.TEMPLATE: self._take_template}
        for each in differences:
            if each.kind in steps:
                steps[each.kind](each.name)
        self._take_rules([each for each in differences if each.kind is DifferenceKind.RULE])
        for each in differences:
            if each.kind is DifferenceKind.KEY:
                self._take_keys(each)

    def _take_member(self, name: str) -> None:
        if name == "version":
            self._do([SetVersion(self.source.document.version)])
            return
        members = top_members(self.source.document.written())
        self._do([SetMember(name, members[name]) if name in members else RemoveMember(name)])

    def _take_template(self, name: str) -> None:
        value = self.source.document.templates.templates.get(name, ABSENT)
        self._do(template_edits(self.document, name, value))

    def _take_templates_of(self, texts: Iterable[Any], hidden: Collection[str] = ()) -> None:
        """Take over the templates that texts use and the target does not have."""
        there = self.source.document.templates.templates
        for text in texts:
            for name in names_in(text, hidden) if isinstance(text, str) else ():
                if name in there and name not in self.document.templates.templates:
                    self._take_template(name)
                    self._take_templates_of([there[name]])

    def _take_rules(self, differences: Sequence[Difference]) -> None:
        rules = rule_values(self.source.document)
        added: list[int] = []
        gone: list[int] = []
        for each in differences:
            number = _rule_number(each)
            if number is None:
                continue
            if self._is_mine(each):
                gone.append(number)
                continue
            fields = rules[number]
            if isinstance(fields, dict):
                self._take_templates_of(fields.values(), fields.get("dimensions") or ())
            if each.side is Side.BOTH:
                self._do([SetRule(number, fields)])
            else:
                added.append(number)
        self._do(map(RemoveRule, sorted(gone, reverse=True)))
        for number in sorted(added):
            self._do([InsertRule(min(number, len(rule_values(self.document))), rules[number])])
        if any(_rule_number(each) is None for each in differences):
            self._do(list(order_edits(rule_values(self.document), list(map(rule_text, rules)))))

    def _take_keys(self, difference: Difference) -> None:
        refs = self.source.document.refs
        names = [difference.name]
        if all(each.find_slot(difference.name) is None for each in (refs, self.target.document.refs)):
            # One that stands for more than are listed.
            grids = chunk_grids(self.source.hierarchy, self.target.hierarchy)
            found = changed_keys(refs, self.document.refs, MOST_KEYS, self.control.check, grids)
            if found is None:
                raise _refused(difference.name, f"more than {MOST_KEYS:,} keys differ")
            names = found
        values = {name: self._moved(value_of(refs, name)) for name in names}
        for value in values.values():
            if isinstance(value, list) and value:
                self._take_templates_of(value[:1])
        gone = [name for name, value in values.items() if value is ABSENT]
        stay = {name: value for name, value in values.items() if value is not ABSENT}
        self._do(reference_edits(self.document.refs, stay, gone))

    def _moved(self, value: Any) -> Any:
        """Return a value of refs as the target has to write it: its relative URL leads to the same place."""
        bases = self.source.access.base, self.target.access.base
        if bases[0] == bases[1] or not isinstance(value, list) or not value:
            return value
        url = value[0]
        return (
            [absolute_url(url, self.source), *value[1:]]
            if isinstance(url, str) and is_relative(url)
            else value
        )

    # Metadata

    def _take_node(self, difference: Difference) -> None:
        """Take over that a whole group or array is there, or is not."""
        owner = self.target if self._is_mine(difference) else self.source
        node = owner.hierarchy.find(difference.path)
        assert node is not None
        texts = read_metadata(owner, owner.document, node, self.control.token)
        standing = [each for each in texts if each.place.origin is not Origin.ABSENT]
        if self._is_mine(difference):
            keys = [each.place.key for each in standing]
            if any(not each.place.can_edit for each in standing):
                raise _refused(difference.path, "a gen rule makes its metadata: take over the rule")
            if isinstance(node, ArrayNode):
                self._remove_chunks(node)
            for key in keys:
                self._do(key_edits(self.document, key, ABSENT))
            return
        for each in standing:
            if each.fault:
                raise _refused(difference.path, each.fault)
            self._do([SetMetadata(each.place.key, each.json)])
        if isinstance(node, ArrayNode) and node.has_manifest:
            self.added.append(node.path)

    def _remove_chunks(self, node: ArrayNode) -> None:
        if node.has_manifest:
            coords = _all_coords(node)
            keys = [node.manifest.key(tuple(each)) for each in coords.tolist()]
            there = [key for key in keys if self.document.refs.find_slot(key) is not None]
            self._do(reference_edits(self.document.refs, {}, there))

    def _texts(self, dataset: Dataset, document: Document, node: Node) -> list[MetadataText]:
        return read_metadata(dataset, document, node, self.control.token)

    def _take_metadata(self, difference: Difference) -> None:
        mine = self.target.hierarchy.find(difference.path)
        theirs = self.source.hierarchy.find(difference.path)
        if mine is None or theirs is None:
            raise _refused(difference.name, f"{difference.path} is not on both sides")
        if difference.kind is DifferenceKind.ATTRIBUTE:
            self._take_attribute(mine, theirs, difference.name)
            return
        if difference.kind is DifferenceKind.FINDING:
            self._take_documents(difference, theirs)
            return
        v2, v3 = _LAYOUT[difference.name] if difference.kind is DifferenceKind.LAYOUT else _MEMBERS.get(
            difference.kind, ((), ())
        )  # fmt: skip
        pairs = self._pairs(mine, theirs, difference)
        for here, there in pairs:
            json = here.json
            is_v3 = here.place.key.rpartition("/")[2] == "zarr.json"
            for name in v3 if is_v3 else v2:
                if here.place.key.endswith((".zarray", "zarr.json")):
                    json = with_member_at(json, (name,), member_at(there.json, (name,)))
            json = _with_attributes_of(here, there, json, _ATTRIBUTES.get(difference.kind, ()))
            if not same_meaning(json, here.json):
                self._do([SetMetadata(here.place.key, json)])

    def _pairs(
        self, mine: Node, theirs: Node, difference: Difference
    ) -> Iterator[tuple[MetadataText, MetadataText]]:
        """Yield the metadata documents of a node on both sides."""
        there = {each.place.key: each for each in self._texts(self.source, self.source.document, theirs)}
        here = self._texts(self.target, self.document, mine)
        if {each.place.key for each in here}.isdisjoint(there):
            raise _refused(difference.name, "both sides write their metadata in other forms")
        for each in here:
            other = there.get(each.place.key)
            if other is None or other.fault or other.place.origin is Origin.ABSENT:
                continue
            if not each.place.can_edit:
                raise _refused(difference.name, each.place.note)
            yield each, other

    def _take_documents(self, difference: Difference, theirs: Node) -> None:
        """Take over whole metadata documents: those of one side cannot be read."""
        for each in self._texts(self.source, self.source.document, theirs):
            if each.place.origin is not Origin.ABSENT and not each.fault:
                self._do([SetMetadata(each.place.key, each.json)])

    def _take_attribute(self, mine: Node, theirs: Node, name: str) -> None:
        value = self._attribute_value(theirs, name)
        recorded = theirs.attribute_types.get(name, "")
        if value is ABSENT:
            change = AttributeChange.removed(name)
        elif name in mine.attributes:
            change = AttributeChange.of_value(name, value, recorded)
        else:
            added = AttributeChange.added(name, value)
            change = replace(added, type_name=recorded or added.type_name)
        texts = self._texts(self.target, self.document, mine)
        place = next(
            (each.place for each in texts if each.place.key == attributes_key(mine, self._flavour)), None
        )
        if place is not None and not place.can_edit:
            raise _refused(name, place.note)
        edit = attributes_edit(mine, self._flavour, texts, change)
        if edit is None:
            raise _refused(name, "the place of that side's attributes is not known")
        self._do([edit])

    @property
    def _flavour(self) -> Any:
        return self.target.hierarchy.flavour

    def _attribute_value(self, node: Node, name: str) -> Any:
        """Return the JSON value of an attribute of the source; `ABSENT` where it has none."""
        if name not in node.attributes:
            return ABSENT
        if self.source.document.has_keys:
            key = attributes_key(node, self.source.hierarchy.flavour)
            for each in self._texts(self.source, self.source.document, node):
                found = attributes_in(key, each.json) if each.place.key == key else {}
                if name in found:
                    return found[name]
        return plain_value(node.attributes[name])

    # Chunks

    def _take_chunks(self, wanted: WantedDifferences, *, anew: bool) -> None:
        if not wanted.arrays and not self.added:
            return
        now = self.target.with_document(self.document, self.control) if anew else self.target
        pairs: list[tuple[str, str, ChunkComparison | None]] = [(path, path, None) for path in self.added]
        for each in wanted.arrays:
            paths = (each.path, each.there) if self.to is Side.HERE else (each.there, each.path)
            pairs.append((*paths, None if anew else each.chunks))
        for own, other, chunks in pairs:
            self.control.check()
            mine, theirs = now.hierarchy.find(own), self.source.hierarchy.find(other)
            if not isinstance(mine, ArrayNode) or not isinstance(theirs, ArrayNode):
                continue
            if wanted.box is not None:
                coords = _in_box(wanted.box)
            else:
                chunks = chunks or compare_chunks(mine, theirs, (now, self.source), self.control)
                coords = _differing(chunks, own)
            if len(coords):
                self._set_chunks(theirs, mine, coords, own)

    def _set_chunks(
        self, theirs: ArrayNode, mine: ArrayNode, coords: npt.NDArray[np.int64], path: str
    ) -> None:
        """Give chunks the references that the source has."""
        self._check_rules(mine, coords, path)
        inside = np.ones(len(coords), bool)
        for axis, size in enumerate(theirs.manifest.grid_shape):
            inside &= coords[:, axis] < size
        columns = theirs.manifest.columns(coords[inside])
        places = np.full(len(coords), -1, np.int64)
        places[inside] = np.arange(int(inside.sum()))
        spelled = self._spellings()
        refs = self.document.refs
        values: dict[str, Any] = {}
        gone: list[str] = []
        for number, place in enumerate(coords.tolist()):
            if not number % 10_000:
                self.control.check()
                self.control.progress(number, len(coords), note=path)
            key, at = mine.manifest.key(tuple(place)), int(places[number])
            if at < 0 or columns.kind[at] == ReferenceKind.MISSING:
                if refs.find_slot(key) is not None:
                    gone.append(key)
            elif columns.kind[at] == ReferenceKind.DERIVED:
                raise _refused(
                    path, "its chunks are made of parts of a file, which a reference cannot express"
                )
            else:
                values[key] = self._value(columns.reference(at), spelled, path)
        self._do(reference_edits(refs, values, gone))

    def _check_rules(self, node: ArrayNode, coords: npt.NDArray[np.int64], path: str) -> None:
        why = _rules_obstacle(self.document, node, coords)
        if why:
            raise _refused(f"references of {path}", why)

    def _spellings(self) -> dict[str, str]:
        """Return texts with templates by what both documents make of them."""
        document = self.source.document
        if document.rules_are_made or 0 in (document.version, self.document.version):
            return {}
        if self.source.access.base != self.target.access.base:
            return {}
        found: dict[str, str] = {}
        for raw, rendered in zip(document.refs.table.urls, document.urls.texts, strict=True):
            if document_renders(raw) and self._renders(raw) == rendered:
                found[rendered] = raw
        return found

    def _renders(self, text: str) -> str | None:
        try:
            return self.document.templates.render(text)
        except RefbrowserError:
            return None

    def _value(self, reference: Reference, spelled: dict[str, str], path: str) -> Any:
        """Return a reference as the target's document writes it."""
        if isinstance(reference, Inline):
            text = reference_text(reference)
            if text.startswith(BASE64_PREFIX):
                return BASE64_PREFIX + base64.b64encode(reference.data).decode("ascii")
            return text
        assert isinstance(reference, ByteRange | WholeFile)
        url = reference.url
        if url in spelled:
            url = spelled[url]
        else:
            if self.source.access.base != self.target.access.base:
                url = absolute_url(url, self.source)
            if self.document.version == 1 and document_renders(url):
                raise _refused(path, f"{quoted(url)} holds text that a document of Version 1 would render")
        return [url, reference.offset, reference.length] if isinstance(reference, ByteRange) else [url]


def _rule_number(difference: Difference) -> int | None:
    """Return the number of a rule; None for the order of all."""
    word, _, number = difference.name.partition(" ")
    return int(number) if word == "rule" and number.isdecimal() else None


def _in_box(box: tuple[range, ...]) -> npt.NDArray[np.int64]:
    """Return the coordinates of the chunks in a box, shape (n, dimensions)."""
    axes = np.meshgrid(*(np.array(each, np.int64) for each in box), indexing="ij")
    return np.stack([axis.reshape(-1) for axis in axes], axis=-1) if box else np.zeros((1, 0), np.int64)


def _all_coords(node: ArrayNode) -> npt.NDArray[np.int64]:
    shape = node.manifest.grid_shape
    size = int(np.prod(shape, dtype=object)) if shape else 1
    _check_count(size, node.path)
    if not shape:
        return np.zeros((1, 0), np.int64)
    return np.stack(np.unravel_index(np.arange(size), shape), axis=1).astype(np.int64)


def _differing(chunks: ChunkComparison, path: str) -> npt.NDArray[np.int64]:
    """Return the coordinates of the chunks that differ, shape (n, ndim)."""
    if chunks.why:
        raise _refused(f"references of {path}", chunks.why)
    if chunks.states is None:
        raise _refused(f"references of {path}", "the grid is too large")
    _check_count(chunks.different, path)
    wanted = [state for state in ChunkState if state.differs]
    return np.argwhere(np.isin(chunks.states, wanted)).astype(np.int64)


def _check_count(count: int, path: str) -> None:
    if count > MOST:
        raise RefbrowserError(
            ErrorKind.BUDGET, f"{path} has {count:,} chunks to be taken over, more than {MOST:,}"
        )


def _with_attributes_of(here: MetadataText, there: MetadataText, json: Any, beginnings: Sequence[str]) -> Any:
    """Return metadata with the attributes of the other side whose names begin so."""
    key = here.place.key
    if not beginnings or not key.endswith((".zattrs", "zarr.json", ".zarray", ".zgroup")):
        return json
    if not key.endswith((".zattrs", "zarr.json")):
        return _members_of(json, there.json, beginnings) if isinstance(json, dict) else json
    mine, theirs = attributes_in(key, json), attributes_in(key, there.json)
    changed = _members_of(mine, theirs, beginnings)
    return json if same_meaning(changed, mine) else with_attributes(key, json, changed)


def _members_of(mine: dict[str, Any], theirs: Any, beginnings: Sequence[str]) -> dict[str, Any]:
    """Return members, those whose names begin so as the other side has them."""
    others = theirs if isinstance(theirs, dict) else {}
    taken = {name: value for name, value in others.items() if name.startswith(tuple(beginnings))}
    kept = {
        name: taken.get(name, value)
        for name, value in mine.items()
        if name in taken or not name.startswith(tuple(beginnings))
    }
    return {**kept, **taken}
