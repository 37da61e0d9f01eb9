"""The sample in its forms: as it is bundled, as a file for each day, and with five faults to find."""

from __future__ import annotations

import base64
import json
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from refbrowser.bundled import SAMPLE, resource
from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError
from refbrowser.io.files.atomic import write_atomically

_DAYS = 366
_SHAPE = (180, 360)


class SampleSet(NamedTuple):
    """One form of the sample.

    Attributes
    ----------
    words
        What it holds, in a few words.
    document
        The name of its document.
    folder
        The name of the folder of its files, beside the document.
    files
        Yields the names of its files below `folder`, and their bytes.
    text
        Returns the text of the document.
    """

    words: str
    document: str
    folder: str
    files: Callable[[], Iterator[tuple[str, bytes]]]
    text: Callable[[], bytes]


def write_sample(folder: str, which: str, *, force: bool) -> str:
    """Write the sample into a folder, and return the path of its document.

    Parameters
    ----------
    which
        One of `SETS`.
    force
        Replace files of the same names.

    Raises
    ------
    RefbrowserError
        There is no such sample, files of these names are there (`TargetExistsError`), or cannot be written.
    """
    chosen = SETS.get(which)
    if chosen is None:
        message = f"there is no sample {which!r}; there are: {', '.join(SETS)}"
        raise RefbrowserError(ErrorKind.USAGE, message)
    target = Path(folder).expanduser()
    document, data = target / chosen.document, target / chosen.folder
    there = [path for path in (document, data) if os.path.lexists(path)]
    if there and not force:
        advice = "give another folder, or --force to replace it"
        raise TargetExistsError(ErrorKind.IO, "the target exists already", Place(path=str(there[0])), advice)
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder cannot be made: {error.strerror}"
        raise RefbrowserError(ErrorKind.IO, message, Place(path=str(target))) from error
    for name, content in chosen.files():
        write_atomically(data / name, [content])
    write_atomically(document, [chosen.text()])
    return str(document)


# As it is bundled


def _bundled_text() -> bytes:
    return resource(SAMPLE).read_bytes()


def _bundled_files() -> Iterator[tuple[str, bytes]]:
    for path in sorted((resource(SAMPLE).parent / "data").iterdir()):
        yield path.name, path.read_bytes()


# A file for each day


def _day_files() -> Iterator[tuple[str, bytes]]:
    """Yield a classic netCDF file for each day, its field between those of the two nearest months."""
    import numpy as np

    month_days = _inline_values("ocean/time", "<i4")
    fields = np.stack([_month(number) for number in range(1, 13)])
    fill = _attributes()["_FillValue"]
    # December stands before January as well, and January behind December.
    around = np.concatenate([fields[-1:], fields, fields[:1]]).astype("f4")
    middles = np.concatenate([month_days[-1:] - _DAYS, month_days, month_days[:1] + _DAYS])
    land = (fields == fill).any(0)
    for day in range(_DAYS):
        after = int(np.searchsorted(middles, day, side="right"))
        share = (day - middles[after - 1]) / (middles[after] - middles[after - 1])
        field = np.rint(around[after - 1] * (1 - share) + around[after] * share)
        packed = np.where(land, fill, field).astype(">i2")
        yield _day_name(day), _day_header(day) + packed.tobytes()


def _day_name(day: int) -> str:
    return f"sst_2024-{day + 1:03}.nc"


def _month(number: int) -> Any:
    import numpy as np

    file = resource(SAMPLE).parent / "data" / f"sst_2024-{number:02}.dat"
    return np.frombuffer(file.read_bytes()[512:], "<i2").reshape(_SHAPE)


def _day_header(day: int) -> bytes:
    """Return a classic netCDF file of one day up to the values of `sst`, which is its last variable.

    The grammar is that of the netCDF users' guide, "File Format Specifications".
    """
    own = _attributes()
    coordinates = [
        ("time", (0,), _INT, struct.pack(">i", day)),
        ("lat", (1,), _FLOAT, _inline_values("ocean/lat", "<f4").astype(">f4").tobytes()),
        ("lon", (2,), _FLOAT, _inline_values("ocean/lon", "<f4").astype(">f4").tobytes()),
    ]
    dimensions = _list(
        10, [_name(name) + struct.pack(">i", n) for name, n in zip(_AXES, (1, *_SHAPE), strict=True)]
    )
    begin = f"{own['long_name']}, computed, not observed"
    start = b"CDF\x01" + struct.pack(">i", 0) + dimensions + _list(12, [_text("title", begin)])

    def variables(offsets: list[int]) -> bytes:
        described = [
            _variable(name, axes, _coordinate_attributes(name), kind, len(data), offset)
            for (name, axes, kind, data), offset in zip(coordinates, offsets, strict=False)
        ]
        size = 2 * _SHAPE[0] * _SHAPE[1]
        described.append(_variable("sst", (0, 1, 2), _sst_attributes(own), _SHORT, size, offsets[-1]))
        return _list(11, described)

    # The header has the same length whatever the offsets in it.
    offsets = [len(start) + len(variables([0] * 4))]
    for *_, data in coordinates:
        offsets.append(offsets[-1] + len(data))
    return start + variables(offsets) + b"".join(data for *_, data in coordinates)


_AXES = ("time", "lat", "lon")
_SHORT, _INT, _FLOAT, _DOUBLE = 3, 4, 5, 6


def _name(name: str) -> bytes:
    return struct.pack(">i", len(name)) + _padded(name.encode("ascii"))


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def _list(tag: int, members: list[bytes]) -> bytes:
    return struct.pack(">ii", tag, len(members)) + b"".join(members)


def _text(name: str, value: str) -> bytes:
    return _name(name) + struct.pack(">ii", 2, len(value)) + _padded(value.encode("ascii"))


def _variable(name: str, axes: tuple[int, ...], attributes: bytes, kind: int, size: int, begin: int) -> bytes:
    dimensions = struct.pack(f">{len(axes) + 1}i", len(axes), *axes)
    return _name(name) + dimensions + attributes + struct.pack(">iii", kind, size, begin)


def _coordinate_attributes(name: str) -> bytes:
    members = json.loads(_document()["refs"][f"ocean/{name}/.zattrs"])
    return _list(12, [_text(key, value) for key, value in members.items() if isinstance(value, str)])


def _sst_attributes(own: dict[str, Any]) -> bytes:
    texts = [_text(key, own[key]) for key in ("standard_name", "long_name", "units")]
    numbers = [
        _name(key) + struct.pack(">iid", _DOUBLE, 1, own[key]) for key in ("scale_factor", "add_offset")
    ]
    fill = _name("_FillValue") + struct.pack(">ii", _SHORT, 1) + _padded(struct.pack(">h", own["_FillValue"]))
    return _list(12, [*texts, *numbers, fill])


def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(_bundled_text())
    return document


def _attributes() -> dict[str, Any]:
    attributes: dict[str, Any] = json.loads(_document()["refs"]["ocean/sst/.zattrs"])
    return attributes


def _inline_values(array: str, kind: str) -> Any:
    import numpy as np

    return np.frombuffer(base64.b64decode(_document()["refs"][f"{array}/0"].removeprefix("base64:")), kind)


def _day_text() -> bytes:
    """Return a document of one gen rule over the files of all days."""
    import numpy as np

    bundled = _document()["refs"]
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
        "offset": str(len(_day_header(0))),
        "length": str(2 * _SHAPE[0] * _SHAPE[1]),
        "dimensions": {"d": {"stop": _DAYS}},
    }
    templates = {"day": "days/sst_2024-{{ '%03d' % n }}.nc"}
    return _as_text({"version": 1, "templates": templates, "gen": [rule], "refs": refs})


def _as_text(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=1) + "\n").encode("utf-8")


# With five faults

#: The chunk whose bytes are spoilt, and the one whose key names a chunk outside the grid.
_SPOILT, _MISNAMED = "atmosphere/wind_speed/1.0.2", "atmosphere/wind_speed/10.0.3"
#: The file that lost its end, and how many of its bytes are left.
_CUT, _LEFT = "wind_2024-Q3.dat", 60_000


def _broken_text() -> bytes:
    """Return the bundled document with a wrong template, a shifted rule, and a key outside the grid."""
    document = _document()
    document["templates"] |= {"u": "faulty", "month": "faulty/sst-2024-{{ '%02d' % n }}.dat"}
    document["gen"][1]["offset"] = "{{ (m if m < 6 else m - 1) * 16200 + 16200 }}"
    refs = document["refs"]
    refs[_MISNAMED.replace("10.0.3", "10.0.4")] = refs.pop(_MISNAMED)
    return _as_text(document)


def _broken_files() -> Iterator[tuple[str, bytes]]:
    """Yield the bundled files, one cut, one with bytes that do not decode."""
    url, offset, _length = _document()["refs"][_SPOILT]
    spoilt = url.removeprefix("{{u}}/")
    for name, content in _bundled_files():
        if name == _CUT:
            yield name, content[:_LEFT]
        elif name == spoilt:
            yield name, content[: offset + 20] + b"\xff" * 20 + content[offset + 40 :]
        else:
            yield name, content


#: The samples, by their names.
SETS = {
    "small": SampleSet(
        "a year of monthly fields, 2 MB", "sea_surface.json", "data", _bundled_files, _bundled_text
    ),
    "large": SampleSet("a file for each day, 47 MB", "sea_surface_days.json", "days", _day_files, _day_text),
    "broken": SampleSet(
        "the small one with five faults to find", "five_faults.json", "faulty", _broken_files, _broken_text
    ),
}
