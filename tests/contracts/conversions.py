"""What becomes of each kind of array and attribute when a store of one flavour is exported to another."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import refbrowser
from refbrowser.exporting.request import ExportReport

FLAVOURS = {"zarr-v2": "Zarr v2", "zarr-v3": "Zarr v3", "zarr-v3-draft": "draft of 2019", "nczarr": "NCZarr"}
KEPT, CHANGED, LEFT_OUT = "kept", "changed", "left out"

_COUNT = np.arange(12)
_STRUCTURE = np.array([(1, 2.5), (-3, np.inf)] * 3, [("a", "<i4"), ("b", "<f8")])
_TEXTS = np.array(["a", "bé", "", "long " * 9], object)
#: Values of each kind of array.
ARRAYS: dict[str, tuple[Any, ...]] = {
    "integers, float32, float64": tuple(
        _COUNT.astype(kind) for kind in ("i1", "<i2", ">i4", "<i8", "u1", "<u2", ">u4", "<u8", "<f4", ">f8")
    ),
    "float16": (_COUNT.astype("<f2"),),
    "bool": (_COUNT % 3 == 0,),
    "complex": (_COUNT.astype("<c8") * (1 - 2j), _COUNT.astype("<c16") * 1j),
    "datetime64, timedelta64": (_COUNT.astype("<M8[s]"), _COUNT.astype("<m8[ns]")),
    "text of fixed length": (np.array(["a", "bc", "", "ddd"], "<U3"),),
    "bytes of fixed length": (np.array([b"a", b"bc", b"", b"ddd"], "S3"),),
    "raw bytes": (np.array([b"abc", b"\0\1\2"], "V3"),),
    "structures": (_STRUCTURE,),
    "text of varying length": (_TEXTS,),
    "NaN, infinities, chunks that are missing": (np.array([np.nan, np.inf, -np.inf, *[np.nan] * 9]),),
    "no dimensions": (np.float64(2.5),),
    "an extent of 0": (np.zeros((0, 3), "<i4"),),
    "C and F order, shards": (_COUNT.reshape(3, 4).astype("<i4"),) * 3,
}
#: Attributes of each kind.
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "attributes: numbers, texts, lists of them": {
        "n": 3,
        "x": 0.25,
        "t": "é 1",
        "l": [1, 2],
        "f": [0.5, -1.5],
    },
    "attributes: texts that look like numbers": {"digits": "42", "nan": "NaN", "json": '{"a": 1}'},
    "attributes: true, false, null": {"yes": True, "no": False, "none": None},
    "attributes: objects and nested lists": {"o": {"a": [1, {"b": 2}]}, "ll": [[1, 2], [3]]},
    "attributes: lists of texts": {"names": ["a", "bc"]},
}
DIMENSIONS = "dimension names"
KINDS = (*ARRAYS, *ATTRIBUTES, DIMENSIONS)


@dataclass(frozen=True)
class Outcome:
    """What became of one kind, and whether a change was told."""

    what: str
    told: bool


def _paths() -> Iterator[tuple[str, str, Any]]:
    for place, (kind, values) in enumerate(ARRAYS.items()):
        for number, each in enumerate(values):
            yield kind, f"k{place}_{number}", np.asarray(each)


def write_source(store: Path) -> None:
    """Write all kinds with zarr-python, as Zarr v3."""
    import zarr
    from zarr.codecs import TransposeCodec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = zarr.create_group(str(store), zarr_format=3)
        for kind, path, values in _paths():
            options: dict[str, Any] = {"chunks": tuple(max(1, size // 2) for size in values.shape) or "auto"}
            if kind.startswith("NaN"):
                options["fill_value"] = np.nan
            if path.endswith("_1") and kind.startswith("C and F"):
                options["filters"] = [TransposeCodec(order=(1, 0))]
            if path.endswith("_2") and kind.startswith("C and F"):
                options |= {"chunks": (1, 2), "shards": (2, 4)}
            dtype = str if values.dtype.hasobject else values.dtype
            names = ["y", "x"] if kind.startswith("C and F") else None
            array = root.create_array(path, shape=values.shape, dtype=dtype, dimension_names=names, **options)
            if values.size:
                array[...] = values
        for number, attributes in enumerate(ATTRIBUTES.values()):
            array = root.create_array(f"attributes{number}", shape=(2,), dtype="i4", attributes=attributes)
            array[:] = [1, 2]


def export(source: Path, target: Path, flavour: str) -> ExportReport:
    """Export a store; what cannot be held is left out."""
    shutil.rmtree(target, ignore_errors=True)
    return refbrowser.export(source, target, format=flavour, skip_bad=True)


def outcomes(store: Path, reports: list[ExportReport]) -> dict[str, Outcome]:
    """Return what became of each kind in a store, after these exports."""
    # How values are packed is told too, and says nothing of values.
    losses = [str(loss) for report in reports for loss in report.losses]
    told = [text for text in losses if "codec" not in text]
    told += [f"{error.place} {error.place.path}" for report in reports for error in report.skipped]
    with refbrowser.open(store) as dataset:
        found = dict.fromkeys(KINDS, KEPT)
        hidden = set()
        for kind, path, values in _paths():
            state = _state(dataset, path, values)
            if state != KEPT:
                found[kind] = state
                if not any(path in text for text in told):
                    hidden.add(kind)
        for number, (kind, attributes) in enumerate(ATTRIBUTES.items()):
            path = f"attributes{number}"
            shown = dict(dataset[f"/{path}"].attrs)
            missing = [name for name in attributes if name not in shown]
            other = [
                name for name in attributes if name in shown and not _same(shown[name], attributes[name])
            ]
            if missing or other:
                found[kind] = LEFT_OUT if missing else CHANGED
                if not any(path in text for text in told):
                    hidden.add(kind)
        place = list(ARRAYS).index("C and F order, shards")
        if dataset[f"/k{place}_0"].dimensions != ("y", "x"):
            found[DIMENSIONS] = LEFT_OUT
    return {kind: Outcome(what, kind not in hidden) for kind, what in found.items()}


def _same(found: Any, written: Any) -> bool:
    return type(found) is type(written) and found == written


def _state(dataset: Any, path: str, values: np.ndarray) -> str:
    if f"/{path}" not in dataset:
        return LEFT_OUT
    read = np.asarray(dataset[f"/{path}"][...])
    if read.dtype.newbyteorder("=") != values.dtype.newbyteorder("=") or read.shape != values.shape:
        return CHANGED
    same = (
        read.tolist() == values.tolist()
        if read.dtype.hasobject
        else read.astype(values.dtype).tobytes() == values.tobytes()
    )
    return KEPT if same else CHANGED


def table(columns: dict[str, dict[str, Outcome]]) -> str:
    """Return the outcomes of each flavour as a table in Markdown."""
    lines = ["| | " + " | ".join(FLAVOURS.values()) + " |", "|---" * (len(FLAVOURS) + 1) + "|"]
    for kind in KINDS:
        cells = [columns[flavour][kind].what for flavour in FLAVOURS]
        lines.append("| " + " | ".join((kind, *cells)) + " |")
    return "\n".join(lines)
