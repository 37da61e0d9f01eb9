"""Messages of GRIB beside the arrays made of them: each is to be in one, at the points eccodes gives."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import eccodes
import numpy as np

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.findings.dataset_findings import dataset_findings
from refbrowser.errors import RefbrowserError

_MISSING = 9.0e36
_REGULAR = ("regular_ll", "rotated_ll", "regular_gg")
_PLACES = ("latitude", "longitude")
#: Degrees by which two positions may differ.
_NEAR = 1e-4


def compare(path: Path, dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield a verdict on each message and each array: what it is, and what differs."""
    problems = " ".join(each.message for each in dataset_findings(dataset.document, dataset.hierarchy).all)
    fields: dict[bytes, list[tuple[str, tuple[int, ...]]]] = defaultdict(list)
    for name, array in dataset.arrays.items():
        own = name.rpartition("/")[2]
        try:
            if own in _PLACES or array.node.name in array.node.dimensions:
                array[...]
                yield "agree", name
                continue
            inner = _grid_rank(array)
            for at in np.ndindex(array.shape[: len(array.shape) - inner]):
                fields[_mark(array[at])].append((name, at))
        except RefbrowserError as error:
            yield "refused", f"{name}: {error.message}"
    uses: Counter[bytes] = Counter()
    for number, handle in enumerate(_messages(path)):
        said = _said(handle)
        label = f"message {number} ({said})"
        try:
            eccodes.codes_set(handle, "missingValue", _MISSING)
            values = eccodes.codes_get_array(handle, "values").astype(float)
        except eccodes.CodesInternalError as error:
            yield "library fails", f"{label}: {error}"
            continue
        mark = _mark(np.where(values == _MISSING, np.nan, values))
        found = fields.get(mark, [])
        if not found:
            kind = "told" if "message at byte" in problems or "cannot be read" in problems else "missing"
            yield kind, f"{label}: its values are in no array"
            continue
        uses[mark] += 1
        if uses[mark] > len(found):
            yield "told" if "not shown" in problems else "missing", f"{label}: fewer arrays than messages"
            continue
        placed = _placed(dataset, found, handle, label)
        is_told = placed[0] == "no positions" and "cannot be computed" in problems
        yield ("agree", label) if is_told else placed


def _messages(path: Path) -> Iterator[Any]:
    """Yield all fields of a file, those of one message too."""
    eccodes.codes_grib_multi_support_on()
    with path.open("rb") as file:
        while True:
            try:
                handle = eccodes.codes_grib_new_from_file(file)
            except eccodes.CodesInternalError:
                continue
            if handle is None:
                return
            yield handle
            eccodes.codes_release(handle)


def _said(handle: Any) -> str:
    keys = ("shortName", "typeOfLevel", "level", "stepRange", "gridType", "packingType", "numberOfValues")
    found = []
    for key in keys:
        try:
            found.append(str(eccodes.codes_get(handle, key)))
        except eccodes.CodesInternalError:
            found.append("?")
    return " ".join(found)


def _says(handle: Any, key: str) -> bool:
    return bool(eccodes.codes_is_defined(handle, key) and eccodes.codes_get(handle, key))


def _grid_rank(array: Any) -> int:
    return 1 if array.node.dimensions[-1:] == ("values",) else 2


def _mark(values: Any) -> bytes:
    """Return what values in any order have in common."""
    return np.sort(np.asarray(values, float).reshape(-1)).tobytes() + b"%d" % np.size(values)


def _placed(
    dataset: Dataset, found: list[tuple[str, tuple[int, ...]]], handle: Any, label: str
) -> tuple[str, str]:
    try:
        theirs = eccodes.codes_get_array(handle, "latLonValues").reshape(-1, 3)
    except eccodes.CodesInternalError:
        return "agree", f"{label}: eccodes gives no positions"
    theirs[theirs[:, 2] == _MISSING, 2] = np.nan
    if eccodes.codes_get(handle, "gridType") in _REGULAR and _says(handle, "alternativeRowScanning"):
        # eccodes goes through these as if all rows ran one way; flag table 3.4 says that they do not.
        rows, columns = eccodes.codes_get(handle, "Nj"), eccodes.codes_get(handle, "Ni")
        values = theirs[:, 2].reshape(rows, columns)
        values[1::2] = values[1::2, ::-1].copy()
    verdict = "", ""
    for name, at in found:
        group = name.rpartition("/")[0]
        places = [dataset.arrays.get(f"{group}/{each}") for each in _PLACES]
        if None in places:
            verdict = "no positions", f"{label}: nothing says where its points are"
            continue
        values = np.asarray(dataset[name][at], float)
        try:
            read = [np.asarray(each[...], float) for each in places if each is not None]
        except RefbrowserError as error:
            verdict = "refused", f"{label}: {error.message}"
            continue
        if read[0].ndim == 1 and values.ndim == 2:
            read = list(np.meshgrid(*read, indexing="ij"))
        ours = np.stack([*map(np.ravel, read), values.ravel()], 1)
        differing = _differing(ours, theirs)
        if not differing:
            return "agree", label
        verdict = "placed wrongly", f"{label}: {differing}"
    return verdict


def _differing(ours: Any, theirs: Any) -> str:
    ours, theirs = (_sorted(each) for each in (ours, theirs))
    near = (np.abs(ours[:, :2] - theirs[:, :2]) < _NEAR).all(1) & (
        (ours[:, 2] == theirs[:, 2]) | (np.isnan(ours[:, 2]) & np.isnan(theirs[:, 2]))
    )
    if near.all():
        return ""
    at = int(np.flatnonzero(~near)[0])
    return (
        f"{int((~near).sum())} of {len(near)} values elsewhere: {ours[at].tolist()} / {theirs[at].tolist()}"
    )


def _sorted(triples: Any) -> Any:
    rounded = np.round(triples[:, :2] % 360, 4) % 360
    order = np.lexsort((triples[:, 2], rounded[:, 1], rounded[:, 0]))
    return np.concatenate([rounded, triples[:, 2:]], 1)[order]
