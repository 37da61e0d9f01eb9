"""Files that awkward0 wrote are read as awkward0 reads them: every class, compressed in each way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from awkward0_corpus import CASES, CYCLIC
from awkward0_environment import Awkward0Process
from awkward0_values import read_values, same

import refbrowser
from refbrowser.engine.nested.python_values import python_values
from refbrowser.errors import RefbrowserError

#: Names that do not begin with one another: awkward0 refuses those.
NAMES = {f"n{number:02}": name for number, name in enumerate(CASES)}
#: How the corpus is written: suffix of the file, and options.
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "by default": (".awkd", {}),
    "not compressed": (".awkd", {"compression": []}),
    "zlib": (".awkd", {"compression": ["zlib"]}),
    "lzma": (".awkd", {"compression": ["lzma"]}),
    "lz4": (".awkd", {"compression": ["lz4"]}),
    "other names": (".awkd", {"options": {"delimiter": "/", "suffix": "", "schemasuffix": ".txt"}}),
    "hdf5": (".h5", {}),
}


@pytest.fixture(scope="module")
def written(
    awkward0: Awkward0Process, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Paths and values of the corpus, by the way in which it was written."""
    folder = tmp_path_factory.mktemp("corpus")
    made = {}
    for way, (suffix, options) in WAYS.items():
        path = folder / (way.replace(" ", "_") + suffix)
        made[way] = (path, awkward0.write(path, NAMES, **options))
    return made


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_all_classes(written: dict[str, tuple[Path, dict[str, Any]]], way: str) -> None:
    if way == "hdf5":
        pytest.importorskip("h5py")
    path, values = written[way]
    wrong = {}
    with refbrowser.open(path) as dataset:
        for name, case in NAMES.items():
            found = read_values(dataset[f"/{name}"])
            if not same(found, values[name]):
                wrong[case] = (str(found)[:200], str(values[name])[:200])
    assert not wrong


def shown(value: Any, depth: int) -> Any:
    """Return a value down to some depth."""
    if depth == 0:
        return None
    if isinstance(value, list):
        return [shown(each, depth - 1) for each in value]
    return (
        {name: shown(each, depth - 1) for name, each in value.items()} if isinstance(value, dict) else value
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", CYCLIC)
def test_arrays_that_contain_themselves(case: str, awkward0: Awkward0Process, tmp_path: Path) -> None:
    path = tmp_path / "cyclic.awkd"
    values = awkward0.write(path, {"": case})[""]
    with refbrowser.open(path) as dataset:
        # Values without an end are an error; as far as they are read, they are right.
        array = dataset["/array"]
        if case == "lists_of_themselves":
            with pytest.raises(RefbrowserError, match="contain themselves"):
                array.to_awkward()
        found = python_values(array.nested_rows(0, 3).content)
    assert same(shown(found, 5), shown(values, 5))


@pytest.mark.slow
def test_several_arrays_are_appended(awkward0: Awkward0Process, tmp_path: Path) -> None:
    path = tmp_path / "several.awkd"
    values = awkward0.write(path, {"one": "lists"})
    values |= awkward0.write(path, {"two": "table"})
    with refbrowser.open(path) as dataset:
        assert {name: read_values(dataset[f"/{name}"]) for name in ("one", "two")} == values
