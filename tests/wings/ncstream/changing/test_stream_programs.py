"""What programs do with streams: ``refbrowser.ncstream``."""

from __future__ import annotations

from pathlib import Path

import pytest
import stream_encoder as enc

import refbrowser


def clock(*values: int) -> bytes:
    time = enc.dimension("time", len(values), unlimited=True)
    root = enc.group(dimensions=[time], variables=[enc.variable("time", enc.INT, [time])])
    body = enc.data_body("time", enc.INT, [(0, len(values), None)], bigend=True)
    return enc.stream(enc.header(root), enc.data(body, enc.regular(enc.numbers("i", values))))


def test_streams_are_appended_to_compacted_and_repaired(tmp_path: Path) -> None:
    stream, more, small, sound = (tmp_path / f"{name}.ncs" for name in ("s", "more", "small", "sound"))
    stream.write_bytes(clock(1, 2))
    more.write_bytes(clock(3))
    report = refbrowser.ncstream.append(stream, more)
    assert (report.along, report.before, report.after) == ("/time", 2, 3)
    with refbrowser.open(more) as dataset:
        refbrowser.ncstream.append(str(stream), dataset, arrays=["/time"])
    assert refbrowser.ncstream.compact(stream, small, level=0).messages == 2
    small.write_bytes(small.read_bytes()[:-4] + b"damage")
    assert len(refbrowser.ncstream.repair(small, sound).lost) == 1
    with pytest.raises(refbrowser.RefbrowserError):
        refbrowser.ncstream.repair(small, sound)
    refbrowser.ncstream.repair(small, sound, force=True)
    with refbrowser.open(sound) as dataset:
        assert dataset["/time"][...].tolist() == [1, 2, 3, 3]
