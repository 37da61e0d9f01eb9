"""Annotations for a server that builds: one line each, which nothing in a file ends or begins."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import Place
from refbrowser.findings.kinds import MISSING_CHUNKS, URL_DEAD
from refbrowser.limits import LIMITS
from refbrowser.views.reports.annotations import annotation_lines
from refbrowser.views.reports.finding_cases import finding_case
from refbrowser.views.reports.junit import Case, Passed, Suite

_LINE = re.compile(r"::(error|warning) (file=[^,:\n]*,)?(line=\d+,)?(col=\d+,)?title=[^,:\n]*::[^\n\r]*")


def test_what_is_not_good_is_annotated_where_it_is() -> None:
    fault = URL_DEAD.finding("it is gone", Place(pointer="/refs/a", line=3, column=5))
    warning = MISSING_CHUNKS.finding("1 is missing", Place(path="/a"))
    of_key = URL_DEAD.finding("it is odd", Place(key="a/.zarray", line=3, column=5))
    cases = [Case(name="good", message="no"), *map(finding_case, (fault, warning, of_key))]
    first, second, third = annotation_lines([Suite(name="./x.json", cases=cases)])
    assert first.startswith(
        "::error file=x.json,line=3,col=5,title=url-dead%3A /refs/a%2C line 3::it is gone%0A"
    )
    assert second.startswith("::warning file=x.json,title=missing-chunks%3A /a::1 is missing%0A")
    # A line of the text of a key is none of the document.
    assert third.startswith("::error file=x.json,title=")
    (away,) = annotation_lines([Suite(name="https://x.org/a", cases=[finding_case(fault)])])
    assert "file=" not in away
    (other,) = annotation_lines([Suite(name="a and b", file="b", cases=[finding_case(warning)])])
    assert "file=b," in other


@given(st.text(st.characters(), max_size=40))
def test_any_text_is_in_one_annotation(text: str) -> None:
    case = Case(name=text, passed=Passed.NO, message=text, detail=text, line=1)
    (line,) = annotation_lines([Suite(name=text, cases=[case])])
    assert _LINE.fullmatch(line)
    assert len(line.splitlines()) == 1


def test_many_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS.__dict__, "annotations", 3)
    for count in (3, 5):
        cases = [Case(name="x", passed=Passed.UNKNOWN)] * count
        lines = list(annotation_lines([Suite(name="a", cases=cases[:2]), Suite(name="b", cases=cases[2:])]))
        assert len(lines) == min(count, 4)
        assert ("and 2 more" in lines[-1]) is (count == 5)
