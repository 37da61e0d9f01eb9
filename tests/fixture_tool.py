"""A tool of another package, all of it: how far the values of arrays reach.

Tests find it by an entry point.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import foreign_packages
import numpy as np
import pytest

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.formats.option_fields import Kind, option
from refbrowser.markup import element
from refbrowser.tools.registry import GROUP, foreign
from refbrowser.tools.tool import Dock, Heading, Tool
from refbrowser.views.reports.html_page import ReportPage
from refbrowser.views.reports.junit import Case, Passed, Suite

SPAN = Tool(
    name="span",
    heading=Heading.READ,
    words="show the lowest and the highest value of arrays",
    examples=("refbrowser span sea_surface.json --array /ocean/lat",),
    request="fixture_tool:SpanRequest",
    run="fixture_tool:span",
    page="fixture_tool:span_page",
    cases="fixture_tool:span_cases",
    synonyms=("extent",),
    docks=(
        Dock(
            title="S&pan",
            hint="The lowest and the highest value of arrays appear here.",
            shortcut="Ctrl+Alt+P",
        ),
    ),
)
#: One whose pane cannot be made.
BROKEN = Tool(
    name="broken",
    heading=Heading.READ,
    words="fail",
    docks=(Dock(title="Broken", hint="Nothing.", made="fixture_tool:fails"),),
)
#: One with commands of its own.
COMMANDED = Tool(
    name="commanded",
    heading=Heading.READ,
    words="count how often it is asked",
    commands="foreign_commands:CountCommands",
)
#: One that is none, and one whose name is taken.
NO_TOOL, TAKEN = object(), Tool(name="audit", heading=Heading.CHECK, words="audit in another way")


@dataclass(frozen=True, slots=True)
class SpanRequest:
    """Whose values are looked at, and how they are told."""

    array: tuple[str, ...] = field(
        default=(),
        metadata=option("--array PATH", "of this array only (repeatable)", kind=Kind.TEXTS, title="Arrays"),
    )
    decimals: int = field(
        default=2,
        metadata=option(
            "--decimals NUMBER", "of the values", kind=Kind.NUMBER, limits=(0, 15), title="Decimals"
        ),
    )
    is_wide: bool = field(
        default=False,
        metadata=option(
            "--wide", "show their difference too", kind=Kind.TICK, means=True, title="Difference"
        ),
    )


@dataclass(frozen=True, slots=True)
class Spans:
    """The lowest and the highest value by the path of the array."""

    request: SpanRequest
    values: dict[str, tuple[float, float]]

    def lines(self) -> Iterator[str]:
        for path, (low, high) in self.values.items():
            wide = f", {high - low:.{self.request.decimals}f} in all" if self.request.is_wide else ""
            yield f"{path}: {low:.{self.request.decimals}f} to {high:.{self.request.decimals}f}{wide}"

    def as_json(self) -> dict[str, Any]:
        return {"spans": {path: list(both) for path, both in self.values.items()}}

    def exit_code(self) -> int:
        return 0 if self.values else 2


def span(request: SpanRequest, dataset: Dataset, control: JobControl) -> Spans:
    """Read each array and return its lowest and highest value."""
    found = {}
    for done, path in enumerate(request.array):
        control.progress(done=done, total=len(request.array))
        values = np.asarray(dataset.array(path)[...])
        found[path] = (float(values.min()), float(values.max()))
    return Spans(request, found)


def span_page(spans: Spans) -> ReportPage:
    """Return them as a page."""
    return ReportPage(title="Spans", sections=[element("p", line) for line in spans.lines()])


def span_cases(spans: Spans) -> list[Suite]:
    """Return them as test cases: one that has no number fails."""
    cases = [
        Case(name=path, passed=Passed.YES if low <= high else Passed.NO)
        for path, (low, high) in spans.values.items()
    ]
    return [Suite(name="spans", cases=cases)]


def fails(workspace: Any) -> Any:
    """Make nothing of what is wanted."""
    raise RuntimeError("nothing is made here")


def found(monkeypatch: pytest.MonkeyPatch, *values: str) -> AbstractContextManager[None]:
    """Let these be what entry points of the group lead to."""
    return foreign_packages.found(monkeypatch, GROUP, foreign, *(values or ("fixture_tool:SPAN",)))
