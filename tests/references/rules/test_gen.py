"""Gen rules by example: the specification's, faulty ones, and ones too large to expand."""

from __future__ import annotations

import time

import numpy as np
import pytest

from refbrowser.errors import ErrorKind, Severity
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import ByteRange, ReferenceKind, WholeFile
from refbrowser.references.findings.rule_findings import find_collisions, find_duplicates
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.layouts import NotDecided
from refbrowser.references.rules.rule_faults import find_faults
from refbrowser.references.rules.rule_search import SearchTime
from refbrowser.references.templates.templates import TemplateSet

SPECIFICATION = TemplateSet({"u": "server.domain/path", "f": "{{c}}"})
FIELDS = {
    "key": "gen_key{{i}}",
    "url": "http://{{u}}_{{i}}",
    "offset": "{{(i + 1) * 1000}}",
    "length": "1000",
    "dimensions": {"i": {"stop": 5}},
}
HUGE = {
    "key": "temp/{{i}}.{{j}}.0",
    "url": "{{u}}/{{'%04d'|format(i // 1000)}}.nc",
    "offset": "{{ 8 + (i * 1000000 + j) * 400 }}",
    "length": "400",
    "dimensions": {"i": {"stop": 10**6}, "j": {"stop": 10**6}},
}
V2 = ChunkKeyEncoding()


def rule(**changes):
    fields = {**FIELDS, **changes}
    return GenRule({name: value for name, value in fields.items() if value is not None}, SPECIFICATION, 3)


def huge(**changes):
    return GenRule({**HUGE, **changes}, SPECIFICATION, 0)


def faults(found):
    return [
        (each.kind, each.place.field, each.place.pointer, each.place.row, each.count)
        for each in find_faults(found, left=SearchTime(seconds=600))
    ]


def test_example_of_the_specification():
    found = rule()
    assert found.count == len(found) == 5
    assert [found.row(number).key for number in range(5)] == [f"gen_key{number}" for number in range(5)]
    assert found.row(2).reference == ByteRange("http://server.domain/path_2", 3000, 1000)
    assert found.rows(1, 3).offsets == [2000, 3000]
    assert found.find("gen_key4") == 4
    assert found.find("gen_key5") is None
    assert found.find("gen_key04") is None
    assert not find_faults(found)
    assert find_duplicates(found) is None
    assert found.static_origin() == "http://server.domain/path_"
    assert found.directories() == ("",)


def test_whole_files():
    found = rule(offset=None, length=None)
    assert found.row(0).reference == WholeFile("http://server.domain/path_0")
    assert found.rows(0, 2).offsets is None
    assert found.rows(0, 2).reference(1) == WholeFile("http://server.domain/path_1")
    assert found.references(np.array([4])).kind.tolist() == [ReferenceKind.WHOLE]


def test_dimensions_in_document_order_the_last_one_fastest():
    found = rule(
        key="{{b}}-{{a}}",
        url="x",
        offset=None,
        length=None,
        dimensions={"b": [7, 5], "a": {"start": 4, "stop": -1, "step": -2}},
    )
    assert found.rows(0, 99).keys == ["7-4", "7-2", "7-0", "5-4", "5-2", "5-0"]
    assert found.dimensions == (("b", (7, 5)), ("a", range(4, -1, -2)))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"key": None}, [(ErrorKind.SCHEMA, "key", "/gen/3/key", 0, 5)]),
        ({"url": None}, [(ErrorKind.SCHEMA, "url", "/gen/3/url", 0, 5)]),
        ({"offset": None}, [(ErrorKind.SCHEMA, "offset", "/gen/3/offset", 0, 5)]),
        ({"length": None}, [(ErrorKind.SCHEMA, "length", "/gen/3/length", 0, 5)]),
        ({"length": 1000}, [(ErrorKind.SCHEMA, "length", "/gen/3/length", 0, 5)]),
        ({"url": "{{ v }}"}, [(ErrorKind.TEMPLATE, "url", "/gen/3/url", 0, 5)]),
        ({"url": "{{ f }}"}, [(ErrorKind.TEMPLATE, "url", "/gen/3/url", 0, 5)]),
        ({"offset": "{{ i - 2 }}"}, [(ErrorKind.TEMPLATE, "offset", "/gen/3/offset", 0, 2)]),
        ({"offset": "{{ 2 - i }}"}, [(ErrorKind.TEMPLATE, "offset", "/gen/3/offset", 3, 2)]),
        ({"offset": "{{ i / 2 }}"}, [(ErrorKind.TEMPLATE, "offset", "/gen/3/offset", 0, 5)]),
        ({"offset": "{{ 12 // (i - 3) }}"}, [
            (ErrorKind.TEMPLATE, "offset", "/gen/3/offset", 0, 3),
            (ErrorKind.TEMPLATE, "offset", "/gen/3/offset", 3, 1),
        ]),
        ({"offset": "abc"}, [(ErrorKind.TEMPLATE, "offset", "/gen/3/offset", 0, 5)]),
        ({"offset": "-1"}, [(ErrorKind.TEMPLATE, "offset", "/gen/3/offset", 0, 5)]),
        ({"offset": "9" * 41}, [(ErrorKind.BUDGET, "offset", "/gen/3/offset", 0, 5)]),
        ({"key": "k" * 4097}, [(ErrorKind.BUDGET, "key", "/gen/3/key", 0, 5)]),
        ({"url": "k" * 16385}, [(ErrorKind.BUDGET, "url", "/gen/3/url", 0, 5)]),
        ({"dimensions": None}, [(ErrorKind.SCHEMA, "dimensions", "/gen/3/dimensions", None, 1)]),
        ({"dimensions": {}}, [(ErrorKind.SCHEMA, "dimensions", "/gen/3/dimensions", None, 1)]),
        ({"dimensions": {"i": {"stop": 5, "step": 0}}}, [
            (ErrorKind.SCHEMA, "dimensions", "/gen/3/dimensions/i/step", None, 1)
        ]),
        ({"dimensions": {"i": {"start": 5}}}, [
            (ErrorKind.SCHEMA, "dimensions", "/gen/3/dimensions/i", None, 1)
        ]),
        ({"dimensions": {"i": [1, 2.0, True, None, "x"]}}, [
            (ErrorKind.SCHEMA, "dimensions", "/gen/3/dimensions/i/1", None, 1),
            (ErrorKind.SCHEMA, "dimensions", "/gen/3/dimensions/i/2", None, 1),
            (ErrorKind.SCHEMA, "dimensions", "/gen/3/dimensions/i/3", None, 1),
        ]),
        ({"dimensions": {"i": {"stop": True}}}, [
            (ErrorKind.SCHEMA, "dimensions", "/gen/3/dimensions/i/stop", None, 1)
        ]),
        ({"dimensions": {"i": 5}}, [(ErrorKind.SCHEMA, "dimensions", "/gen/3/dimensions/i", None, 1)]),
        ({"dimensions": {"i": {"stop": 5}, "u": [1]}}, [
            (ErrorKind.TEMPLATE, "dimensions", "/gen/3/dimensions/u", None, 1),
            (ErrorKind.TEMPLATE, "url", "/gen/3/url", 0, 5),
        ]),
        ({"dimensions": {"i": {"stop": 0}}, "url": "{{ v }}{{ i }}", "offset": "x"}, [
            (ErrorKind.TEMPLATE, "url", "/gen/3/url", None, 1),
            (ErrorKind.TEMPLATE, "offset", "/gen/3/offset", None, 1),
        ]),
    ],
)  # fmt: skip
def test_faults(changes, expected):
    found = rule(**changes)
    assert faults(found) == expected
    assert all(each.severity is Severity.FAULT for each in find_faults(found))
    for number in range(found.count):
        row = found.row(number)
        window = found.rows(number, number + 1)
        assert str(window.faults.get(0)) == str(row.error)
    if expected[0][3] == 0:
        assert found.row(0).error is not None
        assert found.row(0).error.place.rule == 3


def test_a_rule_that_is_no_object():
    found = GenRule(["x"], SPECIFICATION, 1)
    assert found.count == 0
    assert [(each.kind, each.place.pointer) for each in find_faults(found)] == [(ErrorKind.SCHEMA, "/gen/1")]
    assert len(found.rows(0, 10)) == 0
    assert found.rows(0, 10).keys == []
    assert found.find("x") is None
    assert found.directories() == ()
    assert len(found.references(np.zeros(0, dtype=np.int64))) == 0


def test_dimensions_are_limited():
    names = [f"d{number}" for number in range(LIMITS.dimensions_per_rule + 1)]
    fits = rule(key="k", url="u", dimensions={name: [1] for name in names[:-1]}, offset="1")
    assert fits.count == 1
    assert find_faults(rule(dimensions={name: [1] for name in names}))[0].kind is ErrorKind.BUDGET


def test_names_and_integers_at_their_limits():
    assert not find_faults(rule(key="k" * 4095 + "{{ i }}"))
    assert [each[3:] for each in faults(rule(key="k" * 4095 + "{{ i }}", dimensions={"i": [9, 10, 11]}))] == [
        (1, 2)
    ]
    assert not find_faults(rule(offset="9" * 40))
    big = rule(offset="{{ i }}", dimensions={"i": [10**40 - 1, 2**63]})
    assert not find_faults(big)
    assert big.row(0).reference == ByteRange(f"http://server.domain/path_{10**40 - 1}", 10**40 - 1, 1000)
    assert find_faults(rule(dimensions={"i": [10**40]}))[0].kind is ErrorKind.BUDGET


def test_ranges_beyond_int64_are_errors_on_reading():
    found = rule(offset="{{ i }}", length="10", dimensions={"i": [5, 2**63 - 10, 2**63 - 9, 2**63, 2**100]})
    columns = found.references(np.arange(5))
    assert columns.kind.tolist() == [2, 2, 4, 4, 4]
    assert columns.offset[:2].tolist() == [5, 2**63 - 10]
    assert {error.kind for error in columns.faults.values()} == {ErrorKind.RANGE}
    assert columns.faults[3].place.row == 3
    assert not find_faults(found)
    assert found.row(4).reference.offset == 2**100


def test_a_rule_of_many_rows_is_answered_by_arithmetic():
    start = time.process_time()
    found = huge()
    assert found.count == 10**12
    number = 123_456_789_012
    assert found.row(number).key == "temp/123456.789012.0"
    assert found.rows(number, number + 2).urls == ["server.domain/path/0123.nc"] * 2
    assert found.rows(10**12 - 1, 10**12 + 5).keys == ["temp/999999.999999.0"]
    assert found.find("temp/123456.789012.0") == number
    assert found.find("temp/1234567.0.0") is None
    assert found.find("temp/123456.789012.1") is None
    assert not find_faults(found)
    assert find_duplicates(found) is None
    coords = np.array([[123456, 789012, 0], [0, 0, 0], [0, 0, 1], [10**6, 0, 0]])
    assert found.find_chunks("temp/", coords, V2).tolist() == [number, 0, -1, -1]
    assert found.find_chunks("salt/", coords, V2).tolist() == [-1] * 4
    columns = found.references(np.array([number, 0]))
    assert columns.offset.tolist() == [8 + number * 400, 8]
    assert [columns.urls[place] for place in columns.url] == [
        "server.domain/path/0123.nc",
        "server.domain/path/0000.nc",
    ]
    assert found.directories() == ("temp",)
    assert time.process_time() - start < 2


@pytest.mark.slow
def test_faults_of_many_rows_are_counted_by_arithmetic():
    found = huge(offset="{{ 999999999999 * 400 - (i * 1000000 + j) * 400 - 400 }}")
    assert faults(found) == [(ErrorKind.TEMPLATE, "offset", "/gen/0/offset", 10**12 - 1, 1)]
    found = huge(offset="{{ i * 3 - j * 7 + 11 }}")
    count = sum(max(0, 10**6 - ((3 * i + 11) // 7 + 1)) for i in range(10**6))
    assert faults(found) == [(ErrorKind.TEMPLATE, "offset", "/gen/0/offset", 2, count)]


def test_counts_beyond_int64():
    found = rule(key="{{i}}.{{j}}", dimensions={"i": {"stop": 10**15}, "j": {"stop": 10**15}})
    assert found.count == 10**30
    number = 10**29 + 7
    assert found.row(number).key == f"{number // 10**15}.{number % 10**15}"
    assert found.rows(number, number + 2).keys[1] == found.row(number + 1).key
    assert found.find(found.row(number).key) == number
    wide = rule(key="{{i}}", dimensions={"i": {"start": -(10**30), "stop": 10**30}})
    assert wide.rows(10**29, 10**29 + 2).keys == [str(-(10**30) + 10**29), str(-(10**30) + 10**29 + 1)]
    assert wide.find("-5") == 10**30 - 5
    columns = rule(
        url="{{i}}{{j}}", key="{{i}}.{{j}}", dimensions={"i": [3, 2**70], "j": {"stop": 2**70}}
    ).references(np.array([5, 2**62, 5, 7]))
    assert [columns.urls[place] for place in columns.url] == ["35", f"3{2**62}", "35", "37"]
    assert len(columns.urls) == 3
    assert faults(wide) == [(ErrorKind.TEMPLATE, "offset", "/gen/3/offset", 0, 10**30 - 1)]


def test_keys_of_years_and_months():
    found = rule(key="{{ 1979 + i // 12 }}{{ '%02d'|format(i % 12 + 1) }}/{{ j }}",
                 dimensions={"i": {"stop": 10**8}, "j": {"stop": 10**4}})  # fmt: skip
    assert found.find("198003/77") == 14 * 10**4 + 77
    assert found.find("198013/77") is None
    assert find_duplicates(found) is None


def test_integers_of_several_dimensions_are_taken_apart():
    found = huge(
        key="{{ i + j * 2 - 7 }}", dimensions={"i": {"stop": 10**9, "step": 10**3}, "j": [0, 499, 7]}
    )
    assert find_duplicates(found) is None
    assert found.find(str(123_456_000 + 998 - 7)) == 123_456 * 3 + 1
    assert found.find(str(123_456_000 + 999 - 7)) is None


def test_zeros_before_an_integer_are_no_chunk_key():
    found = huge(key="a/{{ '%02d'|format(i) }}.{{ j }}", dimensions={"i": {"stop": 200}, "j": {"stop": 3}})
    coords = np.array([[5, 0], [12, 2], [120, 1], [200, 0]])
    assert found.find_chunks("a/", coords, V2).tolist() == [-1, 38, 361, -1]


@pytest.mark.slow
def test_what_is_not_lowered_is_searched_up_to_a_bound():
    found = huge(
        key="{{ 'a' if i < 500000 else 'b' }}/{{ ('%x' % j)|replace('a', 'g') }}.{{ i }}",
        offset="{{ (i - 3)|int(0, 10) }}",
    )
    assert found.row(10**11).key == "a/0.100000"
    checks = iter([False] * 2 + [True] * 10)
    answer = found.find("a/zz", cancelled=lambda: next(checks))
    assert isinstance(answer, NotDecided)
    assert answer.rows_checked == 2048
    findings = find_faults(found, steps=50_000)
    assert [(each.severity, each.place.field) for each in findings] == [
        (Severity.WARNING, "key"),
        (Severity.FAULT, "offset"),
        (Severity.WARNING, "offset"),
    ]
    assert findings[1].place.row == 0
    assert "not decided" in findings[0].message
    assert find_duplicates(found).kind is ErrorKind.BUDGET


@pytest.mark.slow
def test_conditions_are_told_apart_and_proved():
    found = huge(
        key="{{ 'a' if i < 500000 else 'b' }}/{{ j }}.{{ i }}",
        url="{{ u }}/{% if j %}{{ i|string|upper }}{% else %}{{ f(c=i) }}{% endif %}",
        offset="{{ (i * 1000000 + j) * 400 if i else 8 }}",
        length="{{ 400 if j > 7 else 'a'|length }}",
    )
    start = time.process_time()
    assert not find_faults(found)
    assert time.process_time() - start < 0.5
    assert found.find("b/77.600000") == 600000 * 10**6 + 77
    assert found.find("a/77.600000") is None
    coords = np.array([[77, 600000], [77, 400000]])
    assert found.find_chunks("b/", coords, V2).tolist() == [600000 * 10**6 + 77, -1]
    assert found.find_chunks("a/", coords, V2).tolist() == [-1, 400000 * 10**6 + 77]


@pytest.mark.slow
def test_a_field_is_searched_over_the_dimensions_it_names():
    found = huge(
        url="{{ u }}/{{ 100000 // (7 - i) }}|{{ 'x'|upper if i < 10 else 'y' }}",
        dimensions={"i": {"stop": 50_000}, "j": {"stop": 10**6}},
    )
    assert faults(found) == [(ErrorKind.TEMPLATE, "url", "/gen/0/url", 7 * 10**6, 10**6)]


def test_collisions_with_refs():
    found = huge()
    result = find_collisions(found, ["temp/.zarray", "temp/5.6.0", "temp/7.8.0", "x/5.6.0", "temp/05.6.0"])
    assert result.count == 2
    assert result.examples == (("temp/5.6.0", 5000006), ("temp/7.8.0", 7000008))
    finding = result.finding(0)
    assert finding.severity is Severity.WARNING
    assert "'temp/5.6.0'" in finding.message
    assert find_collisions(found, ["x"]).finding(0) is None


def test_duplicates_are_told():
    assert find_duplicates(huge(key="temp/{{ i }}")).count == 10**12 - 10**6
    assert find_duplicates(rule(dimensions={"i": [1, 1, 2]})).count == 1
    assert find_duplicates(huge(key="{{ i }}{{ j }}")).kind is ErrorKind.BUDGET
    small = {"i": {"stop": 30}, "j": {"stop": 30}}
    assert find_duplicates(huge(key="{{ i }}{{ j }}", dimensions=small)).count == 900 - len(
        {f"{i}{j}" for i in range(30) for j in range(30)}
    )


def test_origins_of_urls():
    assert (
        huge(url="https://{{ u }}:80/{{ f(c='a') }}/{{ i }}").static_origin()
        == "https://server.domain/path:80/a/"
    )
    assert huge(url="{{ i }}x").static_origin() == ""
    assert huge(url="a{% if i %}b{% endif %}").static_origin() == "a"
    assert huge(url="a{{ 'b' if i else 'c' }}d").static_origin() == "a"
    assert huge(url="{{ nope }}").static_origin() == ""


def test_user_values_add_names_that_dimensions_may_not_have():
    templates = SPECIFICATION.with_values({"i": "x"})
    assert find_faults(GenRule(FIELDS, templates, 0))[0].place.field == "dimensions"


def test_chunks_of_a_rule_of_more_than_2_63_rows_are_found_by_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    side = 2**39
    dimensions = {"i": {"stop": side}, "j": {"stop": side}}
    rule = GenRule(
        {"key": "a/{{i}}.{{j}}", "url": "x", "offset": "{{j}}", "length": "4", "dimensions": dimensions},
        TemplateSet({}),
        0,
    )
    last = 2**63 // side
    coords = np.array(
        [[0, 0], [5, 7], [side, 0], [0, side], [last - 1, side - 1], [last, 0], [side - 1, side - 1]],
        np.int64,
    )
    wanted = [0, 5 * side + 7, -1, -1, 2**63 - 1, -2, -2]
    assert rule._find_each("a/", coords, ChunkKeyEncoding()).tolist() == wanted
    # One by one, a chunk map of two million cells took half a minute.
    monkeypatch.setattr(GenRule, "_find_each", None)
    assert rule.find_chunks("a/", coords, ChunkKeyEncoding()).tolist() == wanted
    assert rule.references(np.array(wanted[:2])).offset.tolist() == [0, 7]
