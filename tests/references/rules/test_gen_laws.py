"""Laws of gen rules: whatever is answered by algebra is what the rows, one by one, say."""

from __future__ import annotations

import numpy as np
import pytest
from deep import examples
from hypothesis import given, settings
from jinja_oracle import oracle
from rules import TEMPLATES, make_rule, members

from refbrowser.errors import Severity
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import ReferenceKind
from refbrowser.references.findings.rule_findings import find_duplicates
from refbrowser.references.rules.rule_faults import find_faults


def _as_function(text):
    def render(**given):
        rendered = oracle(text, given)
        if rendered is None:
            raise ValueError(text)
        return rendered

    return render if "{{" in text else text


def rows_of(rule):
    return [rule.row(number) for number in range(rule.count)]


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(members)
def test_windows_are_the_rows(fields):
    rule = make_rule(fields)
    rows = rows_of(rule)
    for start, stop in ((0, rule.count), (rule.count // 3, rule.count // 2 + 1)):
        window = rule.rows(start, stop)
        expected = rows[start:stop]
        assert window.keys == [row.key for row in expected]
        assert {position: str(error) for position, error in window.faults.items()} == {
            position: str(row.error) for position, row in enumerate(expected) if row.error is not None
        }
        for position, row in enumerate(expected):
            if row.error is None:
                assert window.reference(position) == row.reference


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(members)
def test_rows_are_what_jinja_renders(fields):
    rule = make_rule(fields)
    functions = {name: _as_function(text) for name, text in TEMPLATES.templates.items()}
    rows = rows_of(rule)
    for row in rows[:: max(1, len(rows) // 6)]:
        names = dict(zip(("i", "j"), rule.space.values(row.row), strict=True))
        texts = {
            name: oracle(fields[name], {**functions, **names}) for name in ("key", "url", "offset", "length")
        }
        assert row.key == texts["key"]
        if row.error is None:
            found = row.reference
            assert (found.url, found.offset, found.length) == (
                texts["url"],
                int(texts["offset"]),
                int(texts["length"]),
            )
        else:
            bad = texts[row.error.place.field]
            assert bad is None or not bad.strip().isdecimal()


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(members)
def test_find_gives_the_last_row_of_a_key(fields):
    rule = make_rule(fields)
    last = {row.key: row.row for row in rows_of(rule) if row.key is not None}
    there = list(last)[:: len(last) // 8 + 1]
    near = [key.translate(str.maketrans("abpqx12", "baqpy21")) for key in there]
    for key in [*there, *near, "0.0", "1.1", "a12", "-1.3", "", "x", "00.1", "v11.0"]:
        assert rule.find(key) == last.get(key)


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(members)
def test_chunks_are_found_as_keys_are(fields):
    rule = make_rule(fields)
    last = {row.key: row.row for row in rows_of(rule) if row.key is not None}
    for ndim, encoding, prefix in (
        (2, ChunkKeyEncoding(), ""),
        (2, ChunkKeyEncoding("v2", "/"), ""),
        (1, ChunkKeyEncoding(), "3/"),
        (3, ChunkKeyEncoding(), ""),
        (0, ChunkKeyEncoding(), ""),
    ):
        coords = (
            np.indices((13,) * min(ndim, 2)).reshape(min(ndim, 2), -1).T if ndim else np.zeros((1, 0), int)
        )
        if ndim == 3:
            coords = np.c_[coords, coords[:, 0] * 0 + 2]
        coords = coords.astype(np.int64)
        expected = [last.get(prefix + key, -1) for key in encoding.encode_many(coords)]
        assert rule.find_chunks(prefix, coords, encoding).tolist() == expected


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(members)
def test_references_as_columns_are_those_of_the_rows(fields):
    rule = make_rule(fields)
    rows = rows_of(rule)
    columns = rule.references(np.arange(rule.count)[::-1].astype(np.int64))
    assert len(columns) == len(rows)
    for position, row in enumerate(reversed(rows)):
        if row.error is None:
            assert columns.reference(position) == row.reference
        else:
            assert columns.kind[position] == ReferenceKind.FAULTY
            assert str(columns.faults[position]) == str(row.error)


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(members)
def test_faults_are_counted_exactly(fields):
    rule = make_rule(fields)
    faulty: dict[str, list[int]] = {}
    for number in range(rule.count):
        values = rule.space.values(number)
        for name, field in rule.fields.items():
            try:
                field.evaluate(values)
            except Exception:  # noqa: BLE001 - only which rows fail counts here
                faulty.setdefault(name, []).append(number)
    findings = [finding for finding in find_faults(rule) if finding.severity is Severity.FAULT]
    texts = sum(dimension.has_texts for dimension in rule.space.dimensions)
    assert len(find_faults(rule)) == len(findings) + texts
    if not rule.count:
        return
    found: dict[str, list[tuple[int, int]]] = {}
    for finding in findings:
        found.setdefault(finding.place.field, []).append((finding.place.row, finding.count))
    assert found.keys() == faulty.keys()
    for name, parts in found.items():
        assert min(row for row, _ in parts) == faulty[name][0]
        assert sum(count for _, count in parts) == len(faulty[name])


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(members)
def test_duplicates_are_counted(fields):
    rule = make_rule(fields)
    keys = [row.key for row in rows_of(rule) if row.key is not None]
    repeated = len(keys) - len(set(keys))
    finding = find_duplicates(rule)
    if finding is None:
        assert not repeated
    elif "at least" in finding.message:
        assert 0 < finding.count <= repeated
    else:
        assert finding.count == repeated


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(members)
def test_directories_hold_every_key(fields):
    rule = make_rule(fields)
    keys = [row.key for row in rows_of(rule) if row.key is not None]
    assert set(rule.directories()) == {key.rpartition("/")[0] for key in keys}
    assert all(key.startswith(rule.static_prefix) for key in keys)
