"""Taking differences over: after all of them there is none, one alone is one, what cannot be is refused."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import refbrowser
from refbrowser.engine.comparing.apply_differences import (
    WantedDifferences,
    apply_differences,
    obstacle,
    references_obstacle,
)
from refbrowser.engine.comparing.comparison import compare_datasets
from refbrowser.engine.comparing.differences import Comparison, Difference, DifferenceKind
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import RefbrowserError
from refbrowser.references.edits.compare import Side

Refs = dict[str, Any]
ARRAY = {
    "zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i2", "compressor": None,
    "filters": None, "fill_value": -1, "order": "C",
}  # fmt: skip
NAMES = ("a", "b", "c")
BINARY = "base64:AAH/"


@contextmanager
def opened(*documents: Any) -> Iterator[list[Dataset]]:
    """Open documents given as objects, beside each other."""
    with tempfile.TemporaryDirectory() as folder:
        found: list[Dataset] = []
        try:
            for number, document in enumerate(documents):
                path = Path(folder) / f"{number}.json"
                path.write_text(json.dumps(document))
                found.append(refbrowser.open(path))
            yield found
        finally:
            for each in found:
                each.close()


def all_of(comparison: Comparison) -> WantedDifferences:
    return WantedDifferences((*comparison.differences, *comparison.spelled), comparison.arrays)


def taken(here: Dataset, there: Dataset, to: Side, wanted: WantedDifferences) -> tuple[Dataset, Dataset]:
    """Return both sides after something was taken over."""
    source, target = (there, here) if to is Side.HERE else (here, there)
    changed = target.with_document(
        target.document.apply(apply_differences(source, target, to, wanted, "Take over"))
    )
    return (changed, there) if to is Side.HERE else (here, changed)


@st.composite
def documents(draw: DrawFn) -> Any:
    """Return a document with some arrays, rules, templates, members and stray keys, of few choices each."""
    refs: Refs = {".zgroup": '{"zarr_format": 2}'}
    if draw(st.booleans()):
        refs[".zattrs"] = json.dumps({"title": draw(st.sampled_from(["one", "two"]))})
    rules = []
    for name in NAMES:
        if not draw(st.booleans()):
            continue
        said = {
            "shape": draw(st.sampled_from([[4, 6], [6, 6]])),
            "dtype": draw(st.sampled_from(["<i2", ">i2", "<f4"])),
            "fill_value": draw(st.sampled_from([-1, 0])),
            "chunks": draw(st.sampled_from([[2, 3], [2, 6]])),
            "compressor": draw(st.sampled_from([None, {"id": "zlib", "level": 1}])),
        }
        refs[f"{name}/.zarray"] = json.dumps({**ARRAY, **said})
        units = draw(st.sampled_from([{}, {"units": "K"}, {"units": "m", "n": [1, 2]}]))
        dimensions = draw(st.sampled_from([["y", "x"], ["lat", "lon"]]))
        refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dimensions, **units})
        if name == "c" and draw(st.booleans()):
            url = draw(st.sampled_from(["c.bin", "{{u}}c.bin"]))
            offset = f"{{{{ i * {draw(st.sampled_from([12, 24]))} }}}}"
            count = draw(st.sampled_from([1, 2]))
            dimensions_ = {"i": {"stop": count}}
            rules.append(
                {"key": "c/{{i}}.0", "url": url, "offset": offset, "length": "12", "dimensions": dimensions_}
            )
            continue
        for number in range(4):
            value = draw(
                st.sampled_from(
                    [
                        None,
                        [f"{name}.bin", 12 * number, 12],
                        ["{{u}}x.bin", 0, 12],
                        ["w.bin"],
                        "text",
                        "base64:AAE=",
                    ]
                )
            )
            if value is not None:
                refs[f"{name}/{number // 2}.{number % 2}"] = value
    for name in ("stray", "other/key"):
        if draw(st.booleans()):
            refs[name] = draw(st.sampled_from(["one", ["s.bin", 1, 2]]))
    document: Any = {"version": 1, "templates": {"u": draw(st.sampled_from(["s3://one/", "s3://two/"]))}}
    if rules:
        document["gen"] = rules
    if draw(st.booleans()):
        document["by"] = draw(st.sampled_from(["me", "you"]))
    return {**document, "refs": refs}


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(documents(), documents(), st.sampled_from([Side.HERE, Side.THERE]))
def test_after_taking_all_over_nothing_differs(one: Any, other: Any, to: Side) -> None:
    with opened(one, other) as (here, there):
        mine, theirs = taken(here, there, to, all_of(compare_datasets(here, there)))
        after = compare_datasets(mine, theirs)
        if {each.kind for each in after.differences} == {DifferenceKind.KEY}:
            # Of a grid that has other chunks now: the keys of those that it had are no chunks any more.
            mine, theirs = taken(mine, theirs, to, all_of(after))
            after = compare_datasets(mine, theirs)
        assert after.differences == ()
        assert after.chunks_different == 0
        assert after.spelled == ()


def document(**members: Any) -> Any:
    refs: Refs = {".zgroup": '{"zarr_format": 2}', ".zattrs": json.dumps({"title": "made"})}
    for name in ("a", "b"):
        refs[f"{name}/.zarray"] = json.dumps(ARRAY)
        refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K"})
        for number in range(4):
            refs[f"{name}/{number // 2}.{number % 2}"] = ["{{u}}" + f"{name}.bin", 12 * number, 12]
    return {"version": 1, "templates": {"u": "s3://bucket/"}, "refs": refs, **members}


def test_one_difference_alone_is_taken_and_templates_stay() -> None:
    other = document()
    other["refs"]["a/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"})
    other["refs"]["a/1.1"] = ["{{u}}new.bin", 0, 7]
    del other["refs"]["b/0.0"]
    with opened(document(), other) as (here, there):
        found = compare_datasets(here, there)
        (units,) = (each for each in found.differences if each.kind is DifferenceKind.ATTRIBUTE)
        mine, _ = taken(here, there, Side.HERE, WantedDifferences((units,)))
        again = compare_datasets(mine, there)
        assert again.differences == ()
        assert again.chunks_different == 2
        arrays = {each.path: each for each in again.arrays}
        mine, _ = taken(
            mine, there, Side.HERE, WantedDifferences(arrays=(arrays["/a"],), box=(range(1, 2), range(1, 2)))
        )
        # As the other side spells it: by the template that means the same here.
        assert b'["{{u}}new.bin", 0, 7]' in mine.document.to_bytes()
        mine, _ = taken(mine, there, Side.HERE, WantedDifferences(arrays=(arrays["/b"],)))
        assert compare_datasets(mine, there).is_equal
        # The other way, too, and what is not touched keeps its bytes.
        _, theirs = taken(here, there, Side.THERE, all_of(found))
        assert theirs.document.refs.find_slot("b/0.0") is not None
        assert compare_datasets(here, theirs).is_equal


def test_what_rules_make_is_refused_without_the_rules() -> None:
    rule = {
        "key": "a/{{i}}.0",
        "url": "{{u}}r.bin",
        "offset": "0",
        "length": "4",
        "dimensions": {"i": [0, 1]},
    }
    with opened(document(gen=[rule]), document()) as (here, there):
        found = compare_datasets(here, there)
        arrays = tuple(each for each in found.arrays if each.chunks.different)
        with pytest.raises(RefbrowserError, match=r"gen rule 0 gives them"):
            apply_differences(there, here, Side.HERE, WantedDifferences(arrays=arrays), "Take over")
        # With the rule it can be.
        mine, _ = taken(here, there, Side.HERE, all_of(found))
        assert compare_datasets(mine, there).is_equal


def test_attributes_go_between_formats_and_what_has_another_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "inline.json"
    refs = {".zgroup": '{"zarr_format": 2}', "a/0": "ab", "a/1": "cd"}
    refs["a/.zarray"] = json.dumps({**ARRAY, "shape": [2], "chunks": [1]})
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    refbrowser.export(path, tmp_path / "v3.zarr", format="zarr-v3")
    refs["a/.zarray"] = json.dumps({**ARRAY, "shape": [2], "chunks": [2]})
    refs["a/.zattrs"] = json.dumps({"units": "K", "n": [1, 2]})
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    with refbrowser.open(path) as here, refbrowser.open(tmp_path / "v3.zarr") as store:
        found = compare_datasets(here, store)
        of_kind = {each.kind: each for each in found.differences}
        attributes = tuple(each for each in found.differences if each.kind is DifferenceKind.ATTRIBUTE)
        assert len(attributes) == 2
        _, changed = taken(here, store, Side.THERE, WantedDifferences(attributes))
        again = compare_datasets(here, changed)
        assert not any(each.kind is DifferenceKind.ATTRIBUTE for each in again.differences)
        with pytest.raises(RefbrowserError, match="in other forms"):
            apply_differences(
                here, store, Side.THERE, WantedDifferences((of_kind[DifferenceKind.LAYOUT],)), "Take over"
            )
        why = references_obstacle(store, Side.THERE, found.arrays[0])
        assert why == "references of that side are read-only"
        array = Difference(DifferenceKind.ARRAY, "/b", "", Side.HERE)
        assert obstacle(array, here, store).startswith("references of that side are read-only")
        assert obstacle(array, store, here) == ""


def test_rules_come_with_the_templates_that_they_use_and_several_go() -> None:
    def rule(name: str, number: int) -> Any:
        url, length = f"{{{{{name}}}}}{number}.bin", str(number + 1)
        return {"key": f"a/{{{{i}}}}.{number % 2}", "url": url, "offset": "0", "length": length,
                "dimensions": {"i": [0, 1]}}  # fmt: skip

    here_, there_ = document(), document()
    for each in (here_, there_):
        each["refs"] = {key: value for key, value in each["refs"].items() if not key.startswith("a/0")}
    here_["gen"] = [rule("u", number) for number in range(3)]
    there_["gen"] = [rule("v", 7)]
    there_["templates"] = {"u": "s3://bucket/", "v": "{{w}}v/", "w": "s3://other/"}
    with opened(here_, there_) as (here, there):
        found = compare_datasets(here, there)
        rules = tuple(each for each in found.differences if each.kind is DifferenceKind.RULE)
        assert len(rules) == 3
        mine, _ = taken(here, there, Side.HERE, WantedDifferences(rules))
        assert dict(mine.document.templates.templates) == there_["templates"]
        assert [node.to_python() for node in mine.document.rule_nodes] == there_["gen"]
        assert compare_datasets(mine, there).differences == ()
