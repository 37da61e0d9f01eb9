"""Whole documents against fsspec's reader with templates evaluated."""

from __future__ import annotations

import json

import fsspec
import pytest
from deep import examples
from fsspec.implementations.reference import ReferenceFileSystem
from hypothesis import given, settings
from hypothesis import strategies as st
from rules import TEMPLATES, make_rule, members

from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.rule_faults import find_faults
from refbrowser.references.templates.templates import TemplateSet


def expanded(document):
    found = ReferenceFileSystem(
        json.loads(json.dumps(document)), simple_templates=False, fs=fsspec.filesystem("memory")
    )
    return found.references


def as_lists(rules):
    entries = {}
    for rule in rules:
        for number in range(rule.count):
            row = rule.row(number)
            found = row.reference
            entries[row.key] = [found.url, found.offset, found.length]
    return entries


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(st.lists(members, min_size=1, max_size=3))
def test_gen_rules_expand_as_in_fsspec(rules):
    good = [fields for fields in rules if not find_faults(make_rule(fields)) and make_rule(fields).count < 40]
    document = {"version": 1, "templates": dict(TEMPLATES.templates), "gen": good, "refs": {}}
    assert expanded(document) == as_lists(map(make_rule, good))


def test_example_of_the_specification():
    refs = {"key2": ["http://{{u}}", 10000, 100], "key3": ["http://{{f(c='text')}}", 10000, 100]}
    templates = {"u": "server.domain/path", "f": "{{c}}"}
    found = expanded({"version": 1, "templates": dict(templates), "refs": refs})
    ours = TemplateSet(templates)
    assert found == {key: [ours.render(value[0]), *value[1:]] for key, value in refs.items()}


@pytest.mark.parametrize("name", ["references/cru_gen_rule.json", "real/eraint_uvz.refs.json"])
def test_real_documents(shared_data, name):
    document = json.loads((shared_data / name).read_text())
    templates = TemplateSet(document.get("templates", {}))
    rules = [GenRule(fields, templates, index) for index, fields in enumerate(document["gen"])]
    found = expanded({**document, "refs": {}})
    assert found == as_lists(rules)
    assert all(rule.columns.by_numpy == {"key", "url", "offset", "length"} for rule in rules)
    for rule in rules:
        assert [rule.find(rule.row(number).key) for number in range(rule.count)] == list(range(rule.count))
