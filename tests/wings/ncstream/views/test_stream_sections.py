"""What each message of a variable gave; its fields, and samples of values, read where the stream lies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import stream_encoder as enc
from servers.http_server import HttpServer
from streams_made import SHAPE, ocean_messages, write_doubtful, write_ocean

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.wings.ncstream.reading.hierarchy import StreamOrigin
from refbrowser.wings.ncstream.reading.messages import StreamIndex
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.views.byte_order_readings import (
    doubtful_arrays,
    ordered_arrays,
    sample_of,
    sample_readings,
)
from refbrowser.wings.ncstream.views.fields import fields_of
from refbrowser.wings.ncstream.views.supplied_sections import messages_of, section_of, supplied_sections


def index_of(*messages: bytes) -> StreamIndex:
    return walk_stream(MemoryBytes(enc.stream(*messages)), url="memory:stream")


def test_immediate_data_is_the_first_message_of_its_variable() -> None:
    index = index_of(*ocean_messages())
    sections = supplied_sections(index, "/lat", (SHAPE[1],))
    assert sections.numbers.tolist() == [0]
    assert section_of(sections, 0) == (range(SHAPE[1]),)
    assert section_of(sections, 1) is None
    late = index_of(enc.header(enc.group()), *ocean_messages())
    assert len(supplied_sections(late, "/lat", (SHAPE[1],), until=0)) == 0
    assert supplied_sections(late, "/lat", (SHAPE[1],), until=1).numbers.tolist() == [1]


def test_only_messages_that_count_are_there() -> None:
    index = index_of(*ocean_messages())
    assert messages_of(index, "/temp").tolist() == [1, 2, 3, 4, 5, 6]
    assert messages_of(index, "/temp", 3).tolist() == [1, 2, 3]
    assert messages_of(index, "/nowhere").tolist() == []
    assert supplied_sections(index, "/temp", SHAPE, until=4).numbers.tolist() == [1, 2, 3, 4]
    # What does not fit the variable gives nothing.
    assert supplied_sections(index, "/temp", (1, *SHAPE[1:])).numbers.tolist() == [1, 2, 3, 4, 5]
    assert len(supplied_sections(index, "/temp", SHAPE[1:])) == 0


def test_messages_of_a_sequence_append_to_it() -> None:
    member = enc.variable("a", enc.INT)
    header = enc.header(enc.group(structures=[enc.structure("s", enc.SEQUENCE, variables=[member])]))
    rows = [enc.structure_body(enc.numbers("i", [value]), count=1) for value in range(5)]
    messages = [
        enc.data(enc.data_body("s", enc.SEQUENCE, version=1), enc.sequence(part))
        for part in (rows[:2], rows[2:])
    ]
    sections = supplied_sections(index_of(header, *messages), "/s", (5,))
    assert [section_of(sections, number) for number in (1, 2)] == [(range(0, 2),), (range(2, 5),)]


def test_only_numbers_of_several_bytes_can_be_doubted(tmp_path: Path) -> None:
    index = walk_stream(MemoryBytes(write_doubtful(tmp_path).read_bytes()), url="memory:stream")
    assert doubtful_arrays(index) == ("/t",)
    assert ordered_arrays(index) == ("/t",)
    assert doubtful_arrays(index_of(*ocean_messages())) == ()


def test_fields_are_read_from_the_file(tmp_path: Path) -> None:
    with open_dataset(OpenRequest(str(write_ocean(tmp_path)))) as dataset:
        origin = dataset.document.origin
        assert isinstance(origin, StreamOrigin)
        fields = fields_of(dataset, origin.index, 2, CancelToken())
        assert fields["Data"]["varName"] == "temp"
        assert "Header" in fields_of(dataset, origin.index, 8, CancelToken())


def test_fields_are_read_from_a_server() -> None:
    files = {"/ocean.ncs": enc.stream(*ocean_messages())}
    with HttpServer(files) as server, open_dataset(OpenRequest(server.url("/ocean.ncs"))) as dataset:
        origin = dataset.document.origin
        assert isinstance(origin, StreamOrigin)
        assert fields_of(dataset, origin.index, 7, CancelToken())["Data"]["varName"] == "salt"


@pytest.mark.parametrize("little", [False, True])
def test_a_sample_tells_the_order(tmp_path: Path, little: bool) -> None:
    with open_dataset(OpenRequest(str(write_doubtful(tmp_path, little=little)))) as dataset:
        found = sample_readings(dataset, "/t", JobControl())
        assert found is not None
        assert found.likelier == ("little" if little else "big")
        assert found.count == 400
        # Never sent, and of one byte.
        assert sample_readings(dataset, "/c", JobControl()) is None
        assert sample_readings(dataset, "/nowhere", JobControl()) is None


def test_a_sample_comes_from_the_middle_and_is_bounded() -> None:
    assert sample_of((10, 20, 30), most=60) == (slice(4, 5), slice(9, 11), slice(0, 30))
    assert sample_of((), most=5) == ()
    taken = sample_of((10**12, 10**12), most=1000)
    assert int(np.prod([part.stop - part.start for part in taken])) <= 1000
