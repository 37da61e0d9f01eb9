"""The packing of one array of a document said in the other way: by attributes or by codecs, as one edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refbrowser.engine.dataset import Dataset, NoSuchNodeError
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.node_metadata import MetadataText, attributes_key, read_metadata, uses_v3
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.codec_names import without_shards
from refbrowser.exporting.packing import PACKS, LastBits, Repacked, repacked
from refbrowser.formats.zarr.documents import NODE_V3, split_key
from refbrowser.model.fill_values import plain_fill
from refbrowser.model.nodes import ArrayNode, CodecSpec, Flavour
from refbrowser.references.edits.edits import Compound, Edit, SetMetadata
from refbrowser.views.packing_words import ATTRIBUTES, CODECS, other_packing
from refbrowser.words import count_text, counted_spaced

_SHARDS = "sharding_indexed"
#: What is advised where the metadata is of another version.
EXPORT_ADVICE = "export the array to Zarr v3 with --packing codecs, in Python with packing='codecs'"


@dataclass(frozen=True, slots=True)
class PackingChange:
    """The metadata of an array before and after its packing is said in the other way.

    Attributes
    ----------
    packing
        What says it afterwards: ``codecs`` or ``attributes``.
    path, key
        Of the array, and of its metadata document.
    before, after
        That document.
    last_bits
        How far the values of one are from those of the other.
    """

    packing: str
    path: str
    key: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    last_bits: LastBits

    @property
    def edit(self) -> Edit:
        """The change as one step of the history."""
        title = f"Say the packing of {self.path} by {self.packing}"
        return Compound(title, (SetMetadata(self.key, dict(self.after)),))

    def lines(self) -> tuple[str, ...]:
        """Return how far values differ, and at which stored numbers that was computed, in sentences."""
        found = self.last_bits
        kind = found.packed.name
        if found.compared + 1 >= found.possible:
            sampled = f"Computed at all {count_text(found.compared)} numbers of {kind} that stand for values."
        else:
            some = f"{count_text(found.compared)} of the {count_text(found.possible)} numbers of {kind}"
            sampled = f"Computed at {some}, evenly spaced, the ends included."
        if not found.differing:
            return ("What is stored stays, and so does every value.", sampled)
        share = 100 * found.differing / found.compared
        steps = counted_spaced(found.steps, "unit")
        return (
            f"What is stored stays. {share:.3g} % of the values differ, by {found.largest:.3g} at most, "
            f"which is {steps} in the last place of {found.unpacked.name}.",
            f"Furthest apart: stored {found.stored} is {found.by_attributes!r} by attributes, "
            f"{found.by_codecs!r} by codecs.",
            sampled,
        )


def packing_change(
    node: ArrayNode, flavour: Flavour, texts: Sequence[MetadataText], packing: str
) -> PackingChange:
    """Return the change of the metadata of an array that says its packing by codecs or by attributes.

    Parameters
    ----------
    texts
        The metadata documents of the array as they are now.

    Raises
    ------
    RefbrowserError
        `USAGE`: there is no such way. `META`: it cannot be said so, the array is not packed in the other
        way, or its metadata cannot be edited.
    """
    if packing not in (CODECS, ATTRIBUTES):
        message = f"packing is {CODECS!r} or {ATTRIBUTES!r}"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(path=node.path))
    key = attributes_key(node, flavour)
    if not uses_v3(node) or split_key(key)[1] != NODE_V3:
        raise _refused(node, "its metadata is not of Zarr v3, which alone has codecs for packing")
    text = next((text for text in texts if text.place.key == key), None)
    if text is None or not isinstance(text.json, Mapping):
        raise _refused(
            node, "its metadata is not known" if text is None else f"its metadata: {text.fault}", ""
        )
    if not text.place.can_edit:
        raise _refused(node, f"its metadata cannot be edited: {text.place.note}", "")
    made = repacked(without_shards(node), packing, has_codecs=True)
    if made.convert is None or made.last_bits is None:
        raise _refused(node, made.losses[0] if made.losses else _not_packed(node, packing), "")
    return PackingChange(packing, node.path, key, text.json, _after(node, text.json, made), made.last_bits)


def dataset_with_packing(dataset: Dataset, path: str, packing: str) -> Dataset:
    """Return a dataset in which the packing of an array is said by codecs, or by attributes.

    Raises
    ------
    NoSuchNodeError
        There is no such array.
    RefbrowserError
        As `packing_change` has it.
    """
    control = JobControl()
    node = dataset.hierarchy.find(path)
    if not isinstance(node, ArrayNode):
        raise NoSuchNodeError(path, dataset.path)
    texts = read_metadata(dataset, dataset.document, node, control.token)
    change = packing_change(node, dataset.hierarchy.flavour, texts, packing)
    return dataset.with_document(dataset.document.apply(change.edit), control)


def _not_packed(node: ArrayNode, packing: str) -> str:
    if packing == ATTRIBUTES and other_packing(node) == ATTRIBUTES:
        return f"its codecs {' and '.join(PACKS)} are not the first ones"
    return f"it is not packed by {ATTRIBUTES if packing == CODECS else CODECS}"


def _refused(node: ArrayNode, why: str, advice: str = EXPORT_ADVICE) -> RefbrowserError:
    return RefbrowserError(ErrorKind.META, why, Place(path=node.path), advice=advice)


def _after(before: ArrayNode, json: Mapping[str, Any], made: Repacked) -> dict[str, Any]:
    """Return the metadata of an array as another way of packing has it; its other members stay."""
    assert made.convert is not None
    node, packs = made.node, len(made.convert.codecs)
    gone = before.attributes.keys() - node.attributes.keys()
    attributes = {name: value for name, value in (json.get("attributes") or {}).items() if name not in gone}
    attributes |= {
        name: value for name, value in node.attributes.items() if value is not before.attributes.get(name)
    }
    codecs = list(json["codecs"])
    if made.convert.packs:
        codecs = _without(codecs, packs)
    else:
        codecs = _with(codecs, [_as_json(spec) for spec in node.codecs[:packs]])
    elements = made.convert.packed if made.convert.packs else made.convert.unpacked
    changed = {
        "data_type": elements.newbyteorder("=").name,
        "fill_value": plain_fill(node.fill_value),
        "codecs": codecs,
        "attributes": attributes,
    }
    return {**json, **changed}


def _with(codecs: list[Any], specs: list[Any]) -> list[Any]:
    """Return codecs with others before them: in shards, so that a chunk of one can be read alone."""
    at = _shards_in(codecs)
    if at is None:
        return [*specs, *codecs]
    return _with_inner(codecs, at, _with(_inner(codecs[at]), specs))


def _without(codecs: list[Any], packs: int) -> list[Any]:
    """Return codecs without the first few that pack, wherever these begin."""
    at = _shards_in(codecs)
    if at is None or _name(codecs[0]) in PACKS:
        return codecs[packs:]
    return _with_inner(codecs, at, _without(_inner(codecs[at]), packs))


def _shards_in(codecs: list[Any]) -> int | None:
    return next((place for place, codec in enumerate(codecs) if _name(codec) == _SHARDS), None)


def _with_inner(codecs: list[Any], at: int, inner: list[Any]) -> list[Any]:
    shards = {**codecs[at], "configuration": {**codecs[at]["configuration"], "codecs": inner}}
    return [*codecs[:at], shards, *codecs[at + 1 :]]


def _inner(codec: Any) -> list[Any]:
    return list(codec["configuration"]["codecs"])


def _name(codec: Any) -> Any:
    return codec.get("name") if isinstance(codec, Mapping) else codec


def _as_json(spec: CodecSpec) -> dict[str, Any]:
    return {"name": spec.name, "configuration": dict(spec.configuration)}
