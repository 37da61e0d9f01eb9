"""What was found as annotations of GitHub Actions: commands in the log of a job, shown beside the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from refbrowser.limits import LIMITS
from refbrowser.views.reports.junit import Case, Passed, Suite
from refbrowser.views.reports.shareable import cut_text
from refbrowser.views.words import plain_lines

_LEVELS = {Passed.NO: "error", Passed.UNKNOWN: "error", Passed.WARNED: "warning"}
#: What an annotation may not hold as it is: it would end it, or begin another.
_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_MESSAGE, ":": "%3A", ",": "%2C"}
#: Characters of a name.
_NAME = 400


def annotation_lines(suites: Iterable[Suite]) -> Iterator[str]:
    """Yield a line for each thing that is not good; those beyond `LIMITS.annotations` are counted in one."""
    told = ((suite, case) for suite in suites for case in suite.cases if case.passed is not Passed.YES)
    yield from (_line(suite, case) for suite, case in islice(told, LIMITS.annotations))
    more = sum(1 for _ in told)
    if more:
        yield f"::warning title=refbrowser::and {more:,} more, which the log lists"


def _line(suite: Suite, case: Case) -> str:
    file = suite.file or suite.name
    # A path that leads out of the repository would be shown nowhere; a URL is no file of it.
    known = {"file": file.removeprefix("./")} if "://" not in file else {}
    known |= {name: str(at) for name, at in (("line", case.line), ("col", case.column)) if at is not None}
    known["title"] = case.name
    properties = ",".join(f"{name}={_escaped(value, _IN_PROPERTY, _NAME)}" for name, value in known.items())
    text = "\n".join(each for each in (case.message, case.detail) if each)
    return f"::{_LEVELS[case.passed]} {properties}::{_escaped(text, _IN_MESSAGE, LIMITS.junit_text)}"


def _escaped(text: str, table: Mapping[str, str], most: int) -> str:
    shown = cut_text(text, most)
    return "".join(table.get(each, each) for each in plain_lines(shown, len(shown)))
