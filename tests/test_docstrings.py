"""Examples in docstrings run as they are written, in a folder with the bundled sample."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import refbrowser
from refbrowser.tools.registry import BUILT_IN

#: Those with functions for programs.
MODULES = sorted(
    {
        "refbrowser.api",
        "refbrowser.parsers",
        "refbrowser.tools.audit.audit_step",
        *(tool.public.partition(":")[0] for tool in BUILT_IN if tool.public),
    }
)


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refbrowser.sample(tmp_path)
    found = importlib.import_module(module)
    result = doctest.testmod(found)
    assert result.failed == 0


def test_the_views_of_one_element(tmp_path: Path) -> None:
    path = refbrowser.sample(tmp_path)
    with refbrowser.open(path) as dataset:
        plan = refbrowser.plan(dataset, "/ocean/sst", "0:2")
        assert (plan.chunks, "requests" in str(plan), "ReadPlan" in repr(plan)) == (4, True, True)
        answer = refbrowser.explain(dataset, "/ocean/sst", [-1, 0, 0])
        assert answer.verdict in str(answer)
        assert refbrowser.explain(dataset, key=".zgroup").subject
        with pytest.raises(IndexError):
            refbrowser.explain(dataset, "/ocean/sst", 0)
        with pytest.raises(refbrowser.RefbrowserError):
            refbrowser.explain(dataset)
    (tmp_path / "bad.json").write_text('{"version": 1, "refs": {"a/.zarray": "{"}}')
    assert refbrowser.check(tmp_path / "bad.json")[0].message


def test_opening_tells_how_far_it_is(tmp_path: Path) -> None:
    from refbrowser.engine.jobs import JobControl
    from refbrowser.io.cancel import Cancelled

    path, told = refbrowser.sample(tmp_path), list[tuple[int, ...]]()
    refbrowser.open(path, progress=lambda *said, **_: told.append(said)).close()
    assert told
    control = JobControl()
    control.token.cancel()
    with pytest.raises(Cancelled):
        refbrowser.open(path, progress=control)
