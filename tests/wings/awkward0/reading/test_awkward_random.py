"""Random nested arrays that we write are read with equal values by awkward0 and by us."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
from awkward0_encoder import zipped
from awkward0_environment import Awkward0Process
from awkward0_values import plain_value, read_values, same
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_nested import contents

import refbrowser
from refbrowser.wings.awkward0.writing.serialize import serialize


class Members(dict[str, bytes]):
    """Blobs and schemas as they are put."""

    def put(self, name: str, pieces: Iterable[Any], *_: object) -> None:
        self[name] = b"".join(map(bytes, pieces))


@pytest.mark.slow
@settings(max_examples=examples(50))
@given(data=st.data())
def test_what_we_write_is_read_by_awkward0_and_us(data: st.DataObject, awkward0: Awkward0Process) -> None:
    content = data.draw(st.integers(0, 5).flatmap(contents))
    expected = plain_value(ak.to_list(content))
    members = Members()
    serialize(content, members, "one")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "random.awkd")
        path.write_bytes(zipped(members))
        theirs = awkward0.read(path, ["one"])["one"]
        assert same(theirs, expected), theirs
        with refbrowser.open(path) as dataset:
            found = read_values(dataset["/one"])
            assert same(found, expected), found
            for start in range(len(expected)):
                part = plain_value(ak.to_list(dataset["/one"].to_awkward(start, start + 1)))
                assert same(part, expected[start : start + 1]), start
