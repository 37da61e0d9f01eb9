"""Documents for the tests of explanations, and a check that each explanation passes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import refbrowser
from refbrowser.tools.explain.report.explain import Question, explain
from refbrowser.tools.explain.report.explanation import Explanation, Step, StepState

ZARRAY = {
    "zarr_format": 2,
    "shape": [4, 6],
    "chunks": [2, 3],
    "dtype": "<i2",
    "compressor": None,
    "filters": None,
    "fill_value": None,
    "order": "C",
}


def document(
    folder: Path,
    refs: Mapping[str, Any],
    *,
    array: Mapping[str, Any] | None = None,
    attributes: Mapping[str, Any] | None = None,
    **more: Any,
) -> Path:
    """Write a Version 1 document with the array /a; `more` are other members (gen, templates)."""
    metadata = {
        ".zgroup": '{"zarr_format": 2}',
        "a/.zarray": json.dumps({**ZARRAY, **(array or {})}),
        "a/.zattrs": json.dumps(attributes or {}),
    }
    path = folder / "d.json"
    path.write_text(json.dumps({"version": 1, "refs": {**metadata, **refs}, **more}))
    return path


@contextmanager
def dataset(path: Path, *allow: str):
    """Open a document for the time of a test."""
    with refbrowser.open(path, allow=allow) as opened:
        yield opened


def of_key(opened: refbrowser.Dataset, key: str, **more: Any) -> Explanation:
    """Explain a key."""
    return checked(explain(opened, Question(key=key, **more)))


def of_element(opened: refbrowser.Dataset, *index: int, array: str = "/a", **more: Any) -> Explanation:
    """Explain an element."""
    return checked(explain(opened, Question(array=array, index=index, **more)))


def checked(explanation: Explanation) -> Explanation:
    """Return an explanation after a look at what every one must keep to."""
    assert explanation.verdict
    assert not explanation.verdict.endswith(".")
    text = explanation.text()
    assert text.startswith(explanation.verdict)
    assert all(character.isprintable() or character == "\n" for character in text)
    json.dumps(explanation.to_json(), allow_nan=False)
    for step in explanation.steps:
        assert step.title
        assert all("\n" not in line.text for line in step.lines)
    return explanation


def line(step: Step | None, name: str) -> str:
    """Return the text of the first line with a name."""
    assert step is not None
    return next(line.text for line in step.lines if line.name == name)


def faults(explanation: Explanation) -> list[str]:
    """Return the names of the steps that failed."""
    return [step.name for step in explanation.steps if step.state is StepState.FAULT]
