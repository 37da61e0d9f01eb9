"""Messages recorded from servers (shared data, from the fixtures of siphon), with the values they hold."""

import numpy as np
import pytest
import stream_encoder as enc
from stream_reading import opened, plain


@pytest.fixture
def recorded(shared_data):
    folder = shared_data / "ncstream"

    def made(*names):
        return enc.stream(*((folder / f"{name}.bin").read_bytes() for name in names))

    return made


def test_rows_of_their_own_length(recorded, tmp_path):
    with opened(tmp_path, recorded("tst_vl.header", "tst_vl.data")) as dataset:
        array = dataset["/var"]
        assert array.shape == (3,)
        assert array.dimensions == ("dim",)
        assert array.node.type.row_dtype.newbyteorder("=") == np.dtype("i4")
        assert array.attrs["_ChunkSizes"] == 3
        assert plain(array[...]) == [[-99], [-99, -99], [-99, -99, -99]]
        assert "int(*)" in dataset.cdl()


def test_structures_in_little_endian_order(recorded, tmp_path):
    with opened(tmp_path, recorded("ref_tst_compounds.header", "ref_tst_compounds.data")) as dataset:
        rows = plain(dataset["/obs"][...])
    assert [list(row) for row in rows] == [["day", "elev", "count", "relhum", "time"]] * 3
    assert [list(row.values()) for row in rows] == [
        [15, 2, 1, 0.5, 3600.01],
        [-99] * 5,
        [20, 6, 3, 0.75, 5000.01],
    ]


def test_immediate_coordinates_and_a_column(recorded, tmp_path):
    with opened(tmp_path, recorded("nc4_sfc_pres_temp.header", "nc4_sfc_pres_temp.data")) as dataset:
        wanted = 9 + 0.25 * np.arange(6)[:, None] + 1.5 * np.arange(12)
        np.testing.assert_array_equal(dataset["/temperature"][...], wanted)
        assert plain(dataset["/latitude"][...]) == list(range(25, 51, 5))
        assert plain(dataset["/longitude"][...]) == list(range(-125, -69, 5))
        assert dataset["/temperature"].dimensions == ("latitude", "longitude")
        assert dataset["/temperature"].attrs["units"] == "celsius"
        # Nothing was asked for: nothing is known of it.
        assert np.asarray(dataset["/pressure"][...]).shape == (6, 12)


def test_a_deflated_answer(recorded, tmp_path):
    shape = [enc.dimension("latitude", 6)]
    latitude = enc.variable("latitude", enc.FLOAT, shape)
    header = enc.header(enc.group(dimensions=shape, variables=[latitude]))
    body = recorded("latitude_deflate.data")[4:]
    with opened(tmp_path, enc.MAGIC_START + header + body) as dataset:
        assert plain(dataset["/latitude"][...]) == [25, 30, 35, 40, 45, 50]


def test_an_answer_without_its_header_is_listed(recorded, tmp_path):
    with opened(tmp_path, recorded("latitude_deflate.data")) as dataset:
        assert list(dataset.arrays) == []
        told = [each.message for each in (*dataset.document.notes, *dataset.hierarchy.findings)]
        assert any(each.startswith("unknown-variable") for each in told)
