"""The sample as a file for each day: classic netCDF, and a document of one gen rule over all of them.

The grammar of the files is that of the netCDF users' guide, "File Format Specifications".
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.bundled import SAMPLE, resource

_DAYS = 366
_AXES, _SHAPE = ("time", "lat", "lon"), (180, 360)
#: Bytes of the field of a day.
_FIELD = 2 * _SHAPE[0] * _SHAPE[1]
_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_CHAR, _SHORT, _INT, _FLOAT, _DOUBLE = 2, 3, 4, 5, 6


class DayFiles:
    """Fields of days, between those of the two nearest months.

    Parameters
    ----------
    refs
        References of the bundled document: what they say of attributes and coordinates holds for all days.
    """

    def __init__(self, refs: Mapping[str, str]) -> None:
        self._refs = refs
        self._own: dict[str, Any] = json.loads(refs["ocean/sst/.zattrs"])

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the bytes of each file."""
        month_days = self._values("time", "<i4")
        fields = np.stack([_month(number) for number in range(1, 13)])
        fill = self._own["_FillValue"]
        # December stands before January as well, and January behind December.
        around = np.concatenate([fields[-1:], fields, fields[:1]]).astype("f4")
        middles = np.concatenate([month_days[-1:] - _DAYS, month_days, month_days[:1] + _DAYS])
        land = (fields == fill).any(0)
        for day in range(_DAYS):
            after = int(np.searchsorted(middles, day, side="right"))
            share = (day - middles[after - 1]) / (middles[after] - middles[after - 1])
            field = np.rint(around[after - 1] * (1 - share) + around[after] * share)
            packed = np.where(land, fill, field).astype(">i2")
            yield f"sst_2024-{day + 1:03}.nc", self._header(day) + packed.tobytes()

    def document(self) -> dict[str, Any]:
        """Return the document of one gen rule over all files."""
        bundled = self._refs
        refs = {".zgroup": bundled[".zgroup"], ".zattrs": bundled[".zattrs"]}
        for name in ("lat", "lon"):
            refs |= {f"{name}/{key}": bundled[f"ocean/{name}/{key}"] for key in (".zarray", ".zattrs", "0")}
        time = json.loads(bundled["ocean/time/.zarray"]) | {"shape": [_DAYS], "chunks": [_DAYS]}
        days = base64.b64encode(np.arange(_DAYS, dtype="<i4").tobytes()).decode("ascii")
        refs |= {"time/.zarray": json.dumps(time), "time/.zattrs": bundled["ocean/time/.zattrs"]}
        refs["time/0"] = f"base64:{days}"
        sst = json.loads(bundled["ocean/sst/.zarray"])
        sst |= {"shape": [_DAYS, *_SHAPE], "chunks": [1, *_SHAPE], "dtype": ">i2"}
        refs |= {"sst/.zarray": json.dumps(sst), "sst/.zattrs": bundled["ocean/sst/.zattrs"]}
        rule = {
            "key": "sst/{{d}}.0.0",
            "url": "{{ day(n=d + 1) }}",
            "offset": str(len(self._header(0))),
            "length": str(_FIELD),
            "dimensions": {"d": {"stop": _DAYS}},
        }
        templates = {"day": "days/sst_2024-{{ '%03d' % n }}.nc"}
        return {"version": 1, "templates": templates, "gen": [rule], "refs": refs}

    def _values(self, name: str, kind: str) -> npt.NDArray[Any]:
        """Return the values of a coordinate, which stand in the document."""
        return np.frombuffer(base64.b64decode(self._refs[f"ocean/{name}/0"].removeprefix("base64:")), kind)

    def _header(self, day: int) -> bytes:
        """Return the file of one day up to the values of `sst`, which is its last variable."""
        coordinates = [
            ("time", (0,), _INT, struct.pack(">i", day)),
            ("lat", (1,), _FLOAT, self._values("lat", "<f4").astype(">f4").tobytes()),
            ("lon", (2,), _FLOAT, self._values("lon", "<f4").astype(">f4").tobytes()),
        ]
        sizes = zip(_AXES, (1, *_SHAPE), strict=True)
        dimensions = _list(_DIMENSIONS, [_name(name) + struct.pack(">i", size) for name, size in sizes])
        title = _text("title", f"{self._own['long_name']}, computed, not observed")
        start = b"CDF\x01" + struct.pack(">i", 0) + dimensions + _list(_ATTRIBUTES, [title])

        def variables(offsets: Sequence[int]) -> bytes:
            described = [
                _variable(name, axes, self._texts(name), kind, len(data), offset)
                for (name, axes, kind, data), offset in zip(coordinates, offsets, strict=False)
            ]
            described.append(_variable("sst", (0, 1, 2), self._of_sst(), _SHORT, _FIELD, offsets[-1]))
            return _list(_VARIABLES, described)

        # The header has the same length whatever the offsets in it.
        offsets = [len(start) + len(variables([0] * 4))]
        for *_, data in coordinates:
            offsets.append(offsets[-1] + len(data))
        return start + variables(offsets) + b"".join(data for *_, data in coordinates)

    def _texts(self, name: str) -> bytes:
        """Return the attributes of a coordinate that are text."""
        members = json.loads(self._refs[f"ocean/{name}/.zattrs"])
        texts = [_text(key, value) for key, value in members.items() if isinstance(value, str)]
        return _list(_ATTRIBUTES, texts)

    def _of_sst(self) -> bytes:
        own = self._own
        texts = [_text(key, own[key]) for key in ("standard_name", "long_name", "units")]
        numbers = [
            _name(key) + struct.pack(">iid", _DOUBLE, 1, own[key]) for key in ("scale_factor", "add_offset")
        ]
        fill = struct.pack(">ii", _SHORT, 1) + _padded(struct.pack(">h", own["_FillValue"]))
        return _list(_ATTRIBUTES, [*texts, *numbers, _name("_FillValue") + fill])


def _month(number: int) -> npt.NDArray[np.int16]:
    file = resource(SAMPLE).parent / "data" / f"sst_2024-{number:02}.dat"
    return np.frombuffer(file.read_bytes()[512:], "<i2").reshape(_SHAPE)


# Parts of a file


def _name(name: str) -> bytes:
    return struct.pack(">i", len(name)) + _padded(name.encode("ascii"))


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def _list(tag: int, members: list[bytes]) -> bytes:
    return struct.pack(">ii", tag, len(members)) + b"".join(members)


def _text(name: str, value: str) -> bytes:
    return _name(name) + struct.pack(">ii", _CHAR, len(value)) + _padded(value.encode("ascii"))


def _variable(name: str, axes: tuple[int, ...], attributes: bytes, kind: int, size: int, begin: int) -> bytes:
    dimensions = struct.pack(f">{len(axes) + 1}i", len(axes), *axes)
    return _name(name) + dimensions + attributes + struct.pack(">iii", kind, size, begin)
