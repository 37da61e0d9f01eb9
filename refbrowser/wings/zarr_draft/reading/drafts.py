"""In what the drafts differ: keys, members, data types, codecs and fill values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.codecs.building import endian_of
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.store_rules import EARLY_DRAFT, LATER_DRAFT
from refbrowser.model import fill_values as lenient
from refbrowser.model.dtypes import with_byte_order
from refbrowser.model.nodes import CodecSpec, Flavour
from refbrowser.wings.zarr_draft.reading.codecs import parse_codec, parse_codecs
from refbrowser.wings.zarr_draft.reading.data_types import (
    DraftType,
    parse_data_type,
    parse_fill_value,
    parse_later_data_type,
)
from refbrowser.wings.zarr_draft.reading.draft_keys import (
    SCHEME_2019,
    ChunkSpelling,
    KeyScheme,
    scheme_2020,
    spellings_2019,
    spellings_2020,
)
from refbrowser.wings.zarr_draft.reading.draft_members import Notes, member

Document = Mapping[str, Any]
#: Where zarr-python 2 keeps the filters of an array of a later draft.
FILTERS = "filters"
#: Steps of the codecs of 2022 that are no codecs of the drafts before: byte order and order of axes.
_ARRAY_STEPS = ("endian", "bytes", "transpose")


@dataclass(frozen=True, slots=True)
class Draft:
    """The rules of one age of the draft.

    Attributes
    ----------
    required
        Names that every document must have, and that are taken as empty where they are absent.
    has_format
        Every document has a `zarr_format`; else the entry document has it.
    spellings
        Path, separator and number of dimensions to the ways in which chunk keys are written.
    data_type, codecs, fill_value, order
        Read these from the document of an array.
    """

    flavour: Flavour
    scheme: KeyScheme
    has_format: bool
    spellings: Callable[[str, Any, int], tuple[ChunkSpelling, ...]]
    data_type: Callable[[Document, Notes], DraftType]
    codecs: Callable[[Document, Notes], tuple[CodecSpec, ...]]
    fill_value: Callable[[Document, DraftType, Notes], Any]
    order: Callable[[Document], str]

    def member(self, document: Document, name: str, default: Any, notes: Notes) -> Any:
        """Return a member that the draft of 2019 requires and the later ones do not."""
        return member(document, name, default, notes) if self.has_format else document.get(name, default)


def _data_type_2019(document: Document, notes: Notes) -> DraftType:
    return parse_data_type(document.get("data_type"), lambda text: notes.warn(text, "data_type"))


def _codecs_2019(document: Document, notes: Notes) -> tuple[CodecSpec, ...]:
    return parse_codecs(member(document, "chunk_codecs", [], notes))


def _fill_value_2019(document: Document, kind: DraftType, notes: Notes) -> Any:
    value = parse_fill_value(member(document, "fill_value", None, notes), kind.base)
    if value is None or kind.base == kind.dtype:
        return value
    return np.array(value, kind.base).view(kind.dtype)[()]


def _order(document: Document) -> str:
    value = document.get("chunk_memory_layout")
    if value not in ("C", "F"):
        name = value.get("type", value) if isinstance(value, dict) else value
        raise RefbrowserError(ErrorKind.META, f"the memory layout {quoted(name)} is not known")
    return str(value)


DRAFT_2019 = Draft(
    EARLY_DRAFT,
    SCHEME_2019,
    True,
    spellings_2019,
    _data_type_2019,
    _codecs_2019,
    _fill_value_2019,
    _order,
)


def _data_type_2020(document: Document, notes: Notes) -> DraftType:
    found = parse_later_data_type(document.get("data_type"), lambda text: notes.warn(text, "data_type"))
    for spec in _named_steps(document):
        if spec.name != "transpose":
            dtype = with_byte_order(found.dtype, endian_of(spec))
            return DraftType(dtype, dtype.str, dtype)
    return found


def _codecs_2020(document: Document, notes: Notes) -> tuple[CodecSpec, ...]:
    found: list[CodecSpec] = []
    attributes = document.get("attributes")
    if isinstance(attributes, dict) and has_filters(attributes):
        found += [_of_numcodecs(item) for item in attributes[FILTERS]]
    if document.get("compressor") is not None:
        found.append(parse_codec(document["compressor"]))
    for item in _codec_items(document):
        if "name" not in item:
            found.append(parse_codec(item))
        elif item["name"] not in _ARRAY_STEPS:
            found.append(_named(item))
    return tuple(found)


def has_filters(attributes: Mapping[str, Any]) -> bool:
    """Whether the attributes hold filters, as zarr-python 2 keeps them."""
    value = attributes.get(FILTERS)
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and isinstance(item.get("id"), str) for item in value)
    )


def _of_numcodecs(item: Mapping[str, Any]) -> CodecSpec:
    return CodecSpec(item["id"], {name: value for name, value in item.items() if name != "id"})


def _codec_items(document: Document) -> list[dict[str, Any]]:
    """Return the members of `codecs`, which came back in 2022."""
    items = document.get("codecs", document.get("chunk_codecs")) or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise RefbrowserError(ErrorKind.META, f"codecs is {quoted(items)}, not a list of objects")
    return items


def _named_steps(document: Document) -> list[CodecSpec]:
    return [_named(item) for item in _codec_items(document) if item.get("name") in _ARRAY_STEPS]


def _named(item: Mapping[str, Any]) -> CodecSpec:
    name, configuration = item["name"], item.get("configuration") or {}
    if not isinstance(name, str) or not isinstance(configuration, dict):
        raise RefbrowserError(ErrorKind.META, f"a codec is {quoted(item)}, not a name and its configuration")
    return CodecSpec(name, configuration)


def _fill_value_2020(document: Document, kind: DraftType, notes: Notes) -> Any:
    return lenient.parse_fill_value(document.get("fill_value"), kind.dtype)


def _order_2020(document: Document) -> str:
    for spec in _named_steps(document):
        if spec.name == "transpose":
            return _order_of_axes(spec.configuration.get("order"), len(document["shape"]))
    return _order(document) if "chunk_memory_layout" in document else "C"


def _order_of_axes(axes: Any, ndim: int) -> str:
    """Return the order in which a transpose stores elements.

    Raises
    ------
    RefbrowserError
        `E_META`: it is neither C nor F.
    """
    if axes in ("C", list(range(ndim))):
        return "C"
    if axes in ("F", list(reversed(range(ndim)))):
        return "F"
    raise RefbrowserError(ErrorKind.META, f"chunks in the order of axes {quoted(axes)} are not read")


def draft_2020(suffix: str | None) -> Draft:
    """Return the rules of the later drafts.

    Parameters
    ----------
    suffix
        `metadata_key_suffix` of the entry document; None where there is none.
    """
    return Draft(
        LATER_DRAFT,
        scheme_2020(suffix),
        False,
        spellings_2020,
        _data_type_2020,
        _codecs_2020,
        _fill_value_2020,
        _order_2020,
    )
