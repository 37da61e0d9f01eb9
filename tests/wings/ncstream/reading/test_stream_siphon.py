"""Random streams and attributes as siphon reads them, where it can."""

import io
import logging
import tempfile
from pathlib import Path

import numpy as np
import pytest
import stream_encoder as enc
from hypothesis import given
from hypothesis import strategies as st
from stream_reading import NUMBERS, close, opened, plain


@pytest.fixture(scope="module")
def ncstream():
    from siphon.cdmr import ncstream

    # It logs that it knows neither START nor END.
    level = logging.getLogger(ncstream.__name__).level
    logging.getLogger(ncstream.__name__).setLevel(logging.CRITICAL)
    yield ncstream
    logging.getLogger(ncstream.__name__).setLevel(level)


@st.composite
def numbers(draw):
    """Return a stream of one variable in one message, as compatible writers make it."""
    type, letter = draw(st.sampled_from(sorted(NUMBERS.items())))
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    size = int(np.prod(shape))
    payload = draw(
        st.binary(min_size=size * np.dtype(letter).itemsize, max_size=size * np.dtype(letter).itemsize)
    )
    dimensions = [enc.dimension(f"d{axis}", length) for axis, length in enumerate(shape)]
    squeezed = draw(st.booleans())
    facts = {"compress": enc.DEFLATE, "uncompressed": len(payload)} if squeezed else {}
    body = enc.data_body("v", type, enc.whole(shape), bigend=True, **facts)
    part = enc.deflated(payload) if squeezed else enc.regular(payload)
    header = enc.header(enc.group(dimensions=dimensions, variables=[enc.variable("v", type, dimensions)]))
    return enc.stream(header, enc.data(body, part))


@pytest.mark.slow
@given(numbers())
def test_numbers(ncstream, stream):
    _, theirs = ncstream.read_ncstream_messages(io.BytesIO(stream))
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), stream) as dataset:
        ours = dataset["/v"][...]
    np.testing.assert_array_equal(ours, theirs)
    assert ours.dtype.newbyteorder("=") == theirs.dtype.newbyteorder("=")


values = st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=4)
#: Rows of one length lose a dimension in siphon: there are always two lengths.
columns = st.lists(values, max_size=4).map(lambda rows: [[1], [2, 3], *rows])


@pytest.mark.slow
@given(columns)
def test_ragged_columns(ncstream, rows):
    shape = [enc.dimension("n", len(rows))]
    header = enc.header(
        enc.group(dimensions=shape, variables=[enc.variable("v", enc.INT, [*shape, enc.VLEN])])
    )
    flat = [value for row in rows for value in row]
    body = enc.column_body(
        "v",
        enc.INT,
        enc.whole([len(rows)]),
        vlen=True,
        elements=len(flat),
        primitives=enc.numbers("i", flat, "<"),
        lengths=[len(row) for row in rows],
    )
    stream = enc.stream(header, enc.column(body))
    _, theirs = ncstream.read_ncstream_messages(io.BytesIO(stream))
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), stream) as dataset:
        ours = plain(dataset["/v"][...])
    assert ours == plain(theirs) == rows


ATTRIBUTES = [
    enc.text_attribute("text", "one"),
    enc.text_attribute("texts", "one", "zwölf"),
    enc.number_attribute("byte", enc.BYTE, -5),
    enc.number_attribute("shorts", enc.SHORT, -300, 2),
    enc.number_attribute("float", enc.FLOAT, 0.1),
    enc.number_attribute("doubles", enc.DOUBLE, 0.1, 1e300),
    enc.typed_attribute("new text", enc.STRING, "one"),
    enc.typed_attribute("new texts", enc.STRING, "one", "two"),
    enc.typed_attribute("unsigned", enc.UINT, 2**32 - 1),
    enc.typed_attribute("long", enc.LONG, -(2**62)),
    enc.typed_attribute("ulongs", enc.ULONG, 2**64 - 1, 1),
    # The type of field 7 counts before that of field 2.
    enc.attribute("both", type=enc.INT, length=1, data=b"\0\5", data_type=enc.SHORT),
]


@pytest.mark.parametrize("made", ATTRIBUTES)
def test_attributes(ncstream, made, tmp_path):
    stream = enc.stream(enc.header(enc.group(attributes=[made])))
    (header,) = ncstream.read_ncstream_messages(io.BytesIO(stream))
    name, theirs = ncstream.unpack_attribute(header.root.atts[0])
    with opened(tmp_path, stream) as dataset:
        ours = dict(dataset.attrs)
    assert list(ours) == [name]
    theirs = theirs if isinstance(theirs, str) else np.asarray(theirs).tolist()
    assert close(ours[name], theirs)
