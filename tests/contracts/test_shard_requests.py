"""What a slice of a shard asks a server for: the index once, then the inner chunks that it needs."""

import warnings

import numpy as np
import pytest
from servers.http_server import HttpServer

import refbrowser

VALUES = np.random.default_rng(3).integers(0, 10**6, (64, 64)).astype("<i4")
INNER = 8


@pytest.fixture(params=["end", "start"])
def served(request, tmp_path):
    """An array of one shard with 64 inner chunks of random numbers on a server."""
    import zarr
    from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec, ZstdCodec

    sharding = ShardingCodec(
        chunk_shape=(INNER, INNER),
        codecs=[BytesCodec(), ZstdCodec()],
        index_codecs=[BytesCodec(), Crc32cCodec()],
        index_location=request.param,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.create_array(
            tmp_path / "store",
            shape=(64, 64),
            chunks=(64, 64),
            dtype="<i4",
            serializer=sharding,
            compressors=None,
        )
        array[:] = VALUES
    root = tmp_path / "store"
    files = {
        f"/store/{path.relative_to(root)}": path.read_bytes() for path in root.rglob("*") if path.is_file()
    }
    with (
        HttpServer(files) as server,
        refbrowser.open(server.url("/store"), allow=[server.origin]) as dataset,
    ):
        yield server, dataset["/"], len(files["/store/c/0/0"])


def asked(server):
    """Return the lengths of the ranges of the shard that were asked for, and forget them."""
    ranges = [request.range for request in server.requests if request.path.endswith("/c/0/0")]
    server.requests.clear()
    assert None not in ranges
    return [stop - start + 1 for start, stop in ranges]


def test_only_the_index_and_the_inner_chunks_of_a_slice_are_read(served):
    server, array, size = served
    server.requests.clear()
    assert np.array_equal(array[3:5, 60:], VALUES[3:5, 60:])
    index = 64 * 16 + 4
    # A byte tells the size of the shard.
    assert asked(server)[:2] == [1, index]
    assert np.array_equal(array[20, :8], VALUES[20, :8])
    (inner,) = asked(server)
    assert inner < size / 32
    assert np.array_equal(array[20, :8], VALUES[20, :8])
    assert asked(server) == []


def test_a_shard_whose_index_is_kept_and_that_changes_is_an_error(served):
    server, array, size = served
    assert array[0, 0] == VALUES[0, 0]
    server.files["/store/c/0/0"] = bytes(size + 1)
    with pytest.raises(refbrowser.RefbrowserError, match="changed"):
        array[60, 60]
