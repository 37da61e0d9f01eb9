"""Codecs that are not bundled: decoded in a process of their own, whose death costs one chunk."""

import json
import os
import sys
import time
from importlib.util import find_spec

import numpy as np
import pytest
from corpus_values import expected, same_values
from zarr2_environment import run_with_zarr2, zarr2_folder

import refbrowser
from refbrowser.codecs import outside
from refbrowser.codecs.base import DecodeError, Room, as_bytes
from refbrowser.codecs.outside import Decoder, Outside
from refbrowser.codecs.table import CODECS, Kind
from refbrowser.codecs.workers import children
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS

SCRIPT = """
import os, time
class Reader:
    def open(self, name):
        return {{}}
    def do_encode(self, request):
        {}
"""
OUTSIDE = {
    name: row.module
    for name, row in CODECS.items()
    if row.module and row.kind is Kind.SERIALIZER and not row.only_v3
}


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """The packages of the other environment, in the process that decodes and, to be found, in this one."""
    monkeypatch.setenv("PYTHONPATH", str(zarr2_folder()))
    monkeypatch.setattr(sys, "path", [*sys.path, str(zarr2_folder())])
    if not all(map(find_spec, OUTSIDE.values())):
        pytest.skip("pcodec and zfpy cannot be installed")
    monkeypatch.setattr(outside, "_WORKERS", outside._Workers())
    # A process that was kept by other tests does not know these packages.
    monkeypatch.setattr(children, "_NURSERIES", children._Nurseries())
    yield
    outside._WORKERS.end()
    children._NURSERIES.end()


@pytest.fixture
def corpus(tmp_path):
    run_with_zarr2(os.path.join(os.path.dirname(__file__), "write_with_zarr2.py"), tmp_path, "--optional")
    return tmp_path


@pytest.mark.slow
def test_arrays_of_zarr_python_2(corpus):
    listed = {path: entry for path, entry in expected(corpus).items() if path.startswith("optional/")}
    assert len(listed) == 5
    with refbrowser.open(corpus / "store") as dataset:
        for path, entry in listed.items():
            assert same_values(dataset[f"/{path}"][...], entry, corpus), path


def test_an_array_of_v3(tmp_path):
    values = np.arange(12, dtype="<i4").reshape(3, 4)
    codec = Outside({"id": "pcodec"}, values.dtype)
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [3, 4],
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3, 4]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [{"name": "numcodecs.pcodec", "configuration": {}}],
    }
    (tmp_path / "store" / "c" / "0").mkdir(parents=True)
    (tmp_path / "store" / "zarr.json").write_text(json.dumps(metadata))
    stored = codec.encode(as_bytes(values.tobytes()))
    (tmp_path / "store" / "c" / "0" / "0").write_bytes(stored.tobytes())
    with refbrowser.open(tmp_path / "store") as dataset:
        assert np.array_equal(dataset["/"][...], values)


def test_bytes_that_are_damaged_or_make_more():
    values = np.linspace(0, 1, 1000)
    for name in OUTSIDE:
        codec = Outside({"id": name}, values.dtype)
        stored = codec.encode(as_bytes(values.tobytes()))
        assert codec.decode(stored, Room.of(8000), None).tobytes() == values.tobytes() or name == "zfpy"
        with pytest.raises(DecodeError, match="more than 7999 bytes"):
            codec.decode(stored, Room.of(7999), None)
        with pytest.raises(DecodeError):
            codec.decode(stored[: len(stored) // 4], Room.of(100), None)
        with pytest.raises(DecodeError):
            codec.decode(as_bytes(b"none of it"), Room.of(8000), None)


def test_a_process_that_dies_costs_one_chunk(monkeypatch, tmp_path):
    worker = tmp_path / "dies.py"
    worker.write_text(SCRIPT.format("os._exit(3)"))
    codec = Outside({"id": "pcodec"}, np.dtype("<f8"))
    with monkeypatch.context() as patch:
        patch.setattr(outside, "_NUMCODECS", worker)
        with pytest.raises(DecodeError):
            codec.encode(as_bytes(bytes(800)))
    assert len(codec.encode(as_bytes(bytes(800))))


def test_a_process_that_takes_too_long_is_ended(monkeypatch, tmp_path):
    worker = tmp_path / "sleeps.py"
    worker.write_text(SCRIPT.format("time.sleep(60)"))
    monkeypatch.setattr(outside, "_NUMCODECS", worker)
    object.__setattr__(LIMITS, "outside_time", 0.3)
    try:
        with pytest.raises(DecodeError, match=r"more than 0\.3 s"):
            Outside({"id": "pcodec"}, np.dtype("<f8")).encode(as_bytes(bytes(800)))
    finally:
        object.__setattr__(LIMITS, "outside_time", 30)


def test_a_process_that_answers_as_its_time_ends_is_given_to_nobody(monkeypatch):
    class Late(outside._Worker):
        has_ended = False

        def ask(self, header, data, most):
            while not self.has_ended:
                time.sleep(0.01)
            return b"late"

        def end(self):
            super().end()
            self.has_ended = True

    monkeypatch.setattr(outside._WORKERS, "take", Late)
    object.__setattr__(LIMITS, "outside_time", 0.1)
    try:
        assert outside.asked_of(Decoder(outside._NUMCODECS, "pcodec"), {}, as_bytes(b""), 4) == b"late"
    finally:
        object.__setattr__(LIMITS, "outside_time", 30)
    assert not outside._WORKERS._idle


@pytest.mark.parametrize("dtype", ["<f4", "<f8", "<i4", "<i8"])
def test_zfp_without_a_header(dtype):
    import zfpy

    values = np.cumsum(np.arange(60, dtype=dtype)).reshape(3, 4, 5)
    room = Room.of(values.nbytes)
    modes = [{}, {"rate": 16}, {"precision": 20}, *([{"tolerance": 0.5}] if dtype[1] == "f" else [])]
    for settings in modes:
        codec = Outside({"id": "zfp", "shape": values.shape, "settings": settings}, values.dtype)
        stored = zfpy.compress_numpy(values, write_header=False, **settings)
        assert codec.encode(as_bytes(values.tobytes())).tobytes() == stored
        # With a header it tells all of itself.
        expected = zfpy.decompress_numpy(zfpy.compress_numpy(values, write_header=True, **settings))
        assert codec.decode(as_bytes(stored), room, None).tobytes() == expected.tobytes()
    with pytest.raises(DecodeError):
        codec.decode(as_bytes(stored), Room.of(values.nbytes - 1), None)


def test_elements_that_are_no_numbers(pipeline_of):
    with pytest.raises(RefbrowserError) as caught:
        pipeline_of("S3", {"id": "zfpy"})
    assert caught.value.kind is ErrorKind.META


@pytest.fixture
def pipeline_of():
    from refbrowser.codecs.base import Room
    from refbrowser.codecs.makers import Elements
    from refbrowser.codecs.table import byte_codec

    def made(dtype, codec):
        return byte_codec(codec["id"], {}, Elements(np.dtype(dtype), Room.of(8)))

    return made
