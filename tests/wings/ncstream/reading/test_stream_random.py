"""Random streams have the values that they were made from; garbled ones end in errors, never in others."""

import itertools
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
import stream_encoder as enc
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from stream_constructs import ALL_PLAIN
from stream_reading import NUMBERS, close, opened, plain
from structure_constructs import ALL

import refbrowser
from refbrowser.errors import RefbrowserError

FILLS = {
    "i1": -127,
    "i2": -32767,
    "i4": -2147483647,
    "i8": -9223372036854775806,
    "f4": np.float32(9.969209968386869e36),
    "f8": 9.969209968386869e36,
    "u1": 255,
    "u2": 65535,
    "u4": 4294967295,
    "u8": 18446744073709551614,
}


@st.composite
def ranges_in(draw, size):
    """Return a range of elements of an axis: start, size, stride."""
    start = draw(st.integers(0, size - 1))
    stride = draw(st.integers(1, 3))
    most = (size - 1 - start) // stride + 1
    return start, draw(st.integers(1, most)), stride


@st.composite
def datasets(draw):
    """Return a stream of one variable in any number of messages, and its values."""
    type, letter = draw(st.sampled_from(sorted(NUMBERS.items())))
    shape = draw(st.lists(st.integers(1, 7), max_size=3))
    wanted = np.full(shape, FILLS[letter], letter)
    dimensions = [enc.dimension(f"d{axis}", size) for axis, size in enumerate(shape)]
    messages = []
    numbers = itertools.count(1)
    for _ in range(draw(st.integers(0, 6))):
        section = [draw(ranges_in(size)) for size in shape]
        target = tuple(slice(start, start + (size - 1) * by + 1, by) for start, size, by in section)
        values = np.zeros([size for _, size, _ in section], letter)
        values[...] = np.reshape([next(numbers) % 120 for _ in range(values.size)], values.shape)
        wanted[target] = values
        big = draw(st.booleans())
        payload = values.astype(f"{'>' if big else '<'}{letter}").tobytes()
        squeezed = draw(st.booleans())
        stored = zlib.compress(payload) if squeezed else payload
        body = enc.data_body(
            "v",
            type,
            section,
            bigend=big,
            compress=enc.DEFLATE if squeezed else None,
            uncompressed=len(payload) if squeezed and draw(st.booleans()) else None,
            crc32=zlib.crc32(stored) if draw(st.booleans()) else None,
        )
        messages.append(enc.data(body, enc.regular(stored)))
    variable = enc.variable("v", type, dimensions)
    made = enc.header(enc.group(dimensions=dimensions, variables=[variable]))
    return enc.stream(made, *messages), wanted


@pytest.mark.slow
@given(datasets(), st.data())
def test_any_sections_are_laid_over_each_other(made, draw):
    stream, wanted = made
    index = tuple(draw.draw(st.slices(size)) for size in wanted.shape)
    steps = [part.step for part in index]
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), stream) as dataset:
        np.testing.assert_array_equal(dataset["/v"][...], wanted)
        if all(step is None or step > 0 for step in steps):
            np.testing.assert_array_equal(dataset["/v"][(*index, ...)], wanted[(*index, ...)])


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=4), min_size=1, max_size=6))
def test_any_rows(rows):
    shape = [enc.dimension("n", len(rows))]
    header = enc.header(
        enc.group(dimensions=shape, variables=[enc.variable("v", enc.INT, [*shape, enc.VLEN])])
    )
    body = enc.data_body("v", enc.INT, [(0, len(rows), 1)], bigend=True)
    sent = enc.data(body, enc.objects([enc.numbers("i", row) for row in rows]))
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), enc.stream(header, sent)) as dataset:
        assert plain(dataset["/v"][...]) == rows
        assert plain(dataset["/v"][1:]) == rows[1:]


@pytest.mark.slow
@given(st.lists(st.text(max_size=5), min_size=1, max_size=8))
def test_any_texts(words):
    shape = [enc.dimension("n", len(words))]
    header = enc.header(enc.group(dimensions=shape, variables=[enc.variable("v", enc.STRING, shape)]))
    sent = enc.data(enc.data_body("v", enc.STRING, [(0, len(words), 1)]), enc.objects(words))
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), enc.stream(header, sent)) as dataset:
        assert plain(dataset["/v"][...]) == words


def read_all(path):
    """Return the values of all arrays that can be read; only our own errors are caught."""
    found = {}
    try:
        dataset = refbrowser.open(str(path))
    except RefbrowserError:
        return found
    with dataset:
        for name, array in dataset.arrays.items():
            # What a garbled header claims may be larger than what is read at once.
            if array.node.error is None and np.prod(array.shape, dtype=float) < 10**6:
                try:
                    found[name] = np.asarray(array[...])
                except RefbrowserError:
                    continue
        dataset.cdl()
    return found


@pytest.mark.slow
@given(st.sampled_from(ALL), st.data())
def test_garbled_streams_end_in_errors_of_ours(construct, draw):
    garbled = bytearray(construct.stream)
    for _ in range(draw.draw(st.integers(1, 3))):
        garbled[draw.draw(st.integers(4, len(garbled) - 1))] = draw.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.ncs"
        path.write_bytes(garbled)
        read_all(path)


@pytest.mark.slow
@given(st.sampled_from(ALL), st.data())
def test_streams_cut_anywhere_keep_what_was_sent(construct, draw):
    cut = draw.draw(st.integers(5, len(construct.stream)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.ncs"
        path.write_bytes(construct.stream[:cut])
        read_all(path)


def harmed_elsewhere():
    """Return a stream with one variable that is damaged by turns, and one that never is."""
    shape = [enc.dimension("n", 3)]
    variables = [enc.variable(name, enc.INT, shape) for name in ("sound", "other")]
    header = enc.header(enc.group(dimensions=shape, variables=variables))

    def sent(name, values):
        body = enc.data_body(name, enc.INT, [(0, 3, 1)], bigend=True)
        return enc.data(body, enc.regular(enc.numbers("i", values)))

    start = enc.MAGIC_START + header + sent("sound", [1, 2, 3])
    return start, sent("other", [4, 5, 6]) + enc.MAGIC_END


@pytest.mark.slow
@given(st.data())
def test_what_stands_before_damage_keeps_its_values(draw):
    start, rest = harmed_elsewhere()
    garbled = bytearray(rest)
    for _ in range(draw.draw(st.integers(1, 4))):
        garbled[draw.draw(st.integers(0, len(garbled) - 1))] = draw.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.ncs"
        path.write_bytes(start + garbled)
        found = read_all(path)
    # Garbled bytes may still be a message for it: then its name stands in them.
    assert close(plain(found["/sound"]), [1, 2, 3]) or b"sound" in garbled


@pytest.mark.long
@looped("construct", ALL_PLAIN)
def test_every_absurd_length_ends_in_errors_of_ours(construct, tmp_path):
    stream = construct.stream
    path = tmp_path / "a.ncs"
    for place in range(4, len(stream)):
        for lie in (2**20, 2**31, 2**63, 2**64 - 1):
            path.write_bytes(stream[:place] + enc.varint(lie) + stream[place + 1 :])
            read_all(path)
