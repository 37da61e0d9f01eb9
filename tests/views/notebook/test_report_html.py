"""Reports in notebooks: the verdict first, then the first of all they count, and only text of files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from html_read import Read, read_harmless
from notebook_sets import HOSTILE

import refbrowser
from refbrowser.engine.audit.audit_plan import BlockedOrigin, Level
from refbrowser.engine.audit.audit_result import AuditResult, Grouping
from refbrowser.engine.comparing.differences import (
    ArrayComparison,
    ChunkComparison,
    ChunkState,
    Comparison,
    Difference,
    DifferenceKind,
)
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.request import ExportReport
from refbrowser.findings.kinds import MISSING_CHUNKS, UNDECODABLE
from refbrowser.io.origins import Origin
from refbrowser.model.report import Report
from refbrowser.references.edits.compare import Side


def said(report: Report) -> str:
    return read_harmless(report._repr_html_()).said.replace("\N{NARROW NO-BREAK SPACE}", " ")


def audited(files: int, texts: tuple[str, ...] = ("a.nc",)) -> AuditResult:
    """Return an audit that found a fault and a warning in each file."""
    grouping = Grouping()
    for number in range(files):
        text = texts[number % len(texts)]
        for kind in (UNDECODABLE, MISSING_CHUNKS):
            place = Place(url=f"{text}{number}", key=text, path="/a")
            grouping.add(kind.finding(f"it is {text}", place, advice=text))
    blocked = tuple(
        BlockedOrigin(origin=Origin("https", text), urls=1, references=2, advice=text) for text in texts
    )
    return AuditResult(Level.SAMPLE, grouping.groups(), blocked=blocked, urls=files, chunks=7)


def test_an_audit_says_its_verdict_first() -> None:
    text = said(audited(1))
    assert text.startswith("Audit 1 fault, 1 warning · sample · 1 file asked about · 7 chunks read")
    assert text.index("Fault") < text.index("Warning")
    for words in ("undecodable", "it is a.nc", "Not checked: 1 place to be allowed", "Not finished"):
        assert words in text
    assert 'class="rb-good"' not in audited(1)._repr_html_()
    assert "undecodable a.nc0" in text
    assert "undecodable …" + "x" * 47 + "0" in said(audited(1, ("x" * 100,)))
    sound = AuditResult(Level.SET, is_complete=True)
    assert said(sound).startswith("Audit 0 faults, 0 warnings · set")
    assert 'class="rb-good"' in sound._repr_html_()


def test_an_audit_of_many_files_is_bounded_and_harmless() -> None:
    html = audited(3_000, HOSTILE)._repr_html_()
    read_harmless(html)
    assert len(html) < 60_000
    assert "and 5\N{NARROW NO-BREAK SPACE}980 more groups" in html


def compared(count: int, text: str) -> Comparison:
    """Return a comparison in which the same attribute differs in many groups."""
    differences = [
        Difference(DifferenceKind.ATTRIBUTE, f"/{text}{number}", text, Side.BOTH, text, text * 1_000)
        for number in range(count)
    ]
    return Comparison(
        here=text, there="b.json", format_here="refs-v1", format_there="zarr-v3",
        differences=tuple(differences), notes=(text,),
    )  # fmt: skip


def test_a_comparison_says_what_is_where() -> None:
    text = said(compared(2, "units"))
    assert text.startswith("Comparison different")
    for words in ("here", "there", "b.json zarr-v3", "2 differences", "/units0", "units"):
        assert words in text
    only = Difference(DifferenceKind.ATTRIBUTE, "/a", "units", Side.HERE, "K")
    comparison = Comparison(here="a", there="b", format_here="x", format_there="y", differences=(only,))
    assert "Knot there" in said(comparison)
    assert "Values that differ" not in said(comparison)
    equal = Comparison(here="a", there="b", format_here="x", format_there="y")
    assert 'class="rb-good"' in equal._repr_html_()


def test_chunks_that_differ_are_drawn_on_their_grid() -> None:
    states = np.full((300, 500), ChunkState.SAME, np.uint8)
    states[17, 3] = ChunkState.CHANGED
    states[::2, 400:] = ChunkState.ONLY_HERE
    counts = {ChunkState.CHANGED: 1, ChunkState.ONLY_HERE: 15_000}
    chunks = ChunkComparison(states.shape, counts, states=states)
    arrays = tuple(ArrayComparison(f"/{name}", f"/{name}", chunks) for name in "abc")
    comparison = Comparison(here="a", there="b", format_here="x", format_there="y", arrays=arrays)
    html = comparison._repr_html_()
    read = read_harmless(html)
    assert read.elements.count("svg") == 2
    assert len(html) < 200_000
    assert "/a 15,001 of 150,000 chunks differ" in said(comparison)
    assert f'class="s{int(ChunkState.CHANGED)}"' in html
    assert "only here" in said(comparison)


def test_a_comparison_is_bounded_and_harmless() -> None:
    for text in HOSTILE:
        html = compared(5_000, text)._repr_html_()
        read_harmless(html)
        assert len(html) < 60_000
        assert "and 4,970 more" in html


def test_an_export_says_what_it_wrote_and_what_it_lost() -> None:
    report = ExportReport(target="out.zarr", format="zarr-v3", arrays=2, chunks=1_000, copied=7, missing=3)
    text = said(report)
    assert text.startswith("Export out.zarr · zarr-v3 · all kept")
    for words in ("Chunks1,000, 3 missing", "Copied undecoded7"):
        assert words in text
    skipped = tuple(RefbrowserError(ErrorKind.REF, each) for each in HOSTILE * 100)
    lost = ExportReport(target=HOSTILE[0], format="zarr-v3", skipped=skipped, opened_by=HOSTILE)
    html = lost._repr_html_()
    read_harmless(html)
    assert "not all kept" in html
    assert "Left out: 700" in html
    assert "and 680 more" in html


class Lines(Report):
    """A report without a form of its own."""

    def lines(self) -> Iterator[str]:
        yield f"summary {HOSTILE[0]}"
        for number in range(10**9):
            yield f"  line {number}\n{HOSTILE[4]}"


def test_any_report_is_shown_by_its_lines() -> None:
    html = Lines()._repr_html_()
    read_harmless(html)
    assert len(html) < 12_000
    assert Read(html).said.startswith("summary </style>")
    assert "line 3" in html


def test_reports_of_the_sample_are_harmless(tmp_path: Path) -> None:
    path = refbrowser.sample(tmp_path)
    with refbrowser.open(path) as dataset:
        assert "27.658" in said(refbrowser.explain(dataset, "/ocean/sst", (0, 90, 180)))
        assert "missing-chunks" in said(refbrowser.audit(dataset))
        assert "same references" in said(refbrowser.diff(dataset, path))
