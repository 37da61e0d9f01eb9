"""The codecs of one Zarr version in the words of the other; where nothing is lost the bytes stay the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refbrowser.codecs.building import is_of_each_element, makes_bytes, specs_in
from refbrowser.codecs.settings import ItemSize, Settings
from refbrowser.codecs.table import CODECS, PREFIX, Codec, Kind, codec_of_v3, is_object_codec, plain_name
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.option_fields import CodecChoice, Sides
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, CodecSpec

_SHARDING = "sharding_indexed"


@dataclass(frozen=True, slots=True)
class CodecsV2:
    """Codecs as ``.zarray`` writes them.

    Attributes
    ----------
    order
        ``C`` or ``F``.
    filters, compressor
        Configurations with their ``id``.
    chunks
        Shape of a chunk: that of inner chunks where the source has shards.
    lost
        What v2 cannot hold, in words.
    """

    order: str
    filters: tuple[Mapping[str, Any], ...]
    compressor: Mapping[str, Any] | None
    chunks: tuple[int, ...]
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CodecsV3:
    """Codecs as ``zarr.json`` writes them: from array to array, to bytes, from bytes to bytes."""

    filters: tuple[Mapping[str, Any], ...]
    serializer: Mapping[str, Any]
    compressors: tuple[Mapping[str, Any], ...]
    lost: tuple[str, ...] = ()


def without_shards(node: ArrayNode) -> ArrayNode:
    """Return an array whose chunks are the inner chunks of the shards of `node`; itself where it has none.

    Shards hold a whole number of them: they are of one shape where those are not, too.
    """
    chunks, codecs = node.grid.largest, node.codecs
    if node.format != "zarr-v3":
        return node
    while (at := _place_of_shards(codecs)) is not None and all(map(is_of_each_element, codecs[:at])):
        settings = Settings(codecs[at].name, codecs[at].configuration)
        sides = list(codecs[at].configuration["chunk_shape"])
        for codec in reversed(codecs[:at]):
            sides = _turned_back(sides, codec)
        chunks, codecs = tuple(sides), (*codecs[:at], *specs_in(settings, "codecs"))
    if codecs is node.codecs:
        return node
    values = replace(node.chunks, grid=RegularChunkGrid(node.shape, chunks), codecs=codecs)
    return replace(node, values=values)


def _place_of_shards(codecs: Sequence[CodecSpec]) -> int | None:
    return next((place for place, codec in enumerate(codecs) if codec.name == _SHARDING), None)


def _turned_back(sides: list[int], codec: CodecSpec) -> list[int]:
    """Return the sides of a chunk before `codec`, which may be a transpose."""
    if codec.name != "transpose":
        return sides
    order = codec.configuration["order"]
    if order in ("C", "F"):
        return sides if order == "C" else sides[::-1]
    back = list(sides)
    for place, axis in enumerate(order):
        back[axis] = sides[place]
    return back


def with_shards(node: ArrayNode, sides: Sides) -> ArrayNode:
    """Return an array of Zarr v3 whose chunks are the inner chunks of shards.

    Raises
    ------
    RefbrowserError
        The shards hold no whole number of chunks; `META`: v3 has no such codec.
    """
    node = without_shards(node)
    codecs = codecs_v3(node)
    inner = node.grid.regular.chunk_shape
    grid = sides.shards(node.shape, inner, node.known_dtype.itemsize)
    sharding = {
        "chunk_shape": list(inner),
        "codecs": [*codecs.filters, codecs.serializer, *codecs.compressors],
        "index_codecs": [_named("bytes", {"endian": "little"}), {"name": "crc32c"}],
        "index_location": "end",
    }
    codec = CodecSpec(_SHARDING, sharding)
    return replace(node, values=replace(node.chunks, grid=grid, codecs=(codec,)), format="zarr-v3")


def chosen_codecs(node: ArrayNode, choice: CodecChoice) -> ArrayNode:
    """Return an array without shards in the words of v2, with one chosen codec; its order of axes stays."""
    order = _chosen_order(node) if node.format == "zarr-v3" else node.order
    codecs = [
        replace(codec, name=plain_name(codec.name))
        for codec in node.codecs[:1]
        if node.dtype is not None and node.dtype.hasobject and is_object_codec(plain_name(codec.name))
    ]
    if choice.name != "none":
        row = CODECS[choice.name]
        settings = {name: row.setting(name).in_v2(value) for name, value in choice.settings.items()}
        codecs.append(CodecSpec(choice.name, settings))
    values = replace(node.chunks, order=order, codecs=tuple(codecs))
    return replace(node, format="zarr-v2", values=values)


def _chosen_order(node: ArrayNode) -> str:
    """Return the order of the elements in chunks of v3 in the words of v2; C where v2 has none for it."""
    turned = [codec for codec in node.codecs if codec.name == "transpose"]
    try:
        return _order_v2(turned[0], len(node.shape)) if len(turned) == 1 else "C"
    except RefbrowserError:
        return "C"


def codecs_v2(node: ArrayNode) -> CodecsV2:
    """Return the codecs of an array as v2 has them.

    Raises
    ------
    RefbrowserError
        `META`: v2 has no such codec.
    """
    if node.format != "zarr-v3":
        items = [{"id": _known(codec.name), **codec.configuration} for codec in _sized(node)]
        return _split_v2(node.order, items, node.grid.largest)
    plain = without_shards(node)
    chunks, codecs = plain.grid.largest, plain.codecs
    lost = ["shards: each inner chunk becomes a chunk"] if plain is not node else []
    order, items = "C", []
    for codec in codecs:
        if codec.name in ("bytes", "endian"):
            continue
        if codec.name == "transpose":
            order = _order_v2(codec, len(chunks))
        else:
            items.append(_codec_v2(codec))
    return _split_v2(order, items, chunks, tuple(lost))


def _sized(node: ArrayNode) -> tuple[CodecSpec, ...]:
    """Return the codecs of an array; a shuffle of 0, as netcdf-c writes it, with the size of an element."""
    size = {"elementsize": node.known_dtype.itemsize}
    return tuple(
        replace(codec, configuration={**codec.configuration, **size})
        if codec.name == "shuffle" and codec.configuration.get("elementsize") == 0
        else codec
        for codec in node.codecs
    )


def _known(name: str) -> str:
    """Return the name of a codec; one of the v3 drafts that is not known has a URI in its place."""
    if ":" in name:
        raise RefbrowserError(ErrorKind.META, f"codec {quoted(name)} is not known")
    return name


def _split_v2(
    order: str, items: list[dict[str, Any]], chunks: tuple[int, ...], lost: tuple[str, ...] = ()
) -> CodecsV2:
    if items and not _is_filter(CODECS.get(items[-1]["id"])):
        return CodecsV2(order, tuple(items[:-1]), items[-1], chunks, lost)
    return CodecsV2(order, tuple(items), None, chunks, lost)


def _is_filter(row: Codec | None) -> bool:
    return row is not None and (row.kind is Kind.ELEMENTS or row.is_filter or row.objects is not None)


def _order_v2(codec: CodecSpec, rank: int) -> str:
    axes = codec.configuration.get("order")
    if axes in ("F", list(reversed(range(rank)))):
        return "F"
    if axes in ("C", list(range(rank))):
        return "C"
    raise RefbrowserError(ErrorKind.META, f"Zarr v2 has no chunks in the order of axes {quoted(axes)}")


def _codec_v2(codec: CodecSpec) -> dict[str, Any]:
    row, settings = codec_of_v3(codec.name), dict(codec.configuration)
    if row is None:
        return {"id": plain_name(codec.name), **settings}
    if row.only_v3:
        raise RefbrowserError(
            ErrorKind.META,
            f"Zarr v2 has no codec {quoted(codec.name)}",
            advice="Write the chunks again with another codec, such as --codec zstd",
        )
    for each in row.settings:
        if isinstance(each, ItemSize):
            settings.pop(each.name, None)
        elif each.name in settings:
            settings[each.name] = each.in_v2(settings[each.name])
        elif each.is_told:
            settings[each.name] = each.absent
    return {"id": row.name, **settings}


def codecs_v3(node: ArrayNode) -> CodecsV3:
    """Return the codecs of an array as v3 has them.

    Raises
    ------
    RefbrowserError
        `META`: v3 has no such codec.
    """
    if node.format == "zarr-v3":
        return _split_v3([_as_json(codec) for codec in node.codecs])
    filters: list[dict[str, Any]] = []
    compressors: list[dict[str, Any]] = []
    serializer = bytes_codec(node.known_dtype)
    rank = len(node.shape)
    if node.order == "F" and rank > 1:
        filters.append({"name": "transpose", "configuration": {"order": list(reversed(range(rank)))}})
    itemsize = node.known_dtype.itemsize
    lost = []
    for place, codec in enumerate(_sized(node)):
        row = CODECS.get(codec.name)
        if row is None or row.v3 is None:
            raise _none_in_v3(codec)
        if row.kind is Kind.SERIALIZER and place == 0:
            serializer = _named(row.v3, codec.configuration)
        elif codec.name == "quantize" and _changes_type(codec):
            lost.append("filter quantize: zarr-python does not know its other type; the values stay")
        elif row.kind is Kind.ELEMENTS and not compressors:
            filters.append(_named(row.v3, _settings_v3(row, codec, itemsize)))
        elif row.kind is Kind.BYTES:
            compressors.append(_named(row.v3, _settings_v3(row, codec, itemsize)))
            if row.is_extension:
                lost.append(f"codec {codec.name} is kept as an extension of Zarr v3 that few programs know")
        else:
            raise _none_in_v3(codec)
    lost += [
        f"filter {entry['name']} is kept as an extension of Zarr v3"
        for entry in filters
        if _is_extension(entry)
    ]
    return CodecsV3(tuple(filters), serializer, tuple(compressors), tuple(lost))


def _changes_type(codec: CodecSpec) -> bool:
    settings = codec.configuration
    return settings.get("astype", settings.get("dtype")) != settings.get("dtype")


def _none_in_v3(codec: CodecSpec) -> RefbrowserError:
    return RefbrowserError(ErrorKind.META, f"Zarr v3 has no codec {quoted(codec.name)}")


def _is_extension(entry: Mapping[str, Any]) -> bool:
    return str(entry["name"]).startswith(PREFIX)


def extensions_in(codecs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of codecs of Zarr v3, in shards too, that not every zarr-python knows."""
    found: dict[str, None] = {}
    for each in codecs:
        row, settings = codec_of_v3(each["name"]), each.get("configuration") or {}
        if row is not None and row.only_v3:
            found[each["name"]] = None
        inner = settings.get("codecs") if each["name"] == _SHARDING else None
        found |= dict.fromkeys(
            extensions_in({"name": item} if isinstance(item, str) else item for item in inner or ())
        )
    return list(found)


def bytes_codec(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return what stores elements as they are."""
    if dtype.itemsize == 1 or dtype.kind in "SV":
        return {"name": "bytes"}
    return _named("bytes", {"endian": "big" if dtype.str[0] == ">" else "little"})


def _settings_v3(row: Codec, codec: CodecSpec, itemsize: int) -> Mapping[str, Any]:
    """Return the settings of a codec of v2: those of an extension are the same, a codec of v3 needs all."""
    if row.is_extension:
        return codec.configuration
    return {each.name: each.in_v3(codec.configuration.get(each.name), itemsize) for each in row.settings}


def _split_v3(items: Sequence[Mapping[str, Any]]) -> CodecsV3:
    at = next((place for place, item in enumerate(items) if makes_bytes(item["name"])), None)
    if at is None:
        raise RefbrowserError(ErrorKind.META, "no codec turns the array into bytes")
    return CodecsV3(tuple(items[:at]), items[at], tuple(items[at + 1 :]))


def _as_json(codec: CodecSpec) -> dict[str, Any]:
    return _named(codec.name, codec.configuration)


def _named(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    # zarr-python refuses its extensions without a configuration, even an empty one.
    if settings or name.startswith(PREFIX):
        return {"name": name, "configuration": dict(settings)}
    return {"name": name}
