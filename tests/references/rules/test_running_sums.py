"""Offsets of chunks of different lengths as a rule: constant lists, their items, and sums of their slices."""

from __future__ import annotations

import json
import time
from itertools import accumulate

import fsspec
import pytest
from fsspec.implementations.reference import ReferenceFileSystem

from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.findings.rule_findings import all_findings, find_duplicates
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.rule_faults import find_faults
from refbrowser.references.templates.constant_lists import find_lists
from refbrowser.references.templates.syntax import Template, lex
from refbrowser.references.templates.templates import TemplateSet

#: Lengths of chunks: 50,000, none of them 0.
LENGTHS = [(number * 7919) % 90_000 + 100_000 for number in range(50_000)]
OFFSETS = [0, *accumulate(LENGTHS)]
TEMPLATES = {"at": f"{{{{ {LENGTHS}[:n]|sum }}}}", "total": "{{ l[:n]|sum }}", "u": "s3://b"}
WAYS = {
    "literal": f"{{{{ 8 + {LENGTHS}[:i]|sum }}}}",
    "set": f"{{% set l = {LENGTHS} %}}{{% set o = l[:i]|sum %}}{{{{ o + 8 }}}}",
    "template": "{{ at(n=i)|int + 8 }}",
    "argument": f"{{{{ total(l={LENGTHS}, n=i)|int + 8 }}}}",
    "rest": f"{{{{ {OFFSETS[-1] + 8} - {LENGTHS}[i:]|sum }}}}",
    "two ends": f"{{{{ 8 + {LENGTHS}[0:i]|sum }}}}",
}


def make(offset: str, stop: int = len(LENGTHS), **members: object) -> GenRule:
    fields = {
        "key": "t/{{ i }}.0",
        "url": "{{ u }}/x.nc",
        "offset": offset,
        "length": f"{{{{ {LENGTHS}[i] }}}}",
    }
    return GenRule({**fields, "dimensions": {"i": {"stop": stop}}, **members}, TemplateSet(TEMPLATES), 0)


@pytest.mark.parametrize("way", WAYS)
def test_fifty_thousand_lengths_are_columns(way: str) -> None:
    rule = make(WAYS[way])
    assert not find_faults(rule)
    assert not find_duplicates(rule)
    assert rule.columns is not None
    assert rule.columns.by_numpy == {"key", "url", "offset", "length"}
    rows = rule.rows(0, rule.count)
    assert rows.offsets == [8 + offset for offset in OFFSETS[:-1]]
    assert rows.lengths == LENGTHS
    for number in (0, 1, 31_415, 49_999):
        # The closures, which have the list too.
        assert rule.row(number).reference == ByteRange("s3://b/x.nc", 8 + OFFSETS[number], LENGTHS[number])
        assert rule.find(f"t/{number}.0") == number


def test_rows_cost_what_affine_rows_cost() -> None:
    rules = make("{{ 8 + i * 100 }}", length="100"), make(WAYS["literal"])
    best = []
    for rule in rules:
        times = []
        for _ in range(5):
            start = time.thread_time()
            window = rule.rows(0, rule.count)
            assert window.offsets is not None
            assert window.lengths is not None
            times.append(time.thread_time() - start)
        best.append(min(times))
    # A few ns a row either way: Python's list of the numbers is most of it.
    assert best[1] < 3 * best[0] + 0.005, best


def test_a_key_of_offsets_is_found_by_its_number() -> None:
    rule = make("0", key=f"t/{{{{ {LENGTHS}[:i]|sum }}}}")
    for number in (0, 7, 49_999):
        assert rule.find(f"t/{OFFSETS[number]}") == number
    assert rule.find(f"t/{OFFSETS[7] + 1}") is None
    assert rule.find(f"t/{OFFSETS[-1]}") is None
    assert rule.find("t/9" + "9" * 30) is None
    assert find_duplicates(rule) is None
    repeated = make("0", key="t/{{ [5, 0, 0, 5][:i]|sum }}", length="1", dimensions={"i": {"stop": 5}})
    assert [repeated.find(f"t/{offset}") for offset in (0, 5, 10, 15)] == [0, 3, 4, None]
    assert find_duplicates(repeated).count == 2


def test_lists_beyond_64_bits_are_exact() -> None:
    big = 2**62
    rule = make(f"{{{{ {[big] * 30}[:i]|sum }}}}", 31, length="1")
    assert rule.columns is not None
    assert "offset" not in rule.columns.by_numpy
    assert rule.rows(0, 31).offsets == [big * number for number in range(31)]
    huge = 2**127
    rule = make(f"{{{{ {[huge] * 3}[:i]|sum }}}}", 4, length="1")
    assert [row.error is None for row in map(rule.row, range(4))] == [True, True, False, False]
    (finding,) = find_faults(rule)
    assert (finding.kind, finding.place.field, finding.count) == (ErrorKind.BUDGET, "offset", 2)


def test_faults_of_lists_are_sound() -> None:
    """Negative sums and subscripts that are out of range are found at their rows, and counted."""
    for offset, first, count in (
        ("{{ [10, -30, 5, 40][:i]|sum }}", 2, 2),
        ("{{ [10, 20, 30][i] }}", 3, 3),
        ("{{ [10, 20, 30][i - 4] }}", 0, 1),
        ("{{ [10, 20, 30]['a'] + i }}", 0, 6),
        ("{{ ['a', 'b'][:i]|sum }}", 1, 5),
        ("{{ [10, 20][::0]|sum + i }}", 0, 6),
        (f"{{{{ {[-1] * 40}[:i]|sum }}}}", 1, 5),
    ):
        rule = make(offset, 6, length="1")
        rows = [row.row for row in map(rule.row, range(6)) if row.error is not None]
        assert (rows[0], len(rows)) == (first, count), offset
        found = [finding for finding in find_faults(rule) if finding.severity is Severity.FAULT]
        assert (min(finding.place.row for finding in found), sum(each.count for each in found)) == (
            first,
            count,
        )
        assert all(finding.place.field == "offset" for finding in found)
        assert sorted(rule.rows(0, 6).faults) == rows


def test_a_document_of_running_sums_and_texts_is_what_fsspec_reads() -> None:
    document = {
        "version": 1,
        "templates": {
            "u": "s3://b",
            "f": "{{ c }}.nc",
            "name": "{{ t(c=n) }}",
            "at": "{{ [10, 20, 30, 40, 50][:n]|sum }}",
        },
        "gen": [
            {
                "key": "{{ v }}/{{ i }}.0",
                "url": "{{ u }}/{{ f(c=f(c=v)) }}",
                "offset": "{% set l = [10, 20, 30, 40] %}{{ 8 + l[:i]|sum }}",
                "length": "{{ [10, 20, 30, 40][i] }}",
                "dimensions": {"v": ["temp", "salt", "é", 7], "i": {"stop": 4}},
            },
            {
                "key": "w/{{ '%02d'|format([3, 1, 2, 1]|unique|sort|first + i) }}",
                "url": "{{ name(t=f, n=['a', 'b'][i // 2]) }}",
                "offset": "{{ at(n=i)|int + [7, 9][-1:]|sum }}",
                "length": "{{ [i, 2]|max + [i, 2]|min + [i]|last }}",
                "dimensions": {"i": {"stop": 4}},
            },
        ],
        "refs": {"a/0": ["{{ name(t=f, n=u) }}", 0, 1], "b/0": ["{{ f(c=f(c=u[:3])) }}"]},
    }
    ours = ReferenceDocument.of(json.dumps(document).encode())
    found = {}
    for row in range(ours.expansion.rows):
        key, reference = ours.expansion.item(row)
        assert ours.expansion.find(key) == row
        found[key] = (
            [reference.url, reference.offset, reference.length]
            if isinstance(reference, ByteRange)
            else [reference.url]
        )
    peer = ReferenceFileSystem(
        document, simple_templates=False, fs=fsspec.filesystem("memory"), skip_instance_cache=True
    )
    assert found == peer.references
    (warning,) = all_findings(ours)
    assert warning.severity is Severity.WARNING
    assert "'v' lists texts" in warning.message
    assert warning.place.pointer == "/gen/0/dimensions/v/0"


@pytest.mark.parametrize(
    "offset",
    [
        "{{ [10, 20, 30, 40, 50, 60][i:j]|sum }}",
        "{{ [10, 20, 30, 40, 50, 60][i - 3:j]|sum }}",
        "{{ [10, 20, 30, 40, 50, 60][i - 3:-1]|sum }}",
        "{{ [10, 20, 30, 40, 50, 60][2:i - 3]|sum }}",
        "{{ [10, 20, 30, 40, 50, 60][i:i + 2]|sum }}",
        "{{ [10, 20, 30, 40, 50, 60, 70, 80][i - 4] }}",
    ],
)
def test_every_row_is_what_the_closures_give(offset: str) -> None:
    """Also where ends of slices pass each other, are negative, or lie beyond the list."""
    fields = {"key": "{{ i }}.{{ j }}", "url": "u", "offset": offset, "length": "1"}
    # In the second, no row that a sample looks at has ends that pass each other.
    for i, j in (({"stop": 10}, {"stop": 9}), ([0, 1, 2, 3, 0, 1], [6, 6, 2, 6])):
        rule = GenRule({**fields, "dimensions": {"i": i, "j": j}}, TemplateSet(), 0)
        rows = map(rule.row, range(rule.count))
        expected = [row.reference.offset if row.error is None else None for row in rows]
        assert rule.rows(0, rule.count).offsets == expected
        faults = sum(finding.count for finding in find_faults(rule))
        assert faults == expected.count(None)


def test_fields_that_leave_a_dimension_of_texts_out_are_counted() -> None:
    fields = {"key": "{{ v }}.{{ i }}", "url": "u", "offset": "{{ 2 - i }}", "length": "1"}
    rule = GenRule({**fields, "dimensions": {"v": ["a", "b"], "i": {"stop": 5}}}, TemplateSet(), 0)
    warning, fault = find_faults(rule)
    assert (warning.severity, fault.place.row, fault.count) == (Severity.WARNING, 3, 4)
    rule = GenRule(
        {**fields, "key": "{{ i }}", "dimensions": {"v": ["a", "b"], "i": {"stop": 5}}}, TemplateSet(), 0
    )
    duplicates = find_duplicates(rule)
    assert duplicates is not None
    assert duplicates.count == 5
    assert rule.find("3") == 8


@pytest.mark.slow
def test_many_texts_in_a_dimension_are_found() -> None:
    names = [f"name{number}" for number in range(500)]
    fields = {"key": "{{ v }}/{{ i }}", "url": "{{ v }}.nc", "dimensions": {"v": names, "i": {"stop": 100}}}
    rule = GenRule(fields, TemplateSet(), 0)
    assert rule.find("name77/5") == 7705
    assert rule.find("name77/100") is None
    assert rule.rows(7705, 7706).urls == ["name77.nc"]
    assert find_duplicates(rule) is None


LONG = str(list(range(100, 140)))


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        (f"{{{{ {LONG}[1] }}}}", 1),
        (f"{{{{ {LONG}[{LONG}[0] - 99] }}}}", 2),
        (f"{LONG}{{{{ 1 in {LONG} }}}}{LONG}", 1),
        (f"{{{{ '{LONG}' }}}}{{# {LONG} #}}{{% raw %}}{LONG}{{% endraw %}}{{{{ {LONG} }}}}", 1),
        (f"{{{{ 'a'{LONG} }}}}", 0),
        (f"{{{{ [[1], {LONG}]|length }}}}", 1),
        (f"{{{{ {LONG.replace('100', '007')} }}}}", 0),
        (f"{{{{ {LONG.replace('100', '1_00')} }}}}", 0),
        (f"{{{{ {LONG.replace('100', '1 00')} }}}}", 0),
        (f"{{{{ {LONG.replace('100', '-0')} }}}}", 0),
        (f"{{{{ {LONG.replace(']', ',]')} }}}}", 1),
        (f"{{{{ {LONG.replace(' ', '  ')} }}}}", 1),
        (f"{{{{ {LONG} + }}}}", None),
        (f"{{{{ x{LONG}[0] }}}}{{{{ {LONG} }}}}", 1),
    ],
)
def test_lists_are_cut_out_where_they_are_lists(text: str, lists: int | None) -> None:
    """What remains means the same to jinja2's parser, and every place is one of the whole text."""
    assert find_lists(text) or not lists
    if lists is None:
        with pytest.raises(RefbrowserError) as caught:
            Template.parse(text)
        assert caught.value.place.span == (text.index("}}"), text.index("}}") + 2)
        return
    try:
        syntax = Template.parse(text).syntax
    except RefbrowserError:
        assert "00" in text
        return
    assert syntax is not None
    assert len(syntax.lists) == lists
    for at, items in syntax.lists.items():
        assert text[at:].startswith("[")
        assert list(items) == list(range(100, 140))
    joined = "".join(text[start:stop] for start, stop, _, _ in lex(text))
    assert joined == text


@pytest.mark.slow
def test_sizes_of_lists_are_limited_in_bytes() -> None:
    most = LIMITS.template_list
    inside = "1," * (most // 2)
    assert Template.parse("{{ [" + inside + "][0] }}").syntax is not None
    for text in ("{{ [" + inside + "1][0] }}", "{{ [" + inside[:-2] + "][0] }}{{ " + LONG + "[0] }}"):
        with pytest.raises(RefbrowserError) as caught:
            Template.parse(text)
        assert caught.value.kind is ErrorKind.BUDGET
    rest = LIMITS.template_source - len("{{ [] }}")
    assert Template.parse("{{ [" + "1," * 100 + "] }}" + "x" * rest)
    with pytest.raises(RefbrowserError, match="longer than 65536 bytes"):
        Template.parse("{{ [" + "1," * 100 + "] }}" + "x" * (rest + 1))
    text = "{{ [" + inside + "][n] }}"
    most = LIMITS.template_lists // LIMITS.template_list
    assert not TemplateSet({f"t{number}": text for number in range(most)}).faults
    assert [name for name, _ in TemplateSet({f"t{number}": text for number in range(most + 1)}).faults] == [
        f"t{most}"
    ]
