"""Generated documents against fsspec's reader of references."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest
from fsspec.implementations.reference import ReferenceFileSystem
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.model.reference import ByteRange, Inline, WholeFile
from refbrowser.references.document.document import ReferenceDocument

NAMES = st.sampled_from(["u", "v", "w"])
LITERAL = st.sampled_from(["s3://bucket/data", "http://host/x_", "file"])
FUNCTIONS = st.sampled_from(["{{c}}", "http://h/{{c}}/f", "{{ c }}{{ c }}"])
KEYS = st.sampled_from(["a/0", "a/1", "a/0.0", "b/c/0/1", ".zgroup", "a/.zattrs", "é", "k k", "g/0", "g/1"])
NUMBERS = st.integers(0, 2**50)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A Version 1 document without faults."""
    templates = draw(st.dictionaries(NAMES, LITERAL, min_size=1, max_size=2))
    if draw(st.booleans()):
        templates["f"] = draw(FUNCTIONS)
    urls = [LITERAL, st.sampled_from([f"{{{{{name}}}}}/x" for name in templates if name != "f"])]
    if "f" in templates:
        urls.append(st.sampled_from(["{{f(c='text')}}", 'a{{ f(c="t") }}b']))
    url = st.one_of(urls)
    value = st.one_of(
        st.text(st.characters(max_codepoint=126, min_codepoint=1), max_size=8).filter(
            lambda text: not text.startswith("base64:")
        ),
        st.binary(max_size=6).map(lambda data: "base64:" + base64.b64encode(data).decode()),
        url.map(lambda text: [text]),
        st.tuples(url, NUMBERS, NUMBERS).map(list),
    )
    document: dict[str, Any] = {"version": 1, "templates": templates}
    document["refs"] = draw(st.dictionaries(KEYS, value, max_size=6))
    document["gen"] = draw(st.lists(rules(sorted(set(templates) - {"f"})), max_size=2))
    return document


@st.composite
def rules(draw: st.DrawFn, names: list[str]) -> dict[str, Any]:
    dimension = st.one_of(
        st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True),
        st.builds(lambda start, count, step: {"start": start, "stop": start + count * step, "step": step},
                  st.integers(0, 9), st.integers(1, 3), st.integers(1, 4)),
        st.integers(1, 3).map(lambda stop: {"stop": stop}),
    )  # fmt: skip
    dimensions = draw(st.dictionaries(st.sampled_from(["i", "j"]), dimension, min_size=1, max_size=2))
    fields = {
        "key": draw(st.sampled_from(["g/", "new/"])) + ".".join(f"{{{{{name}}}}}" for name in dimensions),
        "url": draw(st.sampled_from(["{{%s}}_{{i}}" if "i" in dimensions else "{{%s}}", "x{{%s}}"]))
        % draw(st.sampled_from(names)),
        "dimensions": dimensions,
    }
    if draw(st.booleans()):
        first = next(iter(dimensions))
        fields["offset"] = draw(st.sampled_from([f"{{{{({first} + 1) * 1000}}}}", "7"]))
        fields["length"] = draw(st.sampled_from(["1000", f"{{{{{first} % 3}}}}"]))
    return fields


def expanded(document: ReferenceDocument) -> dict[str, Any]:
    """Return what the document stands for, as fsspec has it: inline values as bytes."""
    found: dict[str, Any] = {}
    for row in range(document.expansion.rows):
        key, reference = document.expansion.item(row)
        assert key is not None
        if isinstance(reference, ByteRange):
            found[key] = [reference.url, reference.offset, reference.length]
        elif isinstance(reference, WholeFile):
            found[key] = [reference.url]
        else:
            assert isinstance(reference, Inline), reference
            found[key] = reference.data
    return found


def of_fsspec(document: dict[str, Any]) -> dict[str, Any]:
    system = ReferenceFileSystem(
        copy.deepcopy(document), simple_templates=False, remote_protocol="file", skip_instance_cache=True
    )
    found: dict[str, Any] = {}
    for key, value in system.references.items():
        if isinstance(value, str):
            value = base64.b64decode(value[7:]) if value.startswith("base64:") else value.encode()
        found[key] = value
    return found


@pytest.mark.slow
@given(documents(), st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}]))
def test_a_document_means_what_fsspec_reads(content: dict[str, Any], style: Any) -> None:
    document = ReferenceDocument.of(json.dumps(content, **style).encode())
    expected = of_fsspec(content)
    # Neither looks into metadata to read references, though ours says that some of it is not JSON.
    faults = [finding for finding in document.findings if finding.severity == "fault"]
    assert not [finding for finding in faults if finding.kind != "E_JSON"]
    assert expanded(document) == expected
    for key in expected:
        row = document.expansion.find(key)
        assert isinstance(row, int)
        assert document.expansion.item(row)[0] == key
    assert document.expansion.find("not there") is None


@pytest.mark.slow
@given(documents())
def test_version_0_text_means_the_same(content: dict[str, Any]) -> None:
    document = ReferenceDocument.of(json.dumps(content).encode())
    text = b"".join(document.expansion.to_version0())
    assert of_fsspec(json.loads(text)) == of_fsspec(content)
    assert expanded(ReferenceDocument.of(text)) == expanded(document)
