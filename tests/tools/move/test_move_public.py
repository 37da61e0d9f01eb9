"""``refbrowser.places`` and ``refbrowser.move``: what programs are told, and tested before it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

import refbrowser


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return refbrowser.sample()


def test_places_are_a_tree(sample: str) -> None:
    (root,) = refbrowser.places(sample)
    assert (root.prefix, root.files) == ("", 17)
    with refbrowser.open(sample) as dataset:
        assert refbrowser.places(dataset) == (root,)


def test_nothing_is_written_where_files_are_not_there(sample: str) -> None:
    found = refbrowser.move(sample, "data/", "other/", "moved.json", test=True)
    assert (found.is_good, found.target) == (False, None)
    assert {str(each.verdict) for each in found.tested} == {"not there"}
    assert not Path("moved.json").exists()
    Path("data").rename("other")
    found = refbrowser.move(sample, "data/", "other/", "moved.json", test=True)
    assert (found.is_good, found.target) == (True, "moved.json")
    assert repr(found).splitlines()[-1] == "written: moved.json"
    assert not refbrowser.move("moved.json", "other/", "more/").tested
    with refbrowser.open("moved.json") as dataset:
        assert dataset["/ocean/sst"][0, 90, 180] == 6329
