"""Every construct of the grammar and of the wire notes is read to its values, as siphon reads it too."""

import io
import logging

import numpy as np
import pytest
from looped import looped
from stream_reading import close, opened, plain
from structure_constructs import ALL

READ_BY_SIPHON = [(each, path) for each in ALL for path in each.siphon]


@pytest.mark.slow
@looped("construct", ALL)
def test_every_construct_has_its_values(construct, tmp_path):
    with opened(tmp_path, construct.stream) as dataset:
        assert dataset.format == "ncstream"
        found = {path: plain(np.asarray(dataset[path][...])) for path in construct.values}
    for path, wanted in construct.values.items():
        assert close(found[path], wanted), f"{path}: {found[path]} is not {wanted}"


@pytest.mark.parametrize(("construct", "path"), READ_BY_SIPHON, ids=lambda each: getattr(each, "name", ""))
def test_siphon_reads_the_same(construct, path, tmp_path):
    with opened(tmp_path, construct.stream) as dataset:
        found = plain(np.asarray(dataset[path][...]))
    assert close(found, of_siphon(construct.stream, path)), found


def of_siphon(stream, path):
    """Return the values of the one data message of a stream as siphon reads them."""
    from siphon.cdmr import ncstream

    # It logs that it knows neither START nor END.
    logging.getLogger(ncstream.__name__).setLevel(logging.CRITICAL)
    header, values, *more = ncstream.read_ncstream_messages(io.BytesIO(stream))
    assert not more
    (structures, variables) = header.root.structs, header.root.vars
    if not structures:
        # siphon reads a scalar as one value.
        return plain(values)[0] if not variables[0].shape else plain(values)
    dtype = ncstream.struct_to_dtype(structures[0])
    return plain(values.view(dtype.newbyteorder(values.dtype.names[0])))


def test_an_array_larger_than_memory_costs_nothing(tmp_path):
    (sparse,) = (each for each in ALL if each.name == "sparse")
    with opened(tmp_path, sparse.stream) as dataset:
        array = dataset["/x"]
        assert array.shape == (10**9, 10**9)
        assert array[10**9 - 1, 7] == 1
        assert array[5, 5:8].tolist() == [-2147483647] * 3
        assert array[-1, 6:9].tolist() == [-2147483647, 1, -2147483647]
