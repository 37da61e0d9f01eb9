"""The rows of a nested array as lines of a table, some of them unfolded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from refbrowser.app.widgets.table_models import Column
from refbrowser.views.nested.nested_lines import LineMaker, NestedFolds, NestedLine, NestedPath
from refbrowser.views.nested.nested_values import NestedColumn, NestedValue, columns_of, has_lists

if TYPE_CHECKING:
    from refbrowser.app.facets.nested.row_pages import RowPages
    from refbrowser.model.nodes import ArrayNode

#: Lines that are kept as texts.
LINES_KEPT = 1_024
#: Lines that one key unfolds at most.
UNFOLD_MOST = 10_000


class NestedModel:
    """What a `NestedTable` shows.

    Attributes
    ----------
    folds
        Which lines there are.
    has_length
        Whether the second column says how long lists are.
    """

    def __init__(self, node: ArrayNode, pages: RowPages) -> None:
        assert node.nested is not None
        self.node, self.length = node, node.nested.length
        self.folds = NestedFolds(self.length)
        self.fields = columns_of(node.nested.type)
        self.has_length = has_lists(node.nested.type)
        self._pages = pages
        self._maker = LineMaker(self.fields)
        self._lines: OrderedDict[int, NestedLine] = OrderedDict()
        self.columns: Sequence[Column] = self._titles()

    def _titles(self) -> tuple[Column, ...]:
        digits = len(str(max(0, self.length - 1)))
        first = Column("Row", max(112, 44 + 9 * digits))
        length = (Column("Length", 66, right=True),) if self.has_length else ()
        return (first, *length, *map(_titled, self.fields))

    # What a table asks for

    def row_count(self) -> int:
        """Return the number of lines."""
        return self.folds.lines

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of lines `start` to `stop`."""
        return [self._texts(self.line(line)) for line in range(start, stop)]

    def _texts(self, line: NestedLine) -> list[str]:
        length = ["" if line.length is None else str(line.length)] if self.has_length else []
        return [line.label, *length, *(cell.text for cell in line.cells)]

    # Lines

    def line(self, number: int) -> NestedLine:
        """Return what is on a line; it is wanted where it was not read yet."""
        found = self._lines.get(number)
        if found is None:
            found = self.line_of(self.folds.path(number))
            self._lines[number] = found
            if len(self._lines) > LINES_KEPT:
                self._lines.popitem(last=False)
        return found

    def line_of(self, path: NestedPath) -> NestedLine:
        """Return the line of a value."""
        block = self._pages.block(path[0])
        if block is None:
            return self._maker.pending(path)
        if block.rows is None:
            return self._maker.failed(path)
        return self._maker.line(block.rows, block.start, path)

    def value(self, path: NestedPath) -> NestedValue | None:
        """Return a value; None where it was not read yet, or cannot be."""
        block = self._pages.block(path[0])
        return (
            None if block is None or block.rows is None else self._maker.value(block.rows, block.start, path)
        )

    def error_at(self, path: NestedPath) -> BaseException | None:
        """Return why a row cannot be read."""
        block = self._pages.block(path[0])
        return None if block is None else block.error

    def forget_lines(self) -> None:
        """Make the lines anew: rows have come, or lines were unfolded."""
        self._lines.clear()

    # Unfolding

    def unfold(self, path: NestedPath) -> None:
        """Show what is right below a value."""
        self.folds.unfold(path, self.line_of(path).below)
        self.forget_lines()

    def fold(self, path: NestedPath) -> None:
        """Show nothing below a value."""
        self.folds.fold(path)
        self.forget_lines()

    def fold_all(self) -> None:
        """Show the rows alone."""
        self.folds.fold_all()
        self.forget_lines()

    def unfold_level(self, path: NestedPath) -> bool:
        """Unfold one level more below a value; returns whether all of it could be."""
        level, left = [path], UNFOLD_MOST
        while level:
            closed = [each for each in level if not self.folds.is_open(each)]
            lines = [line for line in map(self.line_of, closed) if line.below]
            for line in lines:
                left -= line.below
                if left < 0:
                    self.forget_lines()
                    return False
                self.folds.unfold(line.path, line.below)
            if lines:
                break
            level = [(*each, child) for each in level for child in range(self.folds.count(each))][
                :UNFOLD_MOST
            ]
        self.forget_lines()
        return True


def _titled(column: NestedColumn) -> Column:
    return Column(column.title, 104 if column.is_number else 150, stretch=1, right=column.is_number)
