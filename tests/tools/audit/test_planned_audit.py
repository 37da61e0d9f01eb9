"""``refbrowser.plan_audit``: an audit tells what it costs, and gives what it finds as it comes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from damaged_sets import sound

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import RefbrowserError


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[Dataset]:
    """A set of which a key is no chunk, and a file is gone."""
    made = sound(tmp_path)
    made.refs["raw/99.0"] = ["f0.bin", 0, 1]
    (tmp_path / "f3.bin").unlink()
    with refbrowser.open(made.write()) as dataset:
        yield dataset


def test_the_cost_is_told_and_findings_come_one_by_one(damaged: Dataset) -> None:
    whole = refbrowser.audit(damaged, level="stat")
    planned = refbrowser.plan_audit(damaged, level="stat")
    assert planned.cost.urls == whole.urls > 1
    assert planned.answers_kept() == 0
    found = planned.findings()
    first = next(found)
    assert first.code == "chunk-outside-grid"
    assert planned.result().counts() == {first.code: 1}
    assert not planned.result().is_complete
    assert {each.code for each in found} == {"url-dead"}
    assert planned.result().counts() == whole.counts()
    assert planned.result().is_complete


def test_one_that_is_closed_goes_on_later(damaged: Dataset) -> None:
    asked = {"level": "full", "arrays": ["/raw"]}
    first = refbrowser.plan_audit(damaged, **asked)
    found = first.findings()
    while next(found).code != "url-dead":
        pass
    found.close()
    assert not first.result().is_complete
    again = refbrowser.plan_audit(damaged, **asked, resume=True)
    assert again.answers_kept() > 0
    # What reads nothing keeps nothing.
    assert refbrowser.plan_audit(damaged, arrays=["/raw"]).answers_kept() == 0
    assert {each.code for each in again.findings()} == {"chunk-outside-grid", "url-dead"}
    assert again.answers_kept() == 0


def test_what_is_asked_is_checked_when_it_is_planned(damaged: Dataset) -> None:
    for wrong in ({"level": "deep"}, {"arrays": ["/none"]}):
        with pytest.raises(RefbrowserError):
            refbrowser.plan_audit(damaged, **wrong)
