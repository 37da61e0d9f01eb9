"""How packed numbers are told to stand for others: by attributes, by codecs, or by both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from refbrowser.model.cf import SCALING, Packing
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import CodecSpec
from refbrowser.views.words import one_line

#: By what packing is said.
CODECS, ATTRIBUTES = "codecs", "attributes"
_SCALE, _CAST, _SHARDS = "scale_offset", "cast_value", "sharding_indexed"


def packing_words(node: ArrayNode) -> str:
    """Return how the numbers of an array are packed, and by what that is told; empty where they are not."""
    told = [_of_codecs(node), _of_attributes(node)]
    return "; then ".join(filter(None, told))


def other_packing(node: ArrayNode) -> str:
    """Return by what the packing of an array could be said instead; empty where it is not packed."""
    if node.nested is not None or not node.has_grid:
        return ""
    if any(spec.name in (_SCALE, _CAST) for spec in _all_of(node.codecs)):
        return ATTRIBUTES
    return CODECS if any(name in node.attributes for name in SCALING) else ""


def _of_codecs(node: ArrayNode) -> str:
    """Return what the codecs of Zarr v3 do to numbers."""
    specs = [spec for spec in _all_of(node.codecs) if spec.name in (_SCALE, _CAST)]
    if not specs:
        return ""
    said = {spec.name: spec.configuration for spec in specs}
    words = [f"stored as {one_line(str(said[_CAST].get('data_type')))}"] if _CAST in said else []
    if _SCALE in said:
        scale, offset = said[_SCALE].get("scale", 1), said[_SCALE].get("offset", 0)
        divided = "" if scale == 1 else f" ÷ {_number(scale)}"
        words.append(f"value = stored{divided}{_added(offset)}")
    pairs = (said.get(_CAST, {}).get("scalar_map") or {}).get("decode") or []
    words += [f"{_number(pair[0])} is {_number(pair[1])}" for pair in pairs[:2] if len(pair) == 2]
    names = " and ".join(dict.fromkeys(spec.name for spec in specs))
    return f"by codecs ({names}): {', '.join(words)}"


def _of_attributes(node: ArrayNode) -> str:
    """Return what the attributes of CF say of numbers."""
    if node.dtype is None or node.dtype.kind not in "iuf":
        return ""
    packing = Packing.of(node)
    if not packing.is_scaled:
        return ""
    scale = "" if packing.scale == 1 else f" × {_number(packing.scale)}"
    words = [f"value = stored{scale}{_added(packing.offset)}"]
    words += [f"{each} is no value" for each in packing.missing[:2]]
    names = [name for name in SCALING if name in node.attributes]
    return f"by attributes ({' and '.join(names)}): {', '.join(words)}"


def _all_of(codecs: Sequence[CodecSpec]) -> Iterator[CodecSpec]:
    """Yield codecs, and those of the chunks of shards."""
    for spec in codecs:
        yield spec
        inner: Any = spec.configuration.get("codecs") if spec.name == _SHARDS else None
        for item in inner if isinstance(inner, list) else ():
            if isinstance(item, dict) and isinstance(item.get("name"), str):
                configuration = item.get("configuration")
                yield from _all_of(
                    [CodecSpec(item["name"], configuration if isinstance(configuration, dict) else {})]
                )


def _number(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else one_line(str(value))


def _added(offset: Any) -> str:
    if offset == 0:
        return ""
    return f" + {_number(offset)}".replace("+ -", "- ")
