"""Expressions as a graph: roles, links, cycles, verdicts, blobs and their codecs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from awkward0_encoder import Encoder, function, pickled, reference
from awkward_files import cycle_members, events_members

from refbrowser.errors import NOWHERE
from refbrowser.model.reference import ByteRange
from refbrowser.wings.awkward0.files.container import Blob
from refbrowser.wings.awkward0.layouts.functions import AllowList
from refbrowser.wings.awkward0.layouts.schema import read_schema
from refbrowser.wings.awkward0.views.expressions import ExpressionGraph, parameter_names


def graph_of(members: dict[str, bytes], name: str, **more: Any) -> ExpressionGraph:
    """Return the graph of an array whose blobs lie one after the other from byte 100 on."""
    found, at = {}, 100
    for each, data in members.items():
        found[each] = Blob(each, ByteRange("file", at, len(data)), len(data), len(data))
        at += len(data)
    schema = read_schema(members[f"{name}.json"], name=name, place=NOWHERE)
    return ExpressionGraph(schema, name, f"/{name}", find_blob=found.get, **more)


def lines(graph: ExpressionGraph) -> list[str]:
    """Return all rows as text, indented."""

    def below(number: int, depth: int) -> list[str]:
        found = [f"{'  ' * depth}{graph.role(number)}: {graph.short_words(number)}"]
        for each in graph.below(number):
            found += below(each, depth + 1)
        return found

    return below(0, 0)


def test_each_expression_is_a_row_named_by_its_role() -> None:
    graph = graph_of(cycle_members(), "nodes")
    assert lines(graph) == [
        "nodes: JaggedArray.fromcounts",
        "  counts: frombuffer int64 × 4",
        "    buffer: 0.raw  32 B at byte 100",
        '    dtype: "int64"',
        "    count: 4",
        "  content: id 2: JaggedArray.fromcounts, a cycle",
    ]
    link = graph.below(0)[1]
    assert graph.target(link) == 0
    assert graph.is_cycle(link)
    assert graph.referrers(0) == (link,)


def test_a_reference_forward_or_back_is_no_cycle() -> None:
    graph = graph_of(events_members(), "events")
    (link,) = (number for number in range(len(graph)) if graph.target(number) is not None)
    assert not graph.is_cycle(link)
    assert graph.role(graph.above(link) or 0) == "before"
    assert graph.words(link) == "id 5: frombuffer int64 × 80"
    target = graph.target(link)
    assert target is not None
    assert graph.path_words(target) == "events > pairs > run"
    assert graph.facts(target)["Referred to by"] == [graph.expression(link).pointer]


def test_a_reference_to_nowhere_is_said() -> None:
    one = Encoder("one")
    graph = graph_of(one.members(one.make("JaggedArray.fromcounts", np.array([1]), reference(99))), "one")
    assert graph.short_words(graph.below(0)[1]) == "id 99, which does not exist"


def test_a_blob_has_its_place_size_and_codecs() -> None:
    graph = graph_of(events_members(), "events")
    packed = next(number for number in range(len(graph)) if graph.codecs(number) == ("zlib",))
    assert graph.blob_name(packed) == "events-0.raw"
    assert graph.stored(packed).endswith("at byte 100, zlib")
    above = graph.above(packed)
    assert above is not None
    assert graph.role(packed) == "data"
    assert graph.basic_array(packed) == graph.above(above)
    facts = graph.facts(packed)
    assert facts["Codecs"] == "zlib"
    assert facts["JSON pointer"].endswith("/args/0/args/0")
    assert graph.basic_array(0) is None


def test_a_blob_that_is_not_there_is_said() -> None:
    members = cycle_members()
    del members["nodes-0.raw"]
    graph = graph_of(members, "nodes")
    (read,) = (number for number in range(len(graph)) if graph.blob_name(number))
    assert graph.short_words(read) == "0.raw  not in the file"


@pytest.mark.parametrize(
    ("parts", "standing"),
    [
        (["os", "system"], "refused"),
        (["bz2", "decompress"], "refused"),
        (["awkward0", "JaggedArray", "fromcounts"], "allowed"),
    ],
)
def test_functions_have_a_verdict(parts: list[str], standing: str) -> None:
    one = Encoder("one")
    graph = graph_of(one.members(one.call(parts, np.array([1]), np.array([1]))), "one")
    verdict = graph.verdict(0)
    assert verdict is not None
    assert verdict.standing == standing
    assert graph.is_refused(0) == (standing == "refused")
    assert graph.facts(0)["Permission"].startswith(standing)
    if standing == "refused":
        assert graph.short_words(0) == f"refused: {'.'.join(parts)}"


def test_what_the_user_allows_is_told_apart() -> None:
    one = Encoder("one")
    members = one.members(one.basic(np.arange(3), codecs=("bz2.decompress",)))
    allowed = AllowList.of_texts(["bz2.*"])
    graph = graph_of(members, "one", allowed=allowed)
    assert [str(graph.verdicts[each].standing) for each in sorted(graph.verdicts)] == [
        "allowed",
        "opened by the user",
    ]


def test_odd_expressions_have_words() -> None:
    one = Encoder("one")
    root = one.make(
        "ObjectArray",
        np.array([1]),
        function("os", "system"),
        {"tuple": [{"json": None}]},
        pickled(float("nan")),
    )
    schema = one.document(root)
    schema["schema"]["args"].append({"read": "x", "ref": 3})
    members = {**one.blobs, "one.json": json.dumps(schema).encode()}
    words = lines(graph_of(members, "one"))
    assert "  generator: refused: os.system" in words
    assert "  args: 1 item" in words
    assert "  kwargs: a pickle" in words
    assert "  [4]: not an expression" in words


def test_names_from_a_file_are_one_plain_line() -> None:
    one = Encoder("a\nb\x1b[31m")
    graph = graph_of(one.members(one.table(**{"c\r\nd": np.array([1])})), "a\nb\x1b[31m")
    for line in lines(graph):
        assert line.isprintable()


@pytest.mark.parametrize(
    ("function_", "names"),
    [
        ("JaggedArray", ("starts", "stops", "content")),
        ("StringArray.fromcounts", ("counts", "content", "encoding")),
        ("lz4.block.decompress", ("data",)),
        (None, ()),
        ("unknown", ()),
    ],
)
def test_parameters_have_the_names_of_the_old_library(function_: str | None, names: tuple[str, ...]) -> None:
    assert parameter_names(function_) == names
