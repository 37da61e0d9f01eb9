"""Installed readers beside the rules: agreement, what no rule tells of, and a difference that is told."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import zarr

from refbrowser.cli import main
from refbrowser.engine.readers.outcome import ReaderVerdict, Trial
from refbrowser.tools.readers import tried


@pytest.fixture
def store(tmp_path: Path) -> str:
    group = zarr.create_group(tmp_path / "s.zarr", zarr_format=3)
    group.create_array("a", shape=(4,), dtype="f4", dimension_names=["x"])[:] = np.arange(4)
    group.create_array("b", shape=(4,), dtype="f4", dimension_names=["x"])[:] = np.arange(4)
    return str(tmp_path / "s.zarr")


def install(monkeypatch: pytest.MonkeyPatch, **verdicts: ReaderVerdict) -> list[Any]:
    """Let readers be installed that make something of every array; returns what is asked of them."""
    asked: list[Any] = []
    names = {name.replace("_", "-"): verdict for name, verdict in verdicts.items()}
    monkeypatch.setattr(tried, "available", lambda: tuple(SimpleNamespace(name=each) for each in names))

    def fake(reader: Any, _dataset: Any, arrays: Any, _control: Any) -> list[Trial]:
        asked.append((reader.name, tuple(arrays)))
        verdict = names[reader.name]
        reason = "" if verdict is ReaderVerdict.DECODES else "it says no"
        return [Trial(reader.name, "3.1.6", each, verdict, reason) for each in arrays]

    monkeypatch.setattr(tried, "try_reader", fake)
    return asked


def test_one_array_of_each_row_is_tried_by_the_readers_that_are_asked_for(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = install(monkeypatch, zarr_python=ReaderVerdict.DECODES, gdal=ReaderVerdict.DECODES)
    assert main(["readers", store, "--for", "zarr-python", "--try"]) == 0
    assert asked == [("zarr-python", ("/a",))]
    assert "  zarr-python 3.1.6, /a: ✓ reads" in capsys.readouterr().out


def test_a_difference_from_the_rules_is_told_and_fails(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, zarr_python=ReaderVerdict.WRONG)
    assert main(["readers", store, "--for", "zarr-python", "--try"]) == 2
    told = capsys.readouterr()
    assert "! reads wrongly: it says no — DIFFERS from the rules, which say: reads" in told.out
    assert "tried here, reads wrongly /a: it says no" in told.err
    assert main(["readers", store, "--for", "zarr-python", "--try", "--json"]) == 2
    (trial,) = json.loads(capsys.readouterr().out)["tried"]
    assert (trial["verdict"], trial["expected"], trial["agrees"]) == ("wrong", "decodes", False)


def test_where_no_rule_tells_there_is_no_difference(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, netcdf_c=ReaderVerdict.REFUSES)
    assert main(["readers", store, "--try", "--json"]) == 0
    (trial,) = json.loads(capsys.readouterr().out)["tried"]
    assert trial["agrees"] is True
    monkeypatch.setattr(
        "refbrowser.tools.readers.report.trial_words.judge",
        lambda *_: SimpleNamespace(verdict=ReaderVerdict.UNKNOWN),
    )
    assert main(["readers", store, "--try"]) == 0
    assert "(no rule tells of it)" in capsys.readouterr().out
