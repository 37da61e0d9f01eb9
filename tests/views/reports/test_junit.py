"""Test cases in XML: of the shape that servers read, with foreign text as text, and bounded."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.findings.kinds import MISSING_CHUNKS, URL_DEAD
from refbrowser.limits import LIMITS
from refbrowser.views.reports.finding_cases import finding_case
from refbrowser.views.reports.html_page import Made
from refbrowser.views.reports.junit import Case, Passed, Suite, error_suite, junit_text

#: What the schema of Jenkins has for each element: attributes, of which the first are needed, and children.
SHAPES = {
    "testsuites": (0, "name tests failures errors", "testsuite"),
    "testsuite": (4, "name tests failures errors skipped time timestamp", "properties testcase"),
    "properties": (0, "", "property"),
    "property": (2, "name value", ""),
    "testcase": (1, "name classname time", "failure error system-out"),
    "failure": (0, "message type", ""),
    "error": (0, "message type", ""),
    "system-out": (0, "", ""),
}


def check_shape(found: ElementTree.Element) -> None:
    """Hold a file against the schema, and its sums against its cases."""
    for element in found.iter():
        needed, attributes, children = SHAPES[element.tag]
        known = attributes.split()
        assert set(known[:needed]) <= set(element.attrib) <= set(known), element.tag
        assert {child.tag for child in element} <= set(children.split())
    for suites in (found, *found):
        assert int(suites.attrib["tests"]) == len(list(suites.iter("testcase")))
        assert int(suites.attrib["failures"]) == len(list(suites.iter("failure")))
        assert int(suites.attrib["errors"]) == len(list(suites.iter("error")))


def read(*suites: Suite) -> ElementTree.Element:
    found = ElementTree.fromstring(junit_text("check", suites, Made("refbrowser check x", 0)))
    check_shape(found)
    return found


def test_a_finding_is_a_case_named_by_its_kind_and_place() -> None:
    fault = URL_DEAD.finding("it is gone", Place(key="a/0"), advice="look for it", count=3)
    warning = MISSING_CHUNKS.finding("1 of 2 is missing", Place(path="/a"))
    (suite,) = read(Suite(name="x.json", cases=map(finding_case, (fault, warning)), seconds=1.5))
    assert (suite.attrib["timestamp"], suite.attrib["time"]) == ("1970-01-01T00:00:00", "1.500")
    known = {each.attrib["name"]: each.attrib["value"] for each in suite.iter("property")}
    assert known["command"] == "refbrowser check x"
    first, second = suite.findall("testcase")
    assert (first.attrib["name"], first.attrib["classname"]) == ("url-dead: a/0", "refbrowser.check.x_json")
    (failure,) = first
    assert (failure.attrib["message"], failure.attrib["type"]) == ("it is gone", "url-dead")
    for told in ("How often: 3 places", "What to do: Look for it", "For readers: "):
        assert told in (failure.text or "")
    (out,) = second
    assert out.tag == "system-out"
    assert (out.text or "").startswith("1 of 2 is missing\nWhat it is: warning")
    assert finding_case(warning, fails=True).passed is Passed.NO


def test_what_could_not_be_opened_is_an_error() -> None:
    error = RefbrowserError(ErrorKind.IO, "there is no such file", Place(path="x"), "make one")
    (suite,) = read(error_suite("x", error))
    (told,) = suite.iter("error")
    assert told.attrib == {"message": "there is no such file; make one (path 'x')", "type": "E_IO"}


def test_nothing_found_is_a_case_that_passes() -> None:
    (suite,) = read(Suite(name="x"))
    assert [case.attrib["name"] for case in suite.iter("testcase")] == ["no findings"]
    assert read().attrib["tests"] == "0"


@given(st.text(st.characters(), max_size=40))
def test_any_text_is_text(text: str) -> None:
    case = Case(name=text, passed=Passed.NO, kind=text, message=text, detail=text)
    read(Suite(name=text, cases=(case,), properties=((text, text),)))


def test_characters_that_act_are_not_told() -> None:
    hostile = "<b>&\"'\x00\x1b[31m\u202e\ud800\uffff]]>\r\na\tb"
    found = read(Suite(name="x", cases=(Case(name=hostile, message=hostile),)))
    told = ElementTree.tostring(found, "unicode")
    assert not {"\x1b", "\u202e", "\uffff"} & set(told)
    (case,) = found.iter("testcase")
    assert case.attrib["name"] == "<b>&\"'\ufffd\ufffd[31m\ufffd\ufffd\ufffd]]>\ufffd\na\tb"


@pytest.mark.parametrize("worst", [Passed.YES, Passed.NO, Passed.UNKNOWN])
def test_cases_beyond_the_limit_are_one(worst: Passed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS.__dict__, "junit_cases", 2)
    cases = [Case(name=f"c{number}") for number in range(4)] + [Case(name="last", passed=worst)]
    (suite,) = read(Suite(name="x", cases=cases))
    names = [case.attrib["name"] for case in suite.iter("testcase")]
    assert names == ["c0", "c1", "and 3 more"]
    # What is not listed is not hidden, either.
    failed = int(suite.attrib["failures"]), int(suite.attrib["errors"])
    assert failed == (worst is Passed.NO, worst is Passed.UNKNOWN)
    (full,) = read(Suite(name="x", cases=cases[:2]))
    assert len(full.findall("testcase")) == 2


def test_texts_are_cut_and_fit_to_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("USERPROFILE", "/home/anna")
    secret = "/home/anna/x https://me:word@h/?token=abc " + "y" * LIMITS.junit_text
    case = Case(name=secret, passed=Passed.NO, message=secret, detail=secret)
    text = junit_text("check", [Suite(name=secret, cases=[case], properties=[("p", secret)])])
    assert not any(each in text for each in ("anna", "word", "abc"))
    assert len(text) < 6 * LIMITS.junit_text
