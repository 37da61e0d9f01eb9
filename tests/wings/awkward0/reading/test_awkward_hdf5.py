"""HDF5 files as containers: what lies where, what is not followed, and files that mean harm."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.library.process import LibraryFile
from refbrowser.limits import LIMITS, Limits
from refbrowser.model.reference import ByteRange, Inline
from refbrowser.wings.awkward0.awkward_limits import AwkwardLimits
from refbrowser.wings.awkward0.files import hdf5 as hdf5_process
from refbrowser.wings.awkward0.files.hdf5 import Hdf5Container, open_hdf5

h5py = pytest.importorskip("h5py")
np = pytest.importorskip("numpy")
BYTES = bytes(range(200))


def stored(container: Hdf5Container, name: str) -> bytes:
    """Return the bytes of a blob by its reference."""
    blob = container.find(name)
    assert blob is not None
    assert blob.error is None
    if isinstance(blob.reference, Inline):
        return blob.reference.data
    assert isinstance(blob.reference, ByteRange)
    assert blob.reference.length == blob.size
    data = Path(blob.reference.url).read_bytes()
    return data[blob.reference.offset :][: blob.size]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.h5"


def limited(monkeypatch: pytest.MonkeyPatch, **limits: Any) -> None:
    changed: Limits = replace(LIMITS, **limits)
    for module in ("wings.awkward0.files.hdf5", "formats.library.process"):
        monkeypatch.setattr(f"refbrowser.{module}.LIMITS", changed)


@pytest.mark.parametrize("userblock", [0, 512])
def test_contiguous_datasets_are_ranges_of_the_file(path: Path, userblock: int) -> None:
    with h5py.File(path, "w", userblock_size=userblock) as file:
        file["one/schema.json"] = np.frombuffer(b"{}", "u1")
        file["one/1"] = np.frombuffer(BYTES, "u1")
        file["one/below/2"] = np.arange(10, dtype=">i4").reshape(2, 5)
        file.create_dataset("one/empty", (0,), "u1")
    container = open_hdf5(str(path))
    assert set(container.names()) == {"one/schema.json", "one/1", "one/below/2", "one/empty"}
    for name in ("one/1", "one/below/2"):
        blob = container.find(name)
        assert blob is not None
        assert isinstance(blob.reference, ByteRange)
        assert blob.method == "hdf5"
    assert stored(container, "one/1") == BYTES
    assert stored(container, "one/below/2") == np.arange(10, dtype=">i4").tobytes()
    assert stored(container, "one/empty") == b""
    assert container.find("one/2") is None
    assert container.find("one") is None
    assert not container.findings


def test_what_lies_in_pieces_is_read_by_the_other_process(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("deflated", data=np.frombuffer(BYTES, "u1"), chunks=(64,), compression="gzip")
        file.create_dataset("chunked", data=np.frombuffer(BYTES, "u1"), chunks=(64,))
        file.create_dataset("one chunk", data=np.frombuffer(BYTES, "u1"), chunks=(200,))
        file.create_dataset("never written", (10,), "u1", fillvalue=7)
        file["text"] = '{"awkward0": "x"}'
    container = open_hdf5(str(path))
    for name in ("deflated", "chunked", "one chunk"):
        assert stored(container, name) == BYTES
    assert isinstance(container._blobs["one chunk"].reference, ByteRange)
    assert stored(container, "never written") == b"\7" * 10
    assert container.read(["text", "deflated", "none"], 200) == {
        "text": b'{"awkward0": "x"}', "deflated": BYTES
    }  # fmt: skip


def test_small_blobs_are_read_within_a_size(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["a"] = np.frombuffer(BYTES, "u1")
    container = open_hdf5(str(path))
    assert container.read(["a", "b"], 200) == {"a": BYTES}
    found = container.read(["a"], 199)["a"]
    assert isinstance(found, RefbrowserError)
    assert found.kind is ErrorKind.BUDGET


def test_no_other_file_is_read(path: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret bytes")
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["x"] = np.frombuffer(BYTES, "u1")
    with h5py.File(path, "w") as file:
        file["one"] = np.frombuffer(BYTES, "u1")
        file["soft"] = h5py.SoftLink("/one")
        file["external"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/x")
        file.create_dataset("raw", (12,), "u1", external=[(str(secret), 0, 12)])
        layout = h5py.VirtualLayout((200,), "u1")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "x", (200,))
        file.create_virtual_dataset("virtual", layout)
    container = open_hdf5(str(path))
    assert set(container.names()) == {"one", "raw", "soft", "virtual"}
    for name in ("raw", "virtual"):
        blob = container.find(name)
        assert blob is not None
        assert blob.error is not None
        assert blob.reference == Inline(b"")
        assert blob.size == 0
    assert len(container.findings) == 1
    assert stored(container, "one") == stored(container, "soft") == BYTES


def test_groups_that_hold_themselves_end(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["a/1"] = np.frombuffer(BYTES, "u1")
        file["a/loop"] = file["/"]
        file["a/again"] = file["a"]
    container = open_hdf5(str(path))
    assert set(container.names()) == {"a/1"}


def test_other_types_are_no_bytes_and_hide_nothing(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["texts"] = ["a", "b"]
        file["a"] = np.frombuffer(BYTES, "u1")
        file.create_dataset("references", (1,), h5py.ref_dtype)
        file.create_dataset("rows", (1,), h5py.vlen_dtype("i4"))
        file["record"] = np.zeros(2, [("x", "i4"), ("y", "S3", (2,))])
    container = open_hdf5(str(path))
    for name in ("texts", "references", "rows"):
        blob = container.find(name)
        assert blob is not None
        assert blob.error is not None
    assert stored(container, "a") == BYTES
    assert len(stored(container, "record")) == 20


def test_announced_sizes_are_never_made(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, inlined_members=1000)
    with h5py.File(path, "w") as file:
        file.create_dataset("huge", (1 << 50,), "u1", chunks=(1 << 20,))
        file.create_dataset("late", (1 << 50,), "u1")
        file.create_dataset("zeros", data=np.zeros(2000, "u1"), chunks=(2000,), compression="gzip")
        file.create_dataset("small", data=np.zeros(900, "u1"), chunks=(900,), compression="gzip")
    container = open_hdf5(str(path))
    for name in ("huge", "late", "zeros"):
        blob = container.find(name)
        assert blob is not None
        assert blob.error is not None
        assert blob.error.kind is ErrorKind.BUDGET
    assert stored(container, "small") == bytes(900)


def test_objects_and_depth_are_bounded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, group_nesting=2)
    monkeypatch.setattr("refbrowser.wings.awkward0.files.hdf5.AWKWARD_LIMITS", AwkwardLimits(awkward_files=4))
    with h5py.File(path, "w") as file:
        for number in range(10):
            file[f"b/{number}"] = np.zeros(1, "u1")
        file["a/b/c/d"] = np.zeros(1, "u1")
    container = open_hdf5(str(path))
    assert len(list(container.names())) <= 4
    assert container.findings


def test_files_that_are_cut_or_garbled_are_errors(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["a"] = np.zeros(10_000, "u1")
    whole = path.read_bytes()
    for data in (whole[:3000], b"\x89HDF\r\n\x1a\n" + bytes(100), whole[:8] + b"\xff" * 2000):
        path.write_bytes(data)
        with pytest.raises(RefbrowserError) as caught:
            open_hdf5(str(path))
        assert caught.value.kind is ErrorKind.FORMAT


def test_datasets_behind_the_end_are_errors_of_their_own(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(bytes(100))
    plain = {"type": {"kind": "plain", "dtype": "|u1", "exact": True}, "shape": [10], "size": 1}

    def ask(file: Any, operation: str, request: Any, take: Any, token: Any = None) -> None:
        for name, offset in (("bad", 91), ("good", 90), ("\udcff", 0)):
            told = {"array": f"/{name}", "layout": "contiguous", "stored": 10, "offset": offset}
            take({**plain, **told}, memoryview(b""))

    monkeypatch.setattr(LibraryFile, "ask", ask)
    container = open_hdf5(str(path))
    assert set(container.names()) == {"bad", "good"}
    bad, good = container.find("bad"), container.find("good")
    assert bad is not None
    assert bad.error is not None
    assert good is not None
    assert good.error is None


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited on Linux")
def test_the_process_has_little_memory(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.zeros(50_000_000, "u1"), chunks=(50_000_000,), compression="gzip")
    limited(monkeypatch, library_memory=20_000_000)
    container = open_hdf5(str(path))
    blob = container.find("x")
    assert blob is not None
    assert blob.error is not None


def test_without_h5py_the_error_says_what_to_install(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with h5py.File(path, "w"):
        pass
    found = importlib.util.find_spec
    monkeypatch.setattr(hdf5_process, "find_spec", lambda name: None if name == "h5py" else found(name))
    with pytest.raises(RefbrowserError) as caught:
        open_hdf5(str(path))
    assert "refbrowser[hdf5]" in caught.value.advice
