"""Chunks whose codecs are lent by installed packages that a user allowed.

Names come from metadata, code only from what is installed: it is loaded, and runs, in a process of its own
(`workers.lent_worker`), and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from refbrowser.codecs.base import Bytes, DType, Room, as_bytes
from refbrowser.codecs.lenders import OF_V2, OF_V3, Lender, lender_of
from refbrowser.codecs.outside import Decoder, asked_of
from refbrowser.codecs.table import codec_of_v3
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.fill_values import plain_fill
from refbrowser.model.narrow_types import stored_type
from refbrowser.model.nodes import ArrayNode, CodecSpec

_SCRIPT = Path(__file__).with_name("workers") / "lent_worker.py"
#: Configurations within configurations.
_DEPTH = 8


def lenders_of(node: ArrayNode) -> dict[str, Lender]:
    """Return the package of each codec of an array, by its name, that is not of the table but registered."""
    group = OF_V3 if node.format == "zarr-v3" else OF_V2
    names = dict.fromkeys(name for spec in node.codecs for name in _names(spec.name, spec.configuration))
    found = {name: lender_of(name, group) for name in names if codec_of_v3(name) is None}
    return {name: lender for name, lender in found.items() if lender is not None}


def _names(name: str, configuration: Any, depth: int = 0) -> Iterator[str]:
    """Yield the name of a codec, and those of the codecs in its configuration."""
    yield name
    if not isinstance(configuration, Mapping) or depth > _DEPTH:
        return
    for value in configuration.values():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Mapping) and isinstance(each.get("name"), str):
                yield from _names(each["name"], each.get("configuration"), depth + 1)
            elif isinstance(each, Mapping) and isinstance(each.get("id"), str):
                yield from _names(each["id"], each, depth + 1)


@dataclass(frozen=True, slots=True)
class Lent:
    """All codecs of a chunk, undone by zarr-python in a process of its own with those that are lent to it.

    Attributes
    ----------
    lent
        The name of each codec that is lent, and its package with the version: nothing else of other
        packages is loaded there.
    metadata
        Of an array of one chunk, as JSON.
    dtype
        Of the decoded elements.
    """

    lent: tuple[tuple[str, str], ...]
    metadata: str
    dtype: DType

    stored: ClassVar[None] = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the codecs that are lent."""
        return tuple(name for name, _ in self.lent)

    @property
    def lenders(self) -> tuple[str, ...]:
        """The packages that have them, with their versions."""
        return tuple(dict.fromkeys(lender for _, lender in self.lent))

    def encoded(self, room: Room) -> Room:
        """Return the room of any chunk: nothing is known of what these codecs make."""
        return Room(None, LIMITS.chunk_size)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the elements of a chunk in C order."""
        request = {"operation": "decode", "metadata": self.metadata, "dtype": self.dtype.str}
        decoder = Decoder(_SCRIPT, json.dumps(self.lent))
        target: memoryview | int = room.most if out is None else out.data
        return as_bytes(asked_of(decoder, request, data, target))

    def encode(self, data: Bytes) -> Bytes:
        """Raise: nothing is written by codecs of others."""
        names = ", ".join(map(quoted, self.names))
        raise RefbrowserError(ErrorKind.META, f"nothing is written by the codecs of other packages: {names}")


def lent_codecs(
    specs: Sequence[CodecSpec],
    shape: tuple[int, ...],
    dtype: DType,
    fill_value: Any,
    lenders: Mapping[str, str],
    order: str = "",
) -> Lent:
    """Return what undoes the codecs of a chunk, of which some are lent.

    Parameters
    ----------
    lenders
        The package of each codec that the user allowed, with its version, by the codec's name.
    order
        As Zarr v2 has it; empty of v3.

    Raises
    ------
    RefbrowserError
        `META`: the elements are no numbers of numpy.
    """
    if dtype.kind not in "biufc" or stored_type(dtype) is not None:
        raise RefbrowserError(ErrorKind.META, "codecs of other packages are used on numbers only")
    used = [name for spec in specs for name in _names(spec.name, spec.configuration) if name in lenders]
    fill = plain_fill(fill_value)
    metadata = (
        _metadata_v2(specs, shape, dtype, fill, order) if order else _metadata_v3(specs, shape, dtype, fill)
    )
    lent = tuple((name, lenders[name]) for name in dict.fromkeys(used))
    return Lent(lent, json.dumps(metadata), dtype)


def _metadata_v3(
    specs: Sequence[CodecSpec], shape: tuple[int, ...], dtype: DType, fill: Any
) -> dict[str, Any]:
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
        "fill_value": _usual_fill(dtype) if fill is None else fill,
        "codecs": [{"name": each.name, "configuration": dict(each.configuration)} for each in specs],
        "attributes": {},
    }


def _metadata_v2(
    specs: Sequence[CodecSpec], shape: tuple[int, ...], dtype: DType, fill: Any, order: str
) -> dict[str, Any]:
    return {
        "zarr_format": 2,
        "shape": shape,
        "chunks": shape,
        "dtype": dtype.str,
        "fill_value": fill,
        "order": order,
        # A compressor is the last one that is undone first, as the last filter is.
        "compressor": None,
        "filters": [{"id": each.name, **each.configuration} for each in specs],
    }


def _usual_fill(dtype: DType) -> Any:
    return False if dtype.kind == "b" else [0.0, 0.0] if dtype.kind == "c" else 0
