"""What manifests cost, as the files say it; and splitting, as the library does it when it is told so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_manifest_files import counted, split  # noqa: F401

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import RefbrowserError
from refbrowser.wings.icechunk.manifests import manifest_costs, manifest_findings
from refbrowser.wings.icechunk.manifests.manifest_words import snippet
from refbrowser.wings.icechunk.manifests.manifests import Manifests


def told(path: Path, **said: Any) -> Manifests:
    found = refbrowser.manifests(path, **said)
    assert isinstance(found, Manifests)
    return found


def test_steps_cost_what_their_manifests_have(
    split: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    costs = told(split).costs
    assert [array.path for array in costs.arrays] == ["/a", "/b"]
    array = costs.arrays[0]
    assert (array.manifests, array.references, len(array.steps)) == (10, 40, 2)
    assert costs.opening == sum(
        path.stat().st_size for path in (split / "snapshots").iterdir() if path.name != "1CECHNKREP0F1RSTCMT0"
    )
    assert costs.size == sum(path.stat().st_size for path in (split / "manifests").iterdir())
    read = counted(monkeypatch)
    sizes = []
    for row in range(20):
        with refbrowser.open(split) as dataset:
            read.clear()
            dataset["/a"][row]
            sizes.append(sum((split / "manifests" / name).stat().st_size for name in read))
    step = array.steps[0]
    assert (step.steps, step.manifests, step.most) == (20, 1.0, max(sizes))
    assert step.size == pytest.approx(np.mean(sizes))
    assert array.steps[1].manifests == 10
    assert array.steps[1].size == array.size


@pytest.mark.slow
def test_what_is_advised_is_what_splitting_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    icechunk = pytest.importorskip("icechunk")
    import zarr

    monkeypatch.setattr(manifest_costs, "_MUCH", 8_000)
    monkeypatch.setattr(manifest_costs, "_WANTED", 1_500)
    monkeypatch.setattr(manifest_findings, "_MUCH", 8_000)
    path = tmp_path / "r"
    storage = icechunk.local_filesystem_storage(str(path))
    repo = icechunk.Repository.create(storage)
    session = repo.writable_session("main")
    array = zarr.group(store=session.store).create_array(
        "odd name.v1", shape=(200, 40), chunks=(1, 10), dtype="<f8", compressors=None
    )
    array[:] = np.random.default_rng(0).random((200, 40))
    session.commit("made")
    (before,) = told(path, split_size=["axis 0=100"]).costs.arrays
    assert before.manifests == 1
    assert before.steps[0].size == before.size
    assert before.splits[0].manifests == 2
    advice = before.advice
    assert advice is not None
    assert advice.size * 4 <= before.steps[0].size
    assert any("Axis(0)" in line for line in told(path).lines())
    assert main(["check", str(path)]) == 0
    assert [each.code for each in refbrowser.audit(path, level="set").findings] == ["manifest-large"]
    exec("\n".join(snippet([before])), {"icechunk": icechunk, "repo": repo})
    (after,) = told(path).costs.arrays
    assert after.manifests == advice.manifests
    assert after.steps[0].size == pytest.approx(advice.size, rel=0.5)
    assert after.advice is None
    with refbrowser.open(path) as dataset:
        assert dataset["/odd name.v1"].node.manifest.stored() == 800


def test_what_is_not_there_and_no_splitting_are_told(split: Path) -> None:  # noqa: F811
    with pytest.raises(RefbrowserError, match="no array '/c'"):
        told(split, array=["/c"])
    with pytest.raises(RefbrowserError, match="no array has the dimension 'tme'"):
        told(split, split_size=["tme=3"])
    for wrong in ("time", "time=0", "time=x", "=3"):
        with pytest.raises(RefbrowserError, match="no splitting"):
            told(split, split_size=[wrong])


def test_the_verb_prints_it(split: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    assert main(["manifests", str(split), "--array", "/b", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [each["path"] for each in said["arrays"]] == ["/b"]
    assert said["manifests"] == 20
    assert main(["manifests", str(split)]) == 0
    assert "a step along axis 0: 1 manifest" in capsys.readouterr().out
