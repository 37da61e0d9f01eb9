"""Explaining a problem of the list: what is wrong, where, and the key in which it can be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refbrowser.engine.problems.problem import Origin, Problem
from refbrowser.errors import RefbrowserError
from refbrowser.views.explain.explanation import (
    Explanation,
    Line,
    Link,
    LinkKind,
    Step,
    StepState,
    VerdictKind,
)
from refbrowser.views.explain.place import PERMISSIONS
from refbrowser.views.explain.texts import counted, plain
from refbrowser.views.explain.verdicts import Verdict

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Names of metadata documents, in the order in which they are looked for below a node.
_METADATA = ("zarr.json", ".zarray", ".zgroup", ".zattrs")
_ORIGINS = {
    Origin.DOCUMENT: "the document itself",
    Origin.STRUCTURE: "groups and arrays, as their metadata give them",
    Origin.READING: "a chunk that was read",
    Origin.PERMISSION: "what the document wants to read",
}


def explain_problem(problem: Problem) -> Explanation:
    """Return what a problem of a document says that could not be opened."""
    verdict = of_problem(problem)
    return Explanation(
        subject=plain(problem.where),
        verdict=verdict.text,
        kind=verdict.kind,
        state=verdict.state,
        steps=(problem_step(problem),),
        links=verdict.links,
    )


def problem_step(problem: Problem) -> Step:
    """Return the step that tells what is wrong, and where."""
    place = problem.place
    lines = [Line(plain(problem.message), "Problem"), Line(plain(problem.where), "Where")]
    if problem.line is not None:
        column = f", column {place.column}" if place.column is not None else ""
        lines.append(Line(f"line {problem.line}{column} of the document", "Line"))
    if place.pointer:
        lines.append(Line(plain(place.pointer), "JSON pointer"))
    if place.url and place.url != problem.where:
        lines.append(Line(plain(place.url), "URL"))
    if problem.count > 1:
        lines.append(Line(f"{counted(problem.count, 'place')} share it; this is the first", "Count"))
    lines.append(Line(_ORIGINS[problem.origin], "Found in"))
    lines += [Line(plain(problem.advice), "What to do")] if problem.advice else []
    return Step(
        name="problem",
        title="The problem",
        state=_state(problem),
        lines=lines,
        facts={"kind": str(problem.kind), "message": problem.message, "where": problem.where},
        links=_links(problem),
    )


def problem_key(dataset: Dataset, problem: Problem) -> str | None:
    """Return the key in which a problem shows; None where it shows in none."""
    place, (kind, name) = problem.place, problem.spot
    if place.rule is not None and place.row is not None and place.rule < len(dataset.document.rules):
        rule = dataset.document.rules[place.rule]
        if 0 <= place.row < rule.count:
            key = rule.row(place.row).key
            return key if isinstance(key, str) else place.key
    if place.key is not None:
        return place.key
    if kind in ("array", "group"):
        return _metadata_key(dataset, str(name))
    return None


def of_problem(problem: Problem) -> Verdict:
    """Return the verdict where no key tells more."""
    kind = VerdictKind.BLOCKED if problem.origin is Origin.PERMISSION else VerdictKind.PROBLEM
    text = plain(problem.message)
    return Verdict(kind, text[:1].upper() + text[1:], _state(problem), tuple(_links(problem)))


def _metadata_key(dataset: Dataset, path: str) -> str | None:
    prefix = f"{path.strip('/')}/" if path.strip("/") else ""
    for name in _METADATA:
        try:
            found: Any = dataset.document.expansion.reference(prefix + name)
        except RefbrowserError:
            return prefix + name
        if found is not None:
            return prefix + name
    return None


def _state(problem: Problem) -> StepState:
    return StepState.FAULT if problem.is_fault else StepState.WARNING


def _links(problem: Problem) -> list[Link]:
    kind, name = problem.spot
    if problem.origin is Origin.PERMISSION:
        return [PERMISSIONS]
    if kind == "rule":
        return [Link(LinkKind.RULE, f"Edit gen rule {name}", name)]
    if kind == "template":
        return [Link(LinkKind.TEMPLATE, f"Edit template {plain(name, 40)}", name)]
    if kind == "array":
        return [Link(LinkKind.ATTRIBUTES, "Show the metadata", name)]
    return []
