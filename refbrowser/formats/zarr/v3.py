"""Node metadata of Zarr v3 (``zarr.json``) to the model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from refbrowser.codecs.building import endian_of, specs_in
from refbrowser.codecs.settings import Settings
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.zarr.shapes import parse_edges, parse_grid, parse_shape, wrong
from refbrowser.model import dtypes
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.data_type import DataType
from refbrowser.model.fill_values import parse_fill_value
from refbrowser.model.grid import ChunkGrid
from refbrowser.model.narrow_types import narrow_type
from refbrowser.model.nodes import CodecSpec
from refbrowser.model.values import Chunks, NoValues

_MEMBERS = {
    "attributes",
    "chunk_grid",
    "chunk_key_encoding",
    "codecs",
    "data_type",
    "dimension_names",
    "fill_value",
    "node_type",
    "shape",
    "storage_transformers",
    "zarr_format",
}
#: Members that the metadata of a group may have.
GROUP_MEMBERS = frozenset({"attributes", "consolidated_metadata", "node_type", "zarr_format"})
_SEPARATORS: Mapping[str, Literal[".", "/"]] = {"default": "/", "v2": "."}


def is_array(document: Mapping[str, Any]) -> bool:
    """Whether a ``zarr.json`` describes an array, not a group.

    Raises
    ------
    RefbrowserError
        `META`: it is not of version 3, or describes neither.
    """
    if document.get("zarr_format") != 3:
        raise wrong("zarr_format", document.get("zarr_format"), "3")
    if document.get("node_type") not in ("array", "group"):
        raise wrong("node_type", document.get("node_type"), "'array' or 'group'")
    return document["node_type"] == "array"


def array_fields(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an `ArrayNode` that a ``zarr.json`` of an array gives.

    A type, grid or extension that is not known and a fill value that does not fit the type give
    `unreadable`; what the array's shape hangs on is raised.

    Raises
    ------
    RefbrowserError
        `META`: a member is absent or wrong. `BUDGET`: the array is beyond the limits.
    """
    shape = parse_shape(document.get("shape"))
    codecs = specs_in(Settings("zarr.json", document), "codecs")
    keys = parse_chunk_keys(document.get("chunk_key_encoding"))
    fields: dict[str, Any] = {
        "shape": shape,
        "values": NoValues(codecs=codecs),
        "format": "zarr-v3",
        "fill_marks": False,
        "type": DataType(None, _written_name(document.get("data_type"))),
    }
    try:
        grid = parse_chunk_grid(shape, document.get("chunk_grid"))
        fields["values"] = Chunks(grid=grid, codecs=codecs, keys=keys)
        narrow = narrow_type(fields["type"].name)
        if narrow is not None:
            fields["type"] = DataType(narrow.dtype, narrow.name)
            fields["fill_value"] = narrow.fill_value(document.get("fill_value"))
        else:
            dtype = dtypes.with_byte_order(dtypes.parse_v3(document.get("data_type")), _endian(codecs))
            fields["type"] = DataType.of(dtype, fields["type"].name if dtype.hasobject else None)
            text_kind = "string" if fields["type"].name == "string" else "bytes"
            fields["fill_value"] = parse_fill_value(document.get("fill_value"), dtype, text_kind)
        check_extensions(document, _MEMBERS)
    except RefbrowserError as error:
        fields["unreadable"] = error
    return fields


def _written_name(value: Any) -> str:
    name = value.get("name") if isinstance(value, dict) else value
    return name if isinstance(name, str) else str(value)


def parse_chunk_grid(shape: tuple[int, ...], value: Any) -> ChunkGrid:
    """Return the grid of chunks that ``chunk_grid`` describes.

    Raises
    ------
    RefbrowserError
        `META`: it is not known, or does not fit the shape. `BUDGET`: it is beyond the limits.
    """
    name, configuration = _extension("chunk_grid", value)
    if name == "rectilinear":
        return parse_edges(shape, configuration)
    if name != "regular":
        raise RefbrowserError(ErrorKind.META, f"the chunk grid {quoted(name)} is not known")
    return parse_grid(shape, configuration.get("chunk_shape"))


def chunk_grid_json(grid: ChunkGrid) -> dict[str, Any]:
    """Return the ``chunk_grid`` that describes chunks."""
    if grid.is_regular:
        return {"name": "regular", "configuration": {"chunk_shape": grid.spelling}}
    return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": grid.spelling}}


def parse_chunk_keys(value: Any) -> ChunkKeyEncoding:
    """Return how chunk keys are written by a ``chunk_key_encoding``.

    Raises
    ------
    RefbrowserError
        `META`: it is not known.
    """
    name, configuration = _extension("chunk_key_encoding", value)
    if name not in _SEPARATORS:
        raise RefbrowserError(ErrorKind.META, f"the chunk key encoding {quoted(name)} is not known")
    separator = configuration.get("separator", _SEPARATORS[name])
    if separator not in (".", "/"):
        raise wrong("separator", separator, "'.' or '/'")
    return ChunkKeyEncoding("v2" if name == "v2" else "default", separator)


def _extension(member: str, value: Any) -> tuple[str, Mapping[str, Any]]:
    """Return name and configuration of an extension point: a name alone, or an object."""
    if isinstance(value, str):
        return value, {}
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        configuration = value.get("configuration", {})
        if isinstance(configuration, dict):
            return value["name"], configuration
    raise wrong(member, value, "an object with a name")


def _endian(codecs: Sequence[CodecSpec]) -> Literal["little", "big"]:
    """Return the byte order in which elements are stored, also in shards; little where nothing says it."""
    for spec in codecs:
        if spec.name in ("bytes", "endian"):
            return endian_of(spec)
        if spec.name == "sharding_indexed":
            return _endian(specs_in(Settings(spec.name, spec.configuration), "codecs"))
    return "little"


def check_extensions(document: Mapping[str, Any], members: Collection[str]) -> None:
    """Check that whatever must be understood is (Zarr v3, "Extension definition").

    Raises
    ------
    RefbrowserError
        `META`: the document has a member beside `members`, or a storage transformer, that must be.
    """
    transformers = document.get("storage_transformers", [])
    if not isinstance(transformers, list) or not all(map(_is_optional, transformers)):
        raise RefbrowserError(ErrorKind.META, "storage transformers are not supported")
    for name, value in document.items():
        if name not in members and not _is_optional(value):
            raise RefbrowserError(
                ErrorKind.META, f"the metadata has the member {quoted(name)}, which must be understood"
            )


def _is_optional(value: Any) -> bool:
    return isinstance(value, dict) and value.get("must_understand") is False
