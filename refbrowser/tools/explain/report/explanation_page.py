"""An explanation as one page of HTML."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.markup import Content, Markup, element
from refbrowser.tools.explain.report.explanation import Explanation, HexBlock, Step, StepState
from refbrowser.views.reports.html_page import ReportPage, definitions, long_text, soft, verdict
from refbrowser.views.reports.window_link import window_link

#: How the steps are marked: a class of the page, a sign, and the words for those who do not see it.
_MARKS = {
    StepState.OK: ("good", "\N{HEAVY CHECK MARK}", "in order"),
    StepState.WARNING: ("warning", "!", "a warning"),
    StepState.FAULT: ("fault", "\N{MULTIPLICATION SIGN}", "a fault"),
}
_STYLE = """
main { --names: 9rem; }
.step dl { margin: .35rem 0 0; }
.step pre { overflow-x: auto; white-space: pre; overflow-wrap: normal; }
.step .sign { display: inline-block; width: 1.3em; font-weight: 700; }
"""
#: Characters of the rows of bytes that a block is shown with.
_BYTES = 20_000


def page_of(explanation: Explanation) -> ReportPage:
    """Return an explanation as a page."""
    document: list[tuple[str, Content]] = []
    if explanation.document:
        shown = window_link(explanation.document, explanation.array, ",".join(map(str, explanation.index)))
        document = [("Document", explanation.document), *shown]
    return ReportPage(
        title=explanation.verdict,
        about=(*document, ("About", explanation.subject)),
        sections=_sections(explanation),
        style=_STYLE,
    )


def _sections(explanation: Explanation) -> Iterator[Markup]:
    yield verdict(explanation.kind.word, _MARKS[explanation.state][0])
    for step in explanation.steps:
        yield element("section", _step(step), class_=f"card step is-{_MARKS[step.state][0]}")


def _step(step: Step) -> Iterator[Markup]:
    state, sign, words = _MARKS[step.state]
    mark = element("span", sign, class_=f"sign {state}", role="img", aria_label=words)
    yield element("h3", mark, step.title)
    yield from (element("p", line.text) for line in step.lines if not line.name)
    yield definitions((line.name, line.text) for line in step.lines if line.name)
    for block in step.hexes:
        yield from _bytes(block)


def _bytes(block: HexBlock) -> Iterator[Markup]:
    yield soft(block.title)
    yield element("pre", long_text("\n".join(block.rows()), _BYTES))
