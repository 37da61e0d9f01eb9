"""The lines of the page Audit: folded by kind and file, filtered, in an order; and all about one of them."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from refbrowser.engine.audit.audit_plan import Level
from refbrowser.engine.audit.audit_result import KEPT, AuditResult, Grouping
from refbrowser.errors import ErrorKind, Place, Severity
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import KINDS, URL_DEAD
from refbrowser.references.edits.edits import RemoveReference
from refbrowser.tools.audit.report.audit_page import (
    UNFOLDED,
    AuditPage,
    Order,
    PageChoice,
    about,
    copied,
    page_of,
)

FAULT, WARNING = Severity.FAULT, Severity.WARNING


def finding(
    code: str, url: str = "", key: str | None = None, severity: Severity = FAULT, count: int = 1
) -> Finding:
    place = Place(document="d.json", key=key, url=url or None)
    message = f"what is wrong with {key}"
    return KINDS[code].finding(message, place, severity=severity, error=ErrorKind.SOURCE, count=count)


def result_of(*findings: Finding) -> AuditResult:
    grouping = Grouping()
    for each in findings:
        grouping.add(each)
    return AuditResult(Level.FULL, grouping.groups())


def texts(page: AuditPage) -> list[tuple[int, str, int]]:
    return [(line.depth, f"{line.mark}{line.text}", line.count) for line in page.lines]


SOME = result_of(
    finding("url-dead", "b.nc", "t/1.0", count=7),
    finding("url-dead", "a.nc", "t/0.0", count=5),
    *(finding("undecodable", "c.nc", f"t/2.{number}") for number in range(3)),
    finding("template-unused", key=None, severity=WARNING),
)


def test_kinds_files_and_places() -> None:
    page = page_of(SOME, PageChoice())
    assert texts(page) == [
        (0, "▸ Chunk that cannot be decoded", 3),
        (0, "▾ Missing file", 12),
        (1, "a.nc", 5),
        (1, "b.nc", 7),
        (0, "Template that nothing uses", 1),
    ]
    assert page.lines[1].where == "2 files"
    assert (page.shown, page.faults, page.warnings) == (16, 15, 1)
    assert [page.find(line.key) for line in page.lines] == [0, 1, 2, 3, 4]
    assert page.find(("other",)) == -1


def test_a_line_is_unfolded_to_its_places_and_folded_again() -> None:
    first = page_of(SOME, PageChoice()).lines[0]
    unfolded = PageChoice(turned=frozenset({first.key}))
    lines = page_of(SOME, unfolded).lines
    assert [line.where for line in lines[:4]] == ["c.nc", "t/2.0", "t/2.1", "t/2.2"]
    assert [line.finding is not None for line in lines[:4]] == [False, True, True, True]
    kind = lines[4]
    folded = PageChoice(turned=frozenset({first.key, kind.key}))
    assert [line.text for line in page_of(SOME, folded).lines][4:] == [
        "Missing file",
        "Template that nothing uses",
    ]


def test_many_files_are_one_line() -> None:
    many = result_of(*(finding("url-dead", f"{number}.nc", f"t/{number}") for number in range(UNFOLDED + 1)))
    assert texts(page_of(many, PageChoice())) == [(0, "▸ Missing file", UNFOLDED + 1)]


def test_what_a_group_does_not_keep_is_told() -> None:
    many = result_of(*(finding("undecodable", "a.nc", f"t/{number}") for number in range(KEPT + 30)))
    key = page_of(many, PageChoice()).lines[0].key
    lines = page_of(many, PageChoice(turned=frozenset({key}))).lines
    assert len(lines) == KEPT + 2
    assert lines[-1].text == "and 30 more places, which are not listed one by one"
    assert lines[-1].count == 30


@pytest.mark.parametrize(
    ("choice", "shown"),
    [
        (PageChoice(faults=False), ["Template that nothing uses"]),
        (PageChoice(warnings=False, text="A.NC"), ["a.nc"]),
        (PageChoice(text="t/2.1"), ["what is wrong with t/2.1"]),
        (PageChoice(text="template-unused"), ["Template that nothing uses"]),
        (PageChoice(text="nowhere"), []),
    ],
)
def test_the_filter(choice: PageChoice, shown: list[str]) -> None:
    lines = page_of(SOME, choice).lines
    # What a filter finds is unfolded.
    assert all(not line.is_folded for line in lines)
    found = [line for line in lines if line.finding is not None]
    assert [line.where if line.text == "Missing file" else line.text.lower() for line in found] == [
        each.lower() for each in shown
    ]


def test_the_order() -> None:
    def kinds(order: Order) -> list[str]:
        return [line.kind.code for line in page_of(SOME, PageChoice(order=order)).lines if not line.depth]

    assert kinds(Order.SEVERITY) == ["undecodable", "url-dead", "template-unused"]
    assert kinds(Order.COUNT) == ["url-dead", "undecodable", "template-unused"]
    assert kinds(Order.FILE) == ["template-unused", "url-dead", "undecodable"]
    most = page_of(SOME, PageChoice(order=Order.COUNT)).lines
    assert [line.text for line in most if line.depth] == ["b.nc", "a.nc"]


def test_how_many_edits_repair() -> None:
    fixed = replace(finding("url-dead", "a.nc", "t/0", count=5), fix=RemoveReference("t/0"))
    page = page_of(
        result_of(fixed, finding("url-dead", "b.nc", "t/1"), finding("undecodable", "c.nc")), PageChoice()
    )
    assert page.fixable == {"url-dead": 5}
    assert [line.has_fix for line in page.lines] == [False, True, True, False]


def test_all_about_a_place_and_about_a_kind() -> None:
    lines = page_of(SOME, PageChoice()).lines
    place = dict(about(lines[3]))
    assert place[""] == "Missing file"
    assert place["What"] == "what is wrong with t/1.0"
    assert place["For readers"] == KINDS["url-dead"].meaning
    assert place["Where"] == "t/1.0, and 6 more places"
    assert place["File"] == "b.nc"
    assert place["What to do"] == URL_DEAD.advice
    assert dict(about(lines[1]))["Where"] == "12 places in 2 files"


def test_the_advice_of_a_finding_comes_first() -> None:
    own = replace(finding("url-dead", "a.nc", "t/0"), advice="look into the attic")
    (line,) = page_of(result_of(own), PageChoice()).lines
    assert dict(about(line))["What to do"].startswith("Look into the attic. Correct the template")


def test_lines_as_text() -> None:
    assert copied(page_of(SOME, PageChoice()).lines[1:4]) == (
        "fault[url-dead] Missing file (2 files): 12 places\n"
        "    fault[url-dead] a.nc (t/0.0): 5 places\n"
        "    fault[url-dead] b.nc (t/1.0): 7 places"
    )


def test_foreign_text_is_one_line() -> None:
    odd = finding("url-dead", "a\n<b>\x1b[31m.nc", "t/\r0")
    (line,) = page_of(result_of(odd), PageChoice()).lines
    shown = " ".join((line.text, line.where, *(text for _, text in about(line))))
    assert not any(character in shown for character in "\n\r\x1b")
    assert "<b>" in shown


@pytest.mark.slow
def test_a_hundred_thousand_findings_are_a_page_at_once() -> None:
    grouping = Grouping()
    for number in range(100_000):
        grouping.add(finding("undecodable", f"{number % 5000}.nc", f"t/{number}"))
    many = AuditResult(Level.FULL, grouping.groups())
    began = time.process_time()
    page = page_of(many, PageChoice())
    assert texts(page) == [(0, "▸ Chunk that cannot be decoded", 100_000)]
    assert page_of(many, PageChoice(text="t/77777")).shown == 20
    assert time.process_time() - began < 3
