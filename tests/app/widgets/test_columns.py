"""Columns whose widths repeat: positions, pages, borders."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refbrowser.app.widgets.table_cells import ColumnWidths

widths = st.lists(st.integers(1, 300), min_size=1, max_size=5)


@given(widths, st.integers(0, 10**9), st.integers(0, 400))
def test_columns_are_found_where_they_are(kinds: list[int], first: int, count: int) -> None:
    columns = ColumnWidths(kinds)
    last = first + count
    left = columns.between(first, last)
    assert left == sum(kinds[column % len(kinds)] for column in range(first, last))
    assert columns.at(first, left) == last
    assert columns.at(first, left + columns.width(last) - 1) == last
    assert columns.at(first, left + columns.width(last)) == last + 1
    assert columns.between(last, first) == -left


@given(widths, st.integers(1, 1000), st.integers(0, 2000))
def test_a_page_fits_at_the_end(kinds: list[int], count: int, room: int) -> None:
    columns = ColumnWidths(kinds)
    page = columns.page(count, room)
    assert page == 1 or columns.between(count - page, count) <= room
    assert columns.between(count - page - 1, count) > room or page == 1


@given(widths, st.integers(0, 100), st.integers(0, 60), st.integers(1, 900))
def test_a_column_is_seen_whole(kinds: list[int], first: int, more: int, room: int) -> None:
    columns = ColumnWidths(kinds)
    begin = columns.first_to_see(first, first + more, room)
    assert first <= begin <= first + more
    assert begin == first + more or columns.between(begin, first + more + 1) <= room
    assert begin == first or columns.between(begin - 1, first + more + 1) > room


@given(widths, st.integers(0, 20), st.integers(0, 12), st.integers(1, 3000))
def test_a_border_follows_the_pointer(kinds: list[int], first: int, more: int, distance: int) -> None:
    columns, column = ColumnWidths(kinds), first + more
    width = columns.resized(first, column, distance)
    new = list(kinds)
    new[column % len(kinds)] = width
    border = sum(new[each % len(new)] for each in range(first, column + 1))
    assert border <= distance < border + column - first + 1
