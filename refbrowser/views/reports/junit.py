"""Reports as test cases in the XML of JUnit, as servers that build and test read it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from xml.sax.saxutils import escape

from refbrowser.errors import RefbrowserError, sentence
from refbrowser.limits import LIMITS
from refbrowser.version import __version__
from refbrowser.views.reports.html_page import Made
from refbrowser.views.reports.shareable import cut_text

#: What XML 1.0 cannot hold, or what a reader may be misled by: controls, halves of pairs, turned text.
_UNFIT = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u200d\u2010-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
#: Characters of the name of a case, and of a kind.
_NAME = 400


class Passed(Enum):
    """How a case ended."""

    #: All is well; what it says is printed beside it.
    YES = ""
    #: There is a warning; the case passes, as the verb does.
    WARNED = "warning"
    #: It is a fault: the element of XML.
    NO = "failure"
    #: It could not be looked at.
    UNKNOWN = "error"


#: How cases end, the worst first.
_WORST = (Passed.NO, Passed.UNKNOWN, Passed.WARNED, Passed.YES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing that was looked at.

    Attributes
    ----------
    name
        Its kind and its place.
    kind
        What kind of failure it is, in one word.
    message
        What was found.
    detail
        What it means and what to do about it.
    line, column
        Where it is in the text of the document, from 1; None where that is not known.
    """

    name: str
    passed: Passed = Passed.YES
    kind: str = ""
    message: str = ""
    detail: str = ""
    line: int | None = None
    column: int | None = None

    @property
    def is_good(self) -> bool:
        """Whether it passes."""
        return self.passed in (Passed.YES, Passed.WARNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """All that was looked at in one dataset.

    Attributes
    ----------
    name
        The dataset, as the user named it.
    properties
        What else is known: names in plain words, and values.
    seconds
        How long it took.
    file
        Whose text lines of cases are of; the dataset where empty.
    """

    name: str
    cases: Iterable[Case] = ()
    properties: Sequence[tuple[str, str]] = ()
    seconds: float = 0.0
    file: str = ""


def error_suite(name: str, error: RefbrowserError) -> Suite:
    """Return the suite of a dataset that could not be looked at."""
    return Suite(name=name, cases=(error_case(error),))


def error_case(error: RefbrowserError) -> Case:
    """Return the case of a dataset that could not be looked at."""
    message = sentence(error.message, error.advice, error.place)
    return Case(name="open", passed=Passed.UNKNOWN, kind=str(error.kind), message=message)


def junit_text(verb: str, suites: Iterable[Suite], made: Made | None = None) -> str:
    """Return suites as one file of XML.

    Parameters
    ----------
    verb
        Of the command line, which names all of them.
    """
    when = made or Made()
    done = [_suite(verb, suite, when) for suite in suites]
    sums = [sum(counts) for counts in zip(*(counts for counts, _ in done), strict=True)] or [0, 0, 0]
    attributes = _attributes(name=f"refbrowser {verb}", **_counts(sums))
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<testsuites{attributes}>",
            *(line for _, lines in done for line in lines),
            "</testsuites>\n",
        ]
    )


def _counts(counts: Sequence[int]) -> dict[str, str]:
    return dict(zip(("tests", "failures", "errors"), map(str, counts), strict=True))


def _suite(verb: str, suite: Suite, made: Made) -> tuple[tuple[int, int, int], list[str]]:
    """Return how many cases a suite has, how many of them failed and were no good; and its lines."""
    cases = list(_bounded(suite.cases))
    if not cases:
        cases = [Case(name="no findings")]
    failures, errors = (sum(case.passed is each for case in cases) for each in (Passed.NO, Passed.UNKNOWN))
    counts = len(cases), failures, errors
    when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(made.seconds))
    known = [("refbrowser", __version__), *([("command", made.command)] if made.command else [])]
    attributes = _attributes(
        name=suite.name, **_counts(counts), skipped="0", time=f"{suite.seconds:.3f}", timestamp=when
    )
    lines = [f"<testsuite{attributes}>", "<properties>"]
    for name, value in (*known, *suite.properties):
        lines.append(f"<property{_attributes(name=name, value=value)}/>")
    lines.append("</properties>")
    for case in cases:
        lines += _case(verb, suite.name, case)
    return counts, [*lines, "</testsuite>"]


def _bounded(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield the first cases, and one for all that follow: it ends as the worst of them does."""
    pending = iter(cases)
    yield from islice(pending, LIMITS.junit_cases)
    rest = dict.fromkeys(Passed, 0)
    for case in pending:
        rest[case.passed] += 1
    more = sum(rest.values())
    if more:
        worst = next(each for each in _WORST if rest[each])
        told = f"{rest[Passed.NO]:,} failures and {rest[Passed.UNKNOWN]:,} errors among them are not listed"
        yield Case(name=f"and {more:,} more", passed=worst, kind="limit", message=told)


def _case(verb: str, suite: str, case: Case) -> Iterator[str]:
    # Servers make folders of what stands between points.
    of = cut_text(suite, _NAME).replace(".", "_")
    yield f"<testcase{_attributes(classname=f'refbrowser.{verb}.{of}', name=case.name, time='0')}>"
    told = "\n".join(each for each in (case.message, case.detail) if each)
    if case.is_good:
        if told:
            yield f"<system-out>{_text(told)}</system-out>"
    else:
        attributes = _attributes(message=case.message, type=case.kind or verb)
        yield f"<{case.passed.value}{attributes}>{_text(told)}</{case.passed.value}>"
    yield "</testcase>"


def _attributes(**values: str) -> str:
    return "".join(f' {name}="{_text(value, name)}"' for name, value in values.items())


def _text(text: str, name: str = "") -> str:
    """Return foreign text for XML: cut, fit to be sent, without control characters."""
    most = _NAME if name in ("name", "classname", "type") else LIMITS.junit_text
    shown = _UNFIT.sub("\N{REPLACEMENT CHARACTER}", cut_text(text, most))
    # Line ends in attributes would be read as blanks.
    ends = {"\n": "&#10;", "\t": "&#9;"} if name else {}
    return escape(shown, {'"': "&quot;", **ends})
