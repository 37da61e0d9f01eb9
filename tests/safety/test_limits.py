"""Limits of the safety design at n - 1, n and n + 1, through what users call."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from looped import looped

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.rule_faults import find_faults
from refbrowser.references.templates.templates import TemplateSet

AROUND = (-1, 0, 1)

TEMPLATES = {
    "source": (LIMITS.template_source, lambda n: "{{1}}" + "x" * (n - 5)),
    "nesting": (LIMITS.template_nesting, lambda n: "{{ " + "[" * n + "]" * n + " }}"),
    "string": (LIMITS.template_string, lambda n: f"{{{{ 'a' * {n} }}}}"),
    "join": (LIMITS.template_string, lambda n: f"{{{{ ['a', 'a']|join('x' * {n - 2}) }}}}"),
    "replace": (LIMITS.template_string, lambda n: f"{{{{ 'ab'|replace('b', 'x' * {n - 1}) }}}}"),
    "concat": (LIMITS.template_string, lambda n: f"{{{{ 'a' ~ 'b' * {n - 1} }}}}"),
    "utf-8": (LIMITS.template_string // 2, lambda n: f"{{{{ 'é' * {n} }}}}"),
    "integer": (LIMITS.template_integer_bits, lambda n: f"{{{{ 2 ** {n - 1} }}}}"),
    "padding": (LIMITS.template_padding, lambda n: f"{{{{ '%0{n}d' % 1 }}}}"),
    "brace padding": (LIMITS.template_padding, lambda n: f"{{{{ '{{:0{n}d}}'.format(1) }}}}"),
    "precision": (LIMITS.template_precision, lambda n: f"{{{{ '%.{n}f' % 1 }}}}"),
    "round": (LIMITS.template_precision, lambda n: f"{{{{ 1.5|round({n}) }}}}"),
    "calls": (LIMITS.template_call_depth, lambda n: "{{ " + "f(c=" * n + "1" + ")" * n + " }}"),
    "int of a text": (LIMITS.template_padding, lambda n: f"{{{{ ('0' * {n})|int }}}}"),
}


@looped("name, more", product(TEMPLATES, AROUND))
def test_templates(name: str, more: int) -> None:
    limit, make = TEMPLATES[name]
    templates = TemplateSet({"f": "{{ c }}"})
    if more > 0:
        with pytest.raises(RefbrowserError) as caught:
            templates.render(make(limit + more))
        assert caught.value.kind is ErrorKind.BUDGET
    else:
        assert templates.render(make(limit + more))


@pytest.mark.parametrize("more", AROUND)
def test_templates_per_document(more: int) -> None:
    number = LIMITS.templates_per_document + more
    faults = TemplateSet({f"t{i}": "x" for i in range(number)}).faults
    assert [error.kind for _, error in faults] == [ErrorKind.BUDGET] * max(more, 0)


@pytest.mark.parametrize("more", AROUND)
def test_source_of_all_templates(more: int) -> None:
    number = LIMITS.templates_source // 2**15
    texts = {f"t{i}": "{{ c }}" + "x" * (2**15 - 7) for i in range(number - 1)}
    texts["last"] = "{{ c }}" + "x" * (2**15 - 7 + more)
    faults = TemplateSet({"plain": "x" * 2**15} | texts).faults
    assert [name for name, _ in faults] == ["last"] * max(more, 0)


@pytest.mark.parametrize("more", AROUND)
def test_dimensions_per_rule(more: int) -> None:
    names = [f"d{i}" for i in range(LIMITS.dimensions_per_rule + more)]
    members = {"key": "k", "url": "u", "dimensions": {name: {"stop": 1} for name in names}}
    kinds = {finding.kind for finding in find_faults(GenRule(members, TemplateSet(), 0))}
    assert (ErrorKind.BUDGET in kinds) is (more > 0)


@pytest.mark.parametrize("more", AROUND)
@pytest.mark.parametrize("field", ["key", "url"])
def test_names_of_rules(field: str, more: int) -> None:
    size = {"key": LIMITS.key_length, "url": LIMITS.url_length}[field] + more
    members = {"key": "k{{ i }}", "url": "u", "dimensions": {"i": {"stop": 1}}} | {
        field: "{{ i }}" + "x" * (size - 1)
    }
    error = GenRule(members, TemplateSet(), 0).row(0).error
    assert (error is not None and error.kind is ErrorKind.BUDGET) is (more > 0)


def opened(tmp_path: Any, refs: dict[str, Any] | str) -> Any:
    path = tmp_path / "x.json"
    text = refs if isinstance(refs, str) else json.dumps({"version": 1, "refs": refs})
    path.write_text(text, "utf-8")
    return refbrowser.open(path)


@pytest.mark.parametrize("more", AROUND)
def test_nesting_of_documents(tmp_path: Any, more: int) -> None:
    depth = LIMITS.json_nesting + more - 2
    text = '{"version":1,"refs":{"a":' + "[" * depth + "]" * depth + "}}"
    if more > 0:
        with pytest.raises(RefbrowserError) as caught:
            opened(tmp_path, text)
        assert caught.value.kind is ErrorKind.BUDGET
    else:
        opened(tmp_path, text).close()


def v2(**changes: Any) -> dict[str, Any]:
    array = {
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "order": "C", "fill_value": 0,
        "filters": None, "compressor": None,
    }  # fmt: skip
    return {".zgroup": '{"zarr_format":2}', "a/.zarray": json.dumps(array | changes)}


def v3(shards: int) -> dict[str, Any]:
    codecs: list[Any] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    index = [*codecs, {"name": "crc32c"}]
    for _ in range(shards):
        inner = {"chunk_shape": [4], "codecs": codecs, "index_codecs": index}
        codecs = [{"name": "sharding_indexed", "configuration": inner}]
    array = {
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": codecs, "attributes": {},
    }  # fmt: skip
    return {"zarr.json": '{"zarr_format":3,"node_type":"group"}', "a/zarr.json": json.dumps(array)}


METADATA = {
    "rank": (LIMITS.rank, lambda n: v2(shape=[1] * n, chunks=[1] * n)),
    "elements": (LIMITS.elements, lambda n: v2(shape=[n], chunks=[1])),
    "element": (LIMITS.element_size, lambda n: v2(dtype=f"|S{n}")),
    "filters": (LIMITS.filters, lambda n: v2(filters=[{"id": "delta", "dtype": "<i4"}] * n)),
    "shards": (LIMITS.shard_nesting, v3),
}


@pytest.mark.parametrize("more", AROUND)
@pytest.mark.parametrize(("limit", "make"), METADATA.values(), ids=METADATA.keys())
def test_metadata(tmp_path: Any, limit: int, make: Any, more: int) -> None:
    with opened(tmp_path, make(limit + more)) as dataset:
        if more > 0:
            with pytest.raises(RefbrowserError) as caught:
                dataset["/a"][...]
            assert caught.value.kind is ErrorKind.BUDGET
        else:
            array = dataset["/a"]
            first = (slice(0, 1),) * len(array.shape)
            assert array[first].shape == (1,) * len(array.shape)


@pytest.mark.parametrize("dtype", ["<M8", "<M8[generic]"])
def test_dates_without_a_unit_have_no_fill_value(tmp_path: Any, dtype: str) -> None:
    with opened(tmp_path, v2(dtype=dtype)) as dataset, pytest.raises(RefbrowserError) as caught:
        dataset["/a"][...]
    assert caught.value.kind is ErrorKind.META


@pytest.mark.parametrize("more", AROUND)
@pytest.mark.parametrize("compressor", [None, {"id": "zlib", "level": 1}])
def test_stored_size_of_a_chunk(tmp_path: Any, compressor: Any, more: int) -> None:
    (tmp_path / "data").write_bytes(b"")
    refs = v2(shape=[2], compressor=compressor) | {"a/0": ["data", 0, LIMITS.chunk_size + more]}
    with opened(tmp_path, refs) as dataset, pytest.raises(RefbrowserError) as caught:
        dataset["/a"][...]
    assert (caught.value.kind is ErrorKind.BUDGET) is (more > 0)


@pytest.mark.parametrize("name", [".zattrs", "a/.zattrs"])
def test_metadata_of_a_made_up_length_hides_no_array(tmp_path: Any, name: str) -> None:
    (tmp_path / "data").write_bytes(b"x" * 100)
    with opened(tmp_path, v2() | {name: ["data", 0, 10**15]}) as dataset:
        assert dataset["/a"][...].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("verb", ["read", "plan"])
def test_arrays_that_no_memory_holds(tmp_path: Any, verb: str) -> None:
    (tmp_path / "data").write_bytes(b"x" * 100)
    refs = v2(shape=[2**55], chunks=[2**55]) | {"a/0": ["data", 0, 2**57]}
    with opened(tmp_path, refs) as dataset:
        array = dataset["/a"]
        with pytest.raises(RefbrowserError) as caught:
            getattr(array, verb)(array.selection(""))
        assert caught.value.kind is ErrorKind.BUDGET
        assert array[:3].tobytes() == b"x" * 12
