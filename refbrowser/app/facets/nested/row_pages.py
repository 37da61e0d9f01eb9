"""Rows of a nested array as they are needed: read by page off the GUI thread, the newest ones kept."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.widgets.parts import one_shot
from refbrowser.engine.nested.reading import read_rows
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import Cancelled
from refbrowser.views.nested.nested_tally import NOT_OF_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refbrowser.app.plot.reader import PlotSource
    from refbrowser.app.shell.tasks import TaskControl
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken
    from refbrowser.model.nested import NestedRows
    from refbrowser.model.nodes import ArrayNode

#: Rows that are read together, and pages that are kept.
PAGE, PAGES_KEPT = 64, 64
#: Turns of a cycle that are read with a row; further down it says so.
TURNS = 50
#: While scrolling, rows are asked for this often, in milliseconds.
PACE = 30


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows from `start` to `stop`, or why they cannot be read."""

    start: int
    stop: int
    rows: NestedRows | None
    error: BaseException | None = None


class RowPages(QObject):
    """Keeps pages of rows of one array.

    Signals
    -------
    changed()
        More rows are there.
    ended()
        All that was wanted is read.
    """

    changed = Signal()
    ended = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._source: PlotSource | None = None
        self._node: ArrayNode | None = None
        self._pages: OrderedDict[int, list[Block]] = OrderedDict()
        self._wanted: set[int] = set()
        self._reading: set[int] = set()
        self._soon = one_shot(self, PACE, self._read)

    def set_array(self, source: PlotSource | None, node: ArrayNode | None) -> None:
        """Read from another array, and forget what was read."""
        self._stop()
        self._source, self._node = source, node
        self.forget()

    def forget(self) -> None:
        """Forget what was read; it is asked for again when it is seen."""
        self._pages.clear()
        self._wanted.clear()

    def block(self, row: int) -> Block | None:
        """Return the rows around one; None where they are not there yet, they are wanted then."""
        number = row // PAGE
        page = self._pages.get(number)
        if page is None:
            self._want(number)
            return None
        self._pages.move_to_end(number)
        return next((block for block in page if block.start <= row < block.stop), None)

    def is_settled(self) -> bool:
        """Whether all that was wanted is read."""
        return not (self._wanted or self._reading)

    def first_error(self) -> BaseException | None:
        """Return why nothing at all can be read; None where something can, or is still to come."""
        blocks = [block for page in self._pages.values() for block in page]
        if not blocks or any(block.rows is not None for block in blocks):
            return None
        return blocks[0].error

    # Reading

    def _want(self, number: int) -> None:
        if number not in self._reading:
            self._wanted.add(number)
            if not self._soon.isActive():
                self._soon.start()

    def _read(self) -> None:
        source, node = self._source, self._node
        dataset = None if source is None else source.dataset
        if source is None or node is None or node.nested is None or dataset is None or not self._wanted:
            self._wanted.clear()
            return
        # What was asked for before, and is not seen any more, is asked for again when it is.
        pages, self._wanted = sorted(self._wanted), set()
        self._reading = set(pages)
        length = node.nested.length

        def read(control: TaskControl) -> None:
            for done, number in enumerate(pages):
                control.progress(done, len(pages))
                start, stop = number * PAGE, min((number + 1) * PAGE, length)
                try:
                    blocks = list(_blocks(dataset, node, start, stop, control.token))
                except Cancelled as cancelled:
                    # A cancelled task tells nothing of its own; rows must not be waited for.
                    for left in pages[done:]:
                        control.send((left, [Block(left * PAGE, (left + 1) * PAGE, None, cancelled)]))
                    raise
                control.send((number, blocks))

        source.tasks.run(
            source.owner("nested"),
            f"Read rows of {node.path}",
            read,
            self._done,
            self._failed,
            received=self._take,
        )

    def _take(self, page: tuple[int, list[Block]]) -> None:
        number, blocks = page
        self._reading.discard(number)
        self._pages[number] = blocks
        while len(self._pages) > PAGES_KEPT:
            self._pages.popitem(last=False)
        self.changed.emit()

    def _done(self, _none: None) -> None:
        self._reading.clear()
        if not self._wanted:
            self.ended.emit()

    def _failed(self, error: BaseException) -> None:
        """Note what went wrong for all that was being read."""
        for number in self._reading:
            self._pages[number] = [Block(number * PAGE, (number + 1) * PAGE, None, error)]
        self._reading.clear()
        self.changed.emit()
        self.ended.emit()

    def _stop(self) -> None:
        self._soon.stop()
        self._reading.clear()
        if self._source is not None:
            self._source.tasks.cancel_owner(self._source.owner("nested"))


def _blocks(dataset: Dataset, node: ArrayNode, start: int, stop: int, token: CancelToken) -> Iterator[Block]:
    """Yield rows; where they cannot be read together, those that can be read alone."""
    access = dataset.access.at_once()
    try:
        yield Block(start, stop, read_rows(dataset.session, node, access, start, stop, token, turns=TURNS))
    except RefbrowserError as error:
        if error.kind in NOT_OF_ROWS or stop - start < 2:
            yield Block(start, stop, None, error)
            return
        middle = (start + stop) // 2
        yield from _blocks(dataset, node, start, middle, token)
        yield from _blocks(dataset, node, middle, stop, token)
