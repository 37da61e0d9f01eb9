"""What an audit knows of chunks, drawn on the chunk grid."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from test_chunk_map import INLINE, MISSING, at, document, entries, filled, manifest

from refbrowser.engine.audit.audit_plan import Level
from refbrowser.engine.audit.audit_result import AuditResult, Grouping
from refbrowser.engine.findings.chunk_table import ChunkMarks
from refbrowser.findings.kinds import ALL_FILL, UNDECODABLE
from refbrowser.views.chunks.chunk_audit import ChunkAudit
from refbrowser.views.chunks.chunk_colouring import ColourBy, coloured
from refbrowser.views.chunks.chunk_map import ChunkLayout, ChunkMapValues, MapSource
from refbrowser.views.plot.slicing import SliceState


def result() -> AuditResult:
    """Return one that read two chunks, asked about two files, and found two faults and a warning."""
    grouping, marks = Grouping(), ChunkMarks()
    for kind in (UNDECODABLE, ALL_FILL):
        grouping.add(kind.finding("x"))
    marks.add("/a", "undecodable", np.array([[2, 0], [2, 1]]))
    marks.add("/a", "all-fill", np.array([[2, 1], [2, 2]]))
    return AuditResult(
        Level.SAMPLE,
        grouping.groups(),
        marks=marks,
        states={"s3://b/0.nc": "", "s3://b/1.nc": "url-dead"},
        read={"/a": [np.array([0, 1]), np.array([2 * 50 + 0])]},
    )


def test_a_kind_of_a_single_format_has_its_title() -> None:
    kind = replace(ALL_FILL, code="own-kind", title="chunk of another")
    grouping, marks = Grouping(), ChunkMarks()
    grouping.add(kind.finding("x"))
    marks.add("/a", "own-kind", np.array([[2, 1]]))
    told = ChunkAudit.of(AuditResult(Level.SAMPLE, grouping.groups(), marks=marks), "/a")
    assert told.title(0) == "chunk of another"


def test_each_chunk_is_told() -> None:
    values = filled(MapSource(manifest(document())))
    values.take_audit(ChunkAudit.of(result(), "/a"))
    shown = coloured(values, ColourBy.AUDIT)
    assert entries(shown) == {
        "not looked at": 300 - 50 - 1 - 3,
        "missing": 1,
        "its file was checked": 48,
        "read, and sound": 2,
        "chunk that holds only fill values": 1,
        "chunk that cannot be decoded": 2,
    }

    def style(*coords: int) -> str:
        return shown.class_at(*at(values, coords)).style

    assert style(0, 0) == style(0, 1) == "sound"
    assert style(0, 2) == "asked"
    assert style(1, 0) == "unseen"
    assert style(*MISSING) == "missing"
    assert style(*INLINE) == "unseen"
    # The worst of several is seen, also where it was read.
    assert style(2, 0) == style(2, 1) == "fault"
    assert style(2, 2) == "warned"
    # Where chunks share a pixel the greatest number is seen.
    numbers = {entry.style: number for number, entry in enumerate(shown.legend)}
    assert numbers["unseen"] < numbers["asked"] < numbers["sound"] < numbers["warned"] < numbers["fault"]
    assert values.audited_at(*at(values, (2, 1))) == "chunk that cannot be decoded"
    assert values.audited_at(*at(values, (2, 2))) == "chunk that holds only fill values"
    assert values.audited_at(*at(values, (0, 0))) == ""


def test_another_result_takes_the_place_of_the_one_before() -> None:
    values = filled(MapSource(manifest(document())))
    values.take_audit(ChunkAudit.of(result(), "/a"))
    values.take_audit(ChunkAudit.of(None, "/a"))
    assert entries(coloured(values, ColourBy.AUDIT)) == {"not looked at": 299, "missing": 1}


def test_marks_of_other_slices_and_of_other_arrays_are_not_shown() -> None:
    values = filled(
        MapSource(manifest(document())), ChunkLayout.of(SliceState((6, 50), ("y", "x"), 1, None, (2, 0)))
    )
    values.take_audit(ChunkAudit.of(result(), "/a"))
    assert entries(coloured(values, ColourBy.AUDIT))["chunk that cannot be decoded"] == 2
    values.take_audit(ChunkAudit.of(result(), "/b"))
    assert "chunk that cannot be decoded" not in entries(coloured(values, ColourBy.AUDIT))


def test_a_million_marks_are_taken_at_once() -> None:
    side = 1000
    marks, grouping = ChunkMarks(), Grouping()
    coords = np.stack(np.divmod(np.arange(side * side), side), axis=1)
    marks.add("/a", "undecodable", coords)
    grouping.add(UNDECODABLE.finding("x"))
    found = AuditResult(Level.FULL, grouping.groups(), marks=marks)
    layout = ChunkLayout.of(SliceState((side, side), ("y", "x"), 1, 0, (0, 0)))
    values = ChunkMapValues(MapSource(manifest(document())), layout, range(side), range(side))
    values.kind[...] = 2
    began = time.process_time()
    values.take_audit(ChunkAudit.of(found, "/a"))
    assert entries(coloured(values, ColourBy.AUDIT)) == {"chunk that cannot be decoded": side * side}
    assert time.process_time() - began < 2
