"""What is told of a store of many arrays is told without parsing the rule of each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.cli.program import main
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.sources import sources_of
from refbrowser.engine.store_listing import list_store
from refbrowser.findings.finding import Finding
from refbrowser.io.access.access import Access
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import SetMetadata
from refbrowser.references.edits.outer_edits import RemoveRule
from refbrowser.references.findings.rule_findings import all_findings
from refbrowser.references.templates import syntax
from refbrowser.references.text import json_text

ARRAY = {
    "zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i2", "compressor": None,
    "filters": None, "fill_value": -1, "order": "C",
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Callable[[int], Path]:
    """A store of so many arrays of four chunks, of which three are stored."""

    def make(arrays: int) -> Path:
        root = tmp_path / f"{arrays}.zarr"
        root.mkdir()
        (root / ".zgroup").write_text('{"zarr_format": 2}')
        for number in range(arrays):
            folder = root / f"a{number}"
            folder.mkdir()
            (folder / ".zarray").write_text(json.dumps(ARRAY))
            for name in ("0.0", "0.1", "1.0"):
                (folder / name).write_bytes(np.full(6, number, "<i2").tobytes())
        return root

    return make


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many templates and how many values of JSON are read one by one."""
    counts: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def counting(*arguments: Any, **options: Any) -> Any:
            counts[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, counting)

    # Templates that other tests parsed are known.
    syntax._parse_short.cache_clear()
    count(syntax, "parse")
    count(json_text.JsonReader, "value")
    return counts


def told(dataset: Dataset) -> None:
    list_store(dataset)
    assert all(array.node.manifest.stored() == 3 for array in dataset.arrays.values())
    assert not all_findings(dataset.document)
    assert sources_of(dataset.document)


def test_nothing_is_parsed_for_each_array(store: Callable[[int], Path], counted: Counter[str]) -> None:
    found: list[Counter[str]] = []
    for arrays in (10, 100):
        counted.clear()
        with refbrowser.open(store(arrays)) as dataset:
            assert len(dataset.arrays) == arrays
            told(dataset)
        found.append(counted.copy())
    assert found[1] <= found[0]


def test_reading_parses_one_rule(store: Callable[[int], Path], counted: Counter[str]) -> None:
    with refbrowser.open(store(100)) as dataset:
        counted.clear()
        assert dataset["/a42"][0, 0] == 42
    assert counted["parse"] <= 4
    assert not counted["value"]


@pytest.mark.parametrize("verb", [["info"], ["info", "--json"], ["check"], ["cdl"], ["plan", "a7"]])
def test_verbs_parse_no_more_of_larger_stores(
    verb: list[str], store: Callable[[int], Path], counted: Counter[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[Counter[str]] = []
    for arrays in (10, 100):
        counted.clear()
        assert main([verb[0], str(store(arrays)), *verb[1:]]) == 0
        found.append(counted.copy())
    assert found[1] <= found[0]
    assert capsys.readouterr().out


def test_counts_after_edits(store: Callable[[int], Path]) -> None:
    with refbrowser.open(store(3)) as dataset:
        list_store(dataset)
        changed = dataset.with_document(dataset.document.written().apply(RemoveRule(1)))
        stored = [array.node.manifest.stored() for array in changed.arrays.values()]
    assert stored == [3, 0, 3]


def test_findings_are_those_of_the_text(store: Callable[[int], Path]) -> None:
    root = store(3)
    (root / "a0" / ".zattrs").write_text('{"low": NaN}')
    (root / "a1" / ".zattrs").write_text('{"low": 1,}')
    (root / "a2" / ".zattrs").write_text('{"low": 1}')
    same = {"a2/.zattrs": {"low": 2}, "a0/.zarray": ARRAY, "a1/.zarray": ARRAY, "a2/.zarray": ARRAY}
    with refbrowser.open(root) as dataset:
        document = dataset.document.apply(SetMetadata(".zmetadata", {"metadata": same}))
        known = replace(document.known or dataset.document.known, values={  # type: ignore[type-var]
            key: document.expansion.value(key) for key in document.expansion.metadata_keys()
        })  # fmt: skip
        made = replace(document, known=known, notes=())
        read = ReferenceDocument.of(made.to_bytes(), name=made.name)
    assert [*map(_told, all_findings(made))] == [*map(_told, all_findings(read))]
    assert all(finding.place.line for finding in all_findings(read))
    messages = [finding.message for finding in made.findings]
    assert len(messages) == 4, messages


def _told(finding: Finding) -> tuple[Any, ...]:
    return finding.message, finding.severity, finding.place.key


def test_wants_are_those_of_the_rules(store: Callable[[int], Path], tmp_path: Path) -> None:
    elsewhere = Access.for_document(str(tmp_path / "other" / "x.json"))
    with refbrowser.open(store(5)) as dataset:
        slowly = sources_of(dataset.document.written())
        wants = [(want.origin, want.count) for want in elsewhere.wanted(sources_of(dataset.document))]
    assert sum(count for _, count in wants) == 20
    assert {origin for origin, _ in wants}
    assert sum(want.count for want in elsewhere.wanted(slowly)) == 20
