"""Trying installed readers: what they are asked, what becomes of their answers, and what they cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reader_corpus.small_store import write_v2

import refbrowser
from refbrowser.engine.readers.outcome import ReaderVerdict, Trial
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.tools.readers.probes import installed, trying
from refbrowser.tools.readers.probes.installed import InstalledReader, available
from refbrowser.tools.readers.probes.trying import try_reader

VALUES = np.arange(12, dtype="<i4").reshape(3, 4)
READER = InstalledReader("zarr-python", "3", "zarr-python")

#: Answers as a reader would, and ends as it is told to.
_CHILD = """
import json, os, sys, time
request = json.load(sys.stdin)
for line in {answers!r}:
    print(json.dumps(line), flush=True)
{then}
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return write_v2(tmp_path / "s.zarr", VALUES, (2, 2))


def _answering(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *answers: dict[str, Any], then: str = ""
) -> None:
    child = folder / "child.py"
    child.write_text(_CHILD.format(answers=list(answers), then=then))
    monkeypatch.setattr(trying, "CHILD", child)


def _tried(path: Path, **options: Any) -> Trial:
    with refbrowser.open(path, **options) as dataset:
        (trial,) = try_reader(READER, dataset)
    return trial


def _of(values: np.ndarray, shape: tuple[int, ...] = VALUES.shape) -> list[dict[str, Any]]:
    import base64

    box = [[0, 3], [0, 4]]
    told = [values.dtype.str.lstrip("<|"), base64.b64encode(values.tobytes()).decode()]
    return [
        {"program": "zarr-python", "version": "3.9"},
        {"array": "/v", "shape": list(shape)},
        {"of": "/v", "box": box, "digest": [], "elements": told},
    ]


def test_equal_values_decode_whatever_their_type(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path
) -> None:
    _answering(monkeypatch, tmp_path, *_of(VALUES.astype("<f8")))
    assert _tried(store) == Trial("zarr-python", "3.9", "/v", ReaderVerdict.DECODES)


def test_other_values_and_shapes_are_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path
) -> None:
    other = VALUES.copy()
    other[1, 2] = 7
    _answering(monkeypatch, tmp_path, *_of(other))
    trial = _tried(store)
    assert (trial.verdict, trial.reason) == (ReaderVerdict.WRONG, "'7' instead of '6' at [1, 2]")
    _answering(monkeypatch, tmp_path, *_of(VALUES, (4, 3)))
    assert _tried(store).reason == "its shape is [4, 3], not [3, 4]"


def test_a_reason_is_one_line_that_acts_on_no_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path
) -> None:
    failed = {"failed": "/v", "error": "ValueError: \x1b[31mred\n\n two" + "." * 1000}
    _answering(monkeypatch, tmp_path, failed)
    trial = _tried(store)
    assert trial.verdict is ReaderVerdict.REFUSES
    assert trial.reason.isprintable()
    assert trial.reason.startswith("ValueError: ")
    assert len(trial.reason) <= LIMITS.try_reason + 10


def test_what_opens_and_gives_no_values_only_opens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path
) -> None:
    _answering(monkeypatch, tmp_path, *_of(VALUES)[:2], {"failed": "/v", "error": "OSError: no"})
    trial = _tried(store)
    assert (trial.verdict, trial.reason) == (ReaderVerdict.OPENS, "OSError: no")


def test_a_reader_that_lacks_a_package_is_not_judged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path
) -> None:
    _answering(monkeypatch, tmp_path, {"ended": "ModuleNotFoundError: No module named 'x'"})
    assert _tried(store).verdict is ReaderVerdict.UNKNOWN


def test_a_crash_costs_the_reader_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path) -> None:
    _answering(monkeypatch, tmp_path, then="os.abort()")
    trial = _tried(store)
    assert trial.verdict is ReaderVerdict.REFUSES
    assert "crashed (signal 6)" in trial.reason


def test_one_that_takes_too_long_is_ended_and_not_judged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path
) -> None:
    _answering(monkeypatch, tmp_path, then="time.sleep(60)")
    monkeypatch.setattr(trying, "LIMITS", type(LIMITS)(try_time=0.3))
    trial = _tried(store)
    assert (trial.verdict, trial.reason) == (ReaderVerdict.UNKNOWN, "zarr-python was ended after 0.3 s")


def _document(folder: Path, url: str) -> Path:
    metadata = json.loads((write_v2(folder / "s.zarr", VALUES, (3, 4)) / "v" / ".zarray").read_text())
    refs = {".zgroup": {"zarr_format": 2}, "v/.zarray": metadata, "v/0.0": [url, 0, 48]}
    path = folder / "refs.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


def _refused(path: Path, **options: Any) -> RefbrowserError:
    with refbrowser.open(path, **options) as dataset, pytest.raises(RefbrowserError) as raised:
        try_reader(READER, dataset)
    return raised.value


def test_no_reader_gets_what_the_dataset_may_not_read(tmp_path: Path) -> None:
    error = _refused(_document(tmp_path, "/etc/hostname"))
    assert error.kind is ErrorKind.BLOCKED
    assert error.advice == "--allow /etc"
    error = _refused(_document(tmp_path, "https://example.org/a"), allow=["https://example.org"])
    assert error.kind is ErrorKind.BLOCKED
    assert "example.org" in error.message


def test_files_of_other_formats_are_not_tried(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["v"] = VALUES
    assert _refused(tmp_path / "a.h5").kind is ErrorKind.USAGE


def test_where_readers_are_not_held_back_nothing_that_leads_elsewhere_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path
) -> None:
    monkeypatch.setattr(trying, "in_force", lambda: {"files": "not held back"})
    document = _document(tmp_path, str(tmp_path / "a"))
    assert _refused(document).kind is ErrorKind.UNSAFE
    _answering(monkeypatch, tmp_path, *_of(VALUES))
    assert _tried(store).verdict is ReaderVerdict.DECODES


def test_large_arrays_are_sampled_at_three_chunks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    large = np.zeros((1000, 1000), "<i4")
    path = write_v2(tmp_path / "s.zarr", large, (300, 400), compressor={"id": "zlib", "level": 1})
    with refbrowser.open(path) as dataset:
        boxes = list(trying._boxes(dataset.array("/v")))
    assert boxes == [[[0, 16], [0, 16]], [[300, 316], [400, 416]], [[900, 916], [800, 816]]]


@pytest.mark.slow
def test_an_installed_reader_reads_a_store_confined(store: Path) -> None:
    reader = next(each for each in available() if each.name == "zarr-python")
    with refbrowser.open(store) as dataset:
        (trial,) = try_reader(reader, dataset, ["/v"])
    assert trial == Trial("zarr-python", reader.version, "/v", ReaderVerdict.DECODES)


@pytest.mark.slow
def test_installed_readers_have_versions() -> None:
    found = available()
    assert "zarr-python" in {each.name for each in found}
    assert len({each.name for each in found}) == len(found)
    assert all(each.version[0].isdigit() for each in found)


def test_gdal_is_known_by_the_name_of_its_library() -> None:
    names = ["libgdal-c8c9c467.so.36.3.10.3", "libgdal.so.32.3.6.2", "libgdal.39.3.13.1.dylib"]
    assert [installed._GDAL_FILE.search(name)[1] for name in names] == ["3.10.3", "3.6.2", "3.13.1"]
