from __future__ import annotations

import json
from typing import Any

import pytest
from awkward0_built import schema_of
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import Place, RefbrowserError, Severity
from refbrowser.limits import LIMITS
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts.functions import ExpressionKind
from refbrowser.wings.awkward0.layouts.schema import has_signature, read_schema

KEYS = [*(str(kind) for kind in ExpressionKind), "args", "kwargs", "id", "absolute"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def refusal(data: bytes) -> str:
    with pytest.raises(RefbrowserError) as caught:
        read_schema(data)
    return str(caught.value.kind)


@pytest.mark.parametrize("signature", ["awkward0", "awkward"])
def test_both_signatures(signature: str) -> None:
    data = {signature: "0.13.0", "doc": "d", "metadata": {"a": [1]}, "prefix": "p-", "schema": {"json": 1}}
    schema = read_schema(json.dumps(data).encode())
    assert (schema.signature, schema.version, schema.doc, schema.prefix) == (signature, "0.13.0", "d", "p-")
    assert schema.metadata == {"a": [1]}
    assert schema.text == json.dumps(data).encode()
    assert not schema.findings


def test_the_newer_signature_counts() -> None:
    schema = read_schema(b'{"awkward": "0.12.0", "awkward0": "0.15.5", "schema": {"json": 1}}')
    assert (schema.signature, schema.version) == ("awkward0", "0.15.5")


def test_a_version_that_is_no_text_is_kept() -> None:
    assert read_schema(b'{"awkward0": [0, 15], "schema": {"json": 1}}').version == "[0, 15]"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "E_JSON"),
        (b"{", "E_JSON"),
        (b"[1]", "E_SCHEMA"),
        (b"{}", "E_SCHEMA"),
        (b'{"awkward0": ""}', "E_SCHEMA"),
        (b'{"schema": {"json": 1}}', "E_SCHEMA"),
        (b'{"awkward0": "", "prefix": 3, "schema": {"json": 1}}', "E_SCHEMA"),
        (b'{"awkward0": "", "schema": {"json": 1}} x', "E_JSON"),
        (b'{"awkward0": "\xff", "schema": {"json": 1}}', "E_ENCODING"),
        (b'{"awkward0": "", "schema": {"read": "\\ud800"}}', "E_ENCODING"),
    ],
)
def test_what_is_no_schema(data: bytes, kind: str) -> None:
    assert refusal(data) == kind


def test_numbers_that_json_does_not_have_are_taken_with_a_warning() -> None:
    schema = read_schema(b'{"awkward0": "", "schema": {"json": NaN}}')
    assert schema.root.value != schema.root.value
    assert [each.severity for each in schema.findings] == [Severity.WARNING]


def test_sizes_are_bounded() -> None:
    blank = b'{"awkward0": "", "schema": {"json": 1}}'
    assert read_schema(blank.ljust(AWKWARD_LIMITS.awkward_schema)).root.value == 1
    assert refusal(blank.ljust(AWKWARD_LIMITS.awkward_schema + 1)) == "E_BUDGET"


def test_nodes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AWKWARD_LIMITS.__dict__, "awkward_nodes", 11)
    assert len(schema_of({"list": [{"json": 1}] * 10}).expressions) == 11
    with pytest.raises(RefbrowserError, match="awkward_nodes"):
        schema_of({"list": [{"json": 1}] * 11})


def test_nesting_is_bounded() -> None:
    def nested(levels: int) -> Any:
        root: Any = {"json": 1}
        for _ in range(levels - 1):
            root = {"list": [root]}
        return root

    deepest = min(AWKWARD_LIMITS.awkward_nesting, LIMITS.json_nesting // 2 - 2)
    assert len(schema_of(nested(deepest)).expressions) == deepest
    for levels in (AWKWARD_LIMITS.awkward_nesting + 1, 5000):
        text = b'{"list":[' * (levels - 1) + b'{"json":1}' + b"]}" * (levels - 1)
        assert refusal(b'{"awkward0":"","schema":' + text + b"}") in ("E_BUDGET", "E_JSON")


def test_long_names_do_not_multiply() -> None:
    name = "n" * 100_000
    columns = [[str(at), {"json": at}] for at in range(2000)]
    with pytest.raises(RefbrowserError, match="pointers"):
        schema_of({"dict": {name: {"pairs": columns}}})


def test_expressions_are_numbered_in_document_order() -> None:
    root = {
        "call": ["m", "f"],
        "args": [{"list": [{"json": 1, "id": 5}, {"json": 2}]}, {"read": "a", "absolute": True}],
        "kwargs": {"k/~": {"dict": {"x": {"ref": 5}}}, "p": {"pairs": [["y", {"dtype": "i4"}]]}},
        "id": 0,
    }
    schema = schema_of(root)
    pointers = [each.pointer for each in schema.expressions]
    assert pointers == [
        "/schema",
        "/schema/args/0",
        "/schema/args/0/list/0",
        "/schema/args/0/list/1",
        "/schema/args/1",
        "/schema/kwargs/k~1~0",
        "/schema/kwargs/k~1~0/dict/x",
        "/schema/kwargs/p",
        "/schema/kwargs/p/pairs/0/1",
    ]
    assert schema.root.children == (1, 4)
    assert schema.root.named == (("k/~", 5), ("p", 7))
    assert schema.root.value == ("m", "f")
    assert schema.expressions[4].is_absolute
    assert schema.expressions[7].named == (("y", 8),)
    assert schema.by_id == {5: 2, 0: 0}


@pytest.mark.parametrize(
    "root",
    [
        3,
        [],
        "json",
        None,
        {},
        {"id": 3},
        {"json": 1, "read": "x"},
        {"call": "numpy.frombuffer"},
        {"call": ["numpy"]},
        {"call": ["numpy", 3]},
        {"call": ["a", "b"], "args": {}},
        {"call": ["a", "b"], "kwargs": []},
        {"call": ["a"] * 1000},
        {"read": 3},
        {"read": "a", "absolute": 1},
        {"read": "n" * (LIMITS.key_length + 1)},
        {"list": {}},
        {"tuple": 3},
        {"dict": []},
        {"pairs": {}},
        {"pairs": [["a"]]},
        {"pairs": [[1, {"json": 1}]]},
        {"function": ["x"]},
        {"python": 3},
        {"ref": -1},
        {"ref": "0"},
        {"ref": True},
        {"ref": 1.0},
    ],
)
def test_wrong_expressions_are_broken_and_alone(root: Any) -> None:
    schema = schema_of({"list": [root, {"json": 7}]})
    broken = schema.expressions[1]
    assert broken.kind is ExpressionKind.BROKEN
    assert broken.error is not None
    assert str(broken.error.kind) == "E_SCHEMA"
    assert broken.error.place.pointer == "/schema/list/0"
    assert [each.place.pointer for each in schema.findings] == ["/schema/list/0"]
    assert schema.expressions[-1].value == 7


def test_which_keys_there_are_is_told() -> None:
    error = schema_of({"json": 1, "ref": 0, "call": ["a", "b"]}).root.error
    assert error is not None
    assert "'json', 'ref', 'call'" in error.message


@pytest.mark.parametrize("identity", [-1, "0", 1.5, True, [1]])
def test_an_id_that_is_none_is_a_warning(identity: Any) -> None:
    schema = schema_of({"json": 1, "id": identity})
    assert schema.root.id is None
    assert schema.by_id == {}
    assert [each.severity for each in schema.findings] == [Severity.WARNING]


def test_of_an_id_that_is_given_twice_the_last_counts() -> None:
    schema = schema_of({"list": [{"json": 1, "id": 4}, {"json": 2, "id": 4}]})
    assert schema.by_id == {4: 2}
    (finding,) = schema.findings
    assert (finding.severity, finding.place.pointer) == (Severity.WARNING, "/schema/list/1")


def test_what_refers_to_nothing_is_told() -> None:
    (finding,) = schema_of({"list": [{"ref": 9}, {"json": 1, "id": 8}]}).findings
    assert (finding.severity, finding.place.pointer) == (Severity.FAULT, "/schema/list/0")
    assert "9" in finding.message


def test_findings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AWKWARD_LIMITS.__dict__, "awkward_findings", 3)
    wrong = [{"x": 1}] * 9
    twice = [{"json": 1, "id": 1}] * 9
    lost = [{"ref": 77}] * 9
    assert len(schema_of({"list": [*wrong, *twice, *lost]}).findings) == 9


def test_places_keep_what_they_are_given() -> None:
    place = Place(url="/file", key="one.json")
    data = b'{"awkward0": "", "schema": {"json": 1, "read": "x"}}'
    error = read_schema(data, place=place).root.error
    assert error is not None
    assert (error.place.url, error.place.key, error.place.pointer) == ("/file", "one.json", "/schema")


def test_a_glance_tells_what_may_be_a_schema() -> None:
    assert has_signature(b' {"awkward": "0.13.0", "schema": {}}')
    assert has_signature(b'{"prefix": "a", "awkward0": ""}')
    assert not has_signature(b'{"zarr_format": 2}')
    assert not has_signature(b'["awkward0"]')
    assert not has_signature(b"")


@given(JSON)
def test_anything_at_the_root_is_an_expression(root: Any) -> None:
    schema = schema_of(root)
    assert [each.number for each in schema.expressions] == list(range(len(schema.expressions)))
    for each in schema.expressions:
        assert (each.error is None) == (each.kind is not ExpressionKind.BROKEN)
        assert all(number > each.number for number in each.children)


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_by_kind(data: bytes) -> None:
    assert refusal(data) in ("E_JSON", "E_ENCODING", "E_SCHEMA")
