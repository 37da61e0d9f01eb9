"""What a rule gives differently, counted by arithmetic, against the count of every row."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.rule_changes import RowCount, RuleChanges, rule_changes
from refbrowser.references.templates.templates import TemplateSet

NO_TEMPLATES = TemplateSet()
BASE = {
    "key": "z/{{m}}.{{l}}",
    "url": "a_{{m}}.nc",
    "offset": "{{100 + (m * 3 + l) * 10}}",
    "length": "10",
    "dimensions": {"m": {"stop": 4}, "l": {"start": 0, "stop": 3, "step": 1}},
}


def rule(templates: TemplateSet = NO_TEMPLATES, **changes: Any) -> GenRule:
    return GenRule({**BASE, **changes}, templates, 0)


def counted(new: GenRule, old: GenRule) -> RuleChanges:
    """Compare every row by key; of a repeated key the last row counts."""

    def table(each: GenRule) -> dict[str, tuple[int, Any]]:
        rows = each.rows(0, each.count)
        none = [None] * each.count
        values = zip(rows.urls, rows.offsets or none, rows.lengths or none, strict=True)
        return {
            key: (row, value)
            for row, (key, value) in enumerate(zip(rows.keys, values, strict=True))
            if key is not None
        }

    first, second = table(new), table(old)
    changed = [row for key, (row, value) in first.items() if key in second and second[key][1] != value]
    added = [row for key, (row, _) in first.items() if key not in second]
    removed = [row for key, (row, _) in second.items() if key not in first]
    return RuleChanges(*(RowCount(len(rows), min(rows, default=None)) for rows in (changed, added, removed)))


def test_an_offset_that_grows_by_a_constant_changes_every_row() -> None:
    changes = rule_changes(rule(offset="{{101 + (m * 3 + l) * 10}}"), rule())
    assert changes == RuleChanges(RowCount(12, 0), RowCount(), RowCount())


def test_another_stride_leaves_the_rows_where_the_factor_is_zero() -> None:
    changes = rule_changes(rule(offset="{{100 + (m * 3 + l) * 11}}"), rule())
    assert changes.changed == RowCount(11, 1)


def test_a_spelling_that_yields_the_same_changes_nothing() -> None:
    changes = rule_changes(rule(offset="{{ (10 + m*3 + l) * 10 }}", url="a_{{ m }}.nc"), rule())
    assert changes == RuleChanges(RowCount(), RowCount(), RowCount())


def test_a_longer_dimension_adds_rows_and_a_shorter_one_takes_them_away() -> None:
    longer = rule(dimensions={"m": {"stop": 6}, "l": {"stop": 3}})
    assert rule_changes(longer, rule()) == RuleChanges(RowCount(), RowCount(6, 12), RowCount())
    assert rule_changes(rule(), longer) == RuleChanges(RowCount(), RowCount(), RowCount(6, 12))


def test_a_fault_in_a_field_changes_every_row() -> None:
    assert rule_changes(rule(offset="{{nothing}}"), rule()).changed == RowCount(12, 0)
    assert rule_changes(rule(offset="{{nothing}}"), rule(offset="{{none_too}}")).changed == RowCount()


def test_whole_files_instead_of_ranges_change_every_row() -> None:
    fields = {name: value for name, value in BASE.items() if name not in ("offset", "length")}
    whole = GenRule(fields, NO_TEMPLATES, 0)
    assert rule_changes(whole, rule()).changed == RowCount(12, 0)


def test_a_trillion_rows_are_counted_by_arithmetic() -> None:
    huge = {"m": {"stop": 10**6}, "l": {"stop": 10**6}}
    before = rule(dimensions=huge)
    assert rule_changes(rule(dimensions=huge, offset="{{(m * 3 + l) * 10}}"), before).changed == RowCount(
        10**12, 0
    )
    changed = rule_changes(rule(dimensions=huge, offset="{{100 + m * 31 + l * 10}}"), before).changed
    assert changed == RowCount(10**12 - 10**6, 10**6)
    stretched = rule(dimensions=huge, offset="{{100 + (m * 3 + l) * 11}}")
    assert rule_changes(stretched, before).changed == RowCount(10**12 - 1, 1)
    grown = {"m": {"stop": 10**6 + 1}, "l": {"stop": 10**6}}
    assert rule_changes(rule(dimensions=grown), before).added == RowCount(10**6, 10**12)


def test_what_is_not_decided_says_how_far_it_looked() -> None:
    changes = rule_changes(rule(offset="{{100 if m else 99}}"), rule(), most=5)
    assert changes.changed == RowCount(5, 0, 5)


def test_keys_beyond_the_rows_that_are_looked_at_are_found_by_arithmetic() -> None:
    before = rule(dimensions={"m": {"stop": 1000}, "l": {"stop": 1000}})
    after = rule(key="z/{{m + 500}}.{{l}}", dimensions={"m": {"stop": 1000}, "l": {"stop": 1000}})
    changes = rule_changes(after, before, most=20)
    assert changes == RuleChanges(RowCount(20, 0, 20), RowCount(0, None, 20), RowCount(20, 0, 20))


def test_keys_that_cannot_be_found_are_neither_new_nor_gone() -> None:
    dimensions = {"m": {"stop": 1000}, "l": {"stop": 1000}}
    before = rule(key="z/{{m if m else 0}}.{{l}}", dimensions=dimensions)
    after = rule(key="z/{{m + 500}}.{{l}}", dimensions=dimensions)
    assert rule_changes(after, before, most=20).added == RowCount(0, None, 20)


def test_another_value_of_a_template_counts_as_a_change() -> None:
    before = GenRule({**BASE, "url": "{{u}}"}, TemplateSet({"u": "a"}), 0)
    after = GenRule({**BASE, "url": "{{u}}"}, TemplateSet({"u": "b"}), 0)
    assert rule_changes(after, before).changed.count == 12


def test_a_pause_can_end_the_work() -> None:
    class Stop(Exception):
        pass

    def pause() -> None:
        raise Stop

    try:
        rule_changes(rule(key="y/{{m}}.{{l}}"), rule(), pause)
    except Stop:
        return
    raise AssertionError


RANGES = st.builds(
    lambda start, size, step: {"start": start, "stop": start + size * step, "step": step},
    st.integers(-4, 6),
    st.integers(0, 5),
    st.sampled_from([-3, -2, -1, 1, 2, 3]),
)
DIMENSIONS = st.one_of(RANGES, st.lists(st.integers(-3, 8), max_size=5, unique=True))
OFFSETS = st.builds(
    lambda constant, slow, fast: f"{{{{ {constant} + m * {slow} + l * {fast} }}}}",
    st.integers(50, 60),
    st.integers(-2, 3),
    st.integers(-2, 3),
)
RULES = st.builds(
    lambda slow, fast, offset, url, key: rule(
        dimensions={"m": slow, "l": fast}, offset=offset, url=url, key=key
    ),
    DIMENSIONS,
    DIMENSIONS,
    OFFSETS,
    st.sampled_from(["a_{{m}}.nc", "a_{{m + 1}}.nc", "a_{{l}}.nc", "b.nc", "a_{{'x' if m > 2 else 'y'}}"]),
    st.sampled_from(["z/{{m}}.{{l}}", "z/{{m}}.{{l + 1}}", "z/{{m}}{{l}}", "z/{{m}}"]),
)


@given(RULES, RULES)
def test_the_counts_are_those_of_looking_at_every_row(new: GenRule, old: GenRule) -> None:
    found, wanted = rule_changes(new, old), counted(new, old)
    if new.key == old.key and new.space == old.space and not (new.pattern and new.pattern.is_injective):
        return  # rows of the same number are compared; keys that repeat have no row of their own
    assert found == wanted
