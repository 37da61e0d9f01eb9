"""The sample in its forms: as it is bundled, as a file for each day, and with five faults to find."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from refbrowser.bundled import SAMPLE, resource
from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError
from refbrowser.io.files.atomic import write_atomically


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


def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(_bundled_text())
    return document


def _as_text(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=1) + "\n").encode("utf-8")


# A file for each day


def _day_files() -> Iterator[tuple[str, bytes]]:
    from refbrowser.tools.sample.day_files import DayFiles

    return DayFiles(_document()["refs"]).files()


def _day_text() -> bytes:
    from refbrowser.tools.sample.day_files import DayFiles

    return _as_text(DayFiles(_document()["refs"]).document())


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
