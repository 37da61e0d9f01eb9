"""Datasets, groups and arrays in notebooks and at prompts: bounded, harmless, without reading."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from html_read import HARMLESS, Read, read_harmless
from notebook_sets import HOSTILE, Counted, Touched, array_keys, small_set, wide_set, without_session

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.findings.kinds import MISSING_CHUNKS
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.values import Chunks
from refbrowser.views.notebook.tree import counts_below


def said(html: str) -> str:
    return Read(html).said.replace("\N{NARROW NO-BREAK SPACE}", " ")


def test_a_dataset_is_shown_as_its_tree() -> None:
    text = said(small_set()._repr_html_())
    assert text.startswith("Dataset references · refs-v1 (Zarr v2) · 2 groups, 3 arrays")
    for words in (
        "1 attribute",
        "A small set",
        "g/",
        "2 arrays",
        "field",
        "12×180×360",
        "zlib(level=1)",
        "h/",
    ):
        assert words in text
    assert "36 of 1×90×120" not in text
    assert "72 of 1×90×120" in text


def test_an_array_is_shown_with_its_grid() -> None:
    html = small_set()["g/field"]._repr_html_()
    read = read_harmless(html)
    assert read.elements.count("svg") == 1
    text = said(html)
    assert text.startswith("Array /g/field · time 12, lat 180, lon 360 · i4")
    for words in ("Chunk size43.2 kB", "lat 1802 chunks of 90", "zlib(level=1)", '["time", "lat", "lon"]'):
        assert words in text


def test_a_group_is_shown_as_its_part_of_the_tree() -> None:
    text = said(small_set()["g"]._repr_html_())
    assert text.startswith("Group /g · 1 group, 2 arrays")
    assert "field" in text
    assert "A small set" not in text


def test_nothing_is_read_and_no_reference_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = small_set()
    for name in ("columns", "kinds", "stored"):
        monkeypatch.setattr(ExpansionManifest, name, Touched().__getattr__)
    for each in (dataset, dataset["g"], dataset["g/field"], dataset["x"]):
        assert each._repr_html_()
        assert repr(each)
        assert str(each)


def test_names_and_attributes_are_text() -> None:
    refs = {".zgroup": '{"zarr_format": 2}', ".zattrs": json.dumps({each: each for each in HOSTILE})}
    for number, each in enumerate(HOSTILE):
        name = each.replace("/", "|").replace("\n", " ")
        attributes = {each: [each], "nested": {each: {each: [each]}}, "_ARRAY_DIMENSIONS": [each]}
        refs |= array_keys(f"{name}{number}", (4,), (2,), **attributes)
        refs |= {f"g{name}/.zgroup": '{"zarr_format": 2}', f"g{name}/.zattrs": json.dumps({each: each})}
    dataset = without_session(refbrowser.open({"version": 1, "refs": refs}))
    assert len(dataset.arrays) == len(HOSTILE)
    for shown in (dataset, *dataset.groups.values(), *dataset.arrays.values()):
        read_harmless(shown._repr_html_())
        for text in (repr(shown), str(shown)):
            assert all(each.isprintable() or each == "\n" for each in text)
            text.encode()


def test_lone_surrogates_and_deep_values_are_text() -> None:
    dataset = small_set()
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    attributes = {"\ud800": "\udfff", "deep": deep, "long": "x" * 10**6, "many": list(range(10**5))}
    node = dataset.array("g/field").node
    array = replace(node, attributes=attributes, dimensions=("\ud800", "b", "c"), path="/\udc00")
    root = GroupNode(arrays={"\udc00": array}, attributes=attributes)
    dataset = without_session(dataset, Hierarchy(root=root, format="refs-v1"))
    for shown in (dataset, dataset["\udc00"]):
        html = shown._repr_html_()
        read_harmless(html)
        assert len(html) < 20_000
        assert "… 100,000 in all" in html
        (repr(shown) + str(shown)).encode()


def test_what_is_shown_is_bounded() -> None:
    sizes = []
    for count in (10**3, 10**5):
        dataset, many, children = wide_set(count, count)
        html, text = dataset._repr_html_(), repr(dataset)
        read_harmless(html)
        assert f"and {count - 50:,} more".replace(",", "\N{NARROW NO-BREAK SPACE}") in html
        assert text.count("\n") < 50
        assert html.count('class="rb-cells"') < 200
        assert many.seen < 500
        assert children.seen < 10_000
        sizes.append((len(html), len(text)))
    for one, other in zip(*sizes, strict=True):
        assert abs(one - other) < 0.01 * one + 60
    assert sizes[0][0] < 300_000


def test_groups_are_counted_as_far_as_that_is_quick() -> None:
    leaves = Counted(GroupNode(path="/g/h"), 1_500)
    root = GroupNode(groups=Counted(GroupNode(path="/g", groups=leaves, arrays=Counted(None, 2)), 1_500))
    counts = counts_below(root)
    assert counts.words.startswith("more than ")
    assert leaves.seen < 3_000
    few = GroupNode(groups={"a": GroupNode(groups={"b": GroupNode()}, arrays=Counted(None, 2))})
    assert counts_below(few).words == "2 groups, 2 arrays"
    assert counts_below(GroupNode()).words == "0 arrays"


def test_deep_groups_are_shown_to_a_depth() -> None:
    group = GroupNode(path="/" + "/".join("g" * 3000))
    for depth in range(2_999, -1, -1):
        group = GroupNode(path="/" + "/".join("g" * depth), groups={"g": group})
    dataset = without_session(small_set(), Hierarchy(root=group, format="refs-v1"))
    html = dataset._repr_html_()
    read_harmless(html)
    assert html.count("<details") == 7
    assert len(repr(dataset).splitlines()) < 40
    assert len(repr(dataset)) < 6_000


def test_what_cannot_be_read_says_why() -> None:
    dataset = small_set()
    node = dataset.array("g/field").node
    broken = ArrayNode(path="/bad", error=RefbrowserError(ErrorKind.META, "its shape is a text"))
    other = replace(node, path="/odd", unreadable=RefbrowserError(ErrorKind.META, "codec 'x' is not known"))
    root = GroupNode(arrays={"bad": broken, "odd": other})
    dataset = without_session(dataset, Hierarchy(root=root, format="refs-v1"))
    assert "Fault its shape is a text" in said(dataset._repr_html_())
    assert "Fault codec 'x' is not known" in said(dataset["odd"]._repr_html_())
    lines = repr(dataset).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["bad", "odd"]
    assert all("cannot be read" in line for line in lines[2:])
    assert "fault: its shape is a text" in str(dataset["bad"])


def test_what_a_damaged_file_claims_is_shown() -> None:
    dataset = small_set()
    shape = (2**62,) * 32
    values = Chunks(grid=RegularChunkGrid(shape, shape))
    node = replace(dataset.array("g/field").node, shape=shape, values=values)
    dataset = without_session(dataset, Hierarchy(root=GroupNode(arrays={"a": node}), format="refs-v1"))
    assert len(repr(dataset)) < 300
    assert "more than 10^18 TB" in dataset._repr_html_()
    assert len(read_harmless(dataset["a"]._repr_html_()).said) < 6_000


def test_problems_are_shown_where_they_are() -> None:
    dataset = small_set()
    told = tuple(
        MISSING_CHUNKS.finding(f"problem {number} of {path}", Place(path=path))
        for path in ("/g/field", "/x")
        for number in range(12)
    )
    dataset = without_session(dataset, replace(dataset.hierarchy, findings=told))
    whole, group, array = dataset._repr_html_(), dataset["g"]._repr_html_(), dataset["x"]._repr_html_()
    assert "Warning problem 0 of /g/field" in said(whole)
    assert "and 14 more" in said(whole)
    assert ("of /x" in said(group), "of /g/field" in said(group)) == (False, True)
    assert ("of /x" in said(array), "of /g/field" in said(array)) == (True, False)
    assert "and 2 more" in said(array)
    assert repr(dataset).splitlines()[-4:] == [
        "warning: problem 0 of /g/field",
        "warning: problem 1 of /g/field",
        "warning: problem 2 of /g/field",
        "and 21 more problems",
    ]
    assert str(dataset["x"]).endswith("warning: problem 2 of /x\nand 9 more problems")


def test_a_dataset_that_is_an_array() -> None:
    keys = array_keys("", (4,), (2,), units="m")
    refs = {key.strip("/"): value for key, value in keys.items()}
    dataset = without_session(refbrowser.open({"version": 1, "refs": refs}))
    assert "2 of 2" in said(dataset._repr_html_())
    assert ":units" in repr(dataset)


def test_text_stands_in_columns() -> None:
    assert repr(small_set()).splitlines() == [
        "<refbrowser.Dataset 'references'>",
        "refs-v1 (Zarr v2), 2 groups, 3 arrays",
        "  x                      i4  1 000                      chunks 1000      4 kB",
        "/g",
        "  field                  i4  time 12, lat 180, lon 360  chunks 1×90×120  3.11 MB",
        "  long_name_of_an_array  i4  n 10 000 000 000, m 10     chunks 10×10     400 GB",
        "/g/h",
    ]


def test_arrays_and_groups_are_lines_among_others() -> None:
    dataset = small_set()
    line = "<refbrowser.Array '/g/field' (time 12, lat 180, lon 360) i4, chunks 1×90×120>"
    assert repr(dataset["g/field"]) == line
    assert repr([dataset["g/field"]]) == f"[{line}]"
    assert repr(dataset["g"]) == "<refbrowser.Group '/g': 1 group, 2 arrays>"
    assert "\n" not in repr(dataset.arrays)
    text = str(dataset["g/field"])
    assert text.startswith("<refbrowser.Array '/g/field'>\n  Shape ")
    assert "\n  Chunk size          43.2 kB\n" in text


class Printer:
    """What IPython hands to `_repr_pretty_`: what it has entered, and where text goes."""

    def __init__(self, depth: int) -> None:
        self.stack, self.said = list(range(depth)), ""

    def text(self, text: str) -> None:
        self.said += text


def test_ipython_shows_lines_by_itself_and_one_among_others() -> None:
    array = small_set()["g/field"]
    for depth, shown in ((1, str(array)), (2, repr(array))):
        printer = Printer(depth)
        array._repr_pretty_(printer, False)
        assert printer.said == shown


def test_the_sheet_is_for_what_is_shown_alone_and_knows_both_themes() -> None:
    html = small_set()._repr_html_()
    sheet = html[html.index("<style>") + 7 : html.index("</style>")]
    sheet = re.sub(r":is\((?:[^()]|\([^()]*\))*\) ", lambda hosts: hosts[0].replace(",", " "), sheet)
    selectors = [
        selector
        for rule in sheet.replace("\n", "").split("{")[:-1]
        for selector in rule.rpartition("}")[2].split(",")
        if not selector.startswith("@media")
    ]
    assert selectors
    assert all(selector.startswith(".rb") or selector.endswith(" .rb") for selector in selectors)
    assert "prefers-color-scheme:dark" in sheet
    for host in ("data-jp-theme-light", ".vscode-dark", "--jp-layout-color0", "--vscode-editor-background"):
        assert host in sheet
    assert "style" in HARMLESS


def test_an_edited_dataset_says_so(tmp_path: Any) -> None:
    dataset: Dataset = refbrowser.open(refbrowser.sample(tmp_path))
    with dataset:
        edited = refbrowser.with_attributes(dataset, "/ocean/sst", {"units": "K"})
        assert ", edited" in repr(edited)
        assert ", edited" in edited._repr_html_()
        assert ", edited" not in repr(dataset)
