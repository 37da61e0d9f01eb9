"""A format of another package, all of it: one array of numbers behind a line of text that gives its sides.

``GRID 3 4``, a line end, and 12 doubles, little-endian. Tests find it by an entry point.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import foreign_packages
import numpy as np
import numpy.typing as npt
import pytest

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.exporting.exporter import Target
from refbrowser.exporting.option_fields import ExportOptions
from refbrowser.exporting.request import ExportEstimate, ExportRequest, Loss, Tally
from refbrowser.findings.finding import Finding, FindingKind
from refbrowser.formats.format import Format, Opened, Opening, Page, Written
from refbrowser.formats.option_fields import Kind, documented, option
from refbrowser.formats.registry import GROUP, foreign
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.values import Chunks
from refbrowser.references.content.origins import FileOrigin
from refbrowser.references.document.manifest import ManifestBuilder

GRID = Format(
    name="textgrid",
    title="Text grid",
    holds="text grids",
    opener="fixture_format:open_grid",
    options="fixture_format:GridReading",
    suffixes=(".grid",),
    begins=(b"GRID ",),
    writes=(
        Written(
            "textgrid",
            "Text grid, one array",
            ".grid",
            "fixture_format:GridTarget",
            options="fixture_format:GridOptions",
            unit="number",
        ),
    ),
    facets={
        "check": "fixture_format:found_below_zero",
        "document": "fixture_format:known_of_grid",
        "commands": "fixture_format:grid_commands",
    },
    pages=(Page(name="grid", made="fixture_format:grid_page", title="&Grid", tip="Show the grid as text"),),
)
#: All that it adds to the window fails, each in its own way.
BROKEN = replace(
    GRID,
    name="brokengrid",
    title="Broken grid",
    opener="fixture_format:open_broken",
    writes=(),
    facets={"document": "fixture_format:fails", "commands": "fixture_format:broken_commands"},
    pages=(
        Page(name="unmade", made="fixture_format:fails", title="Unmade"),
        Page(name="unshown", made="fixture_format:broken_page", title="Unshown"),
    ),
)


@dataclass(frozen=True, slots=True)
class GridReading:
    """How a grid is read."""

    skip: int = field(
        default=0,
        metadata=option(
            "--grid-skip NUMBER", "leave out so many rows at the top of a grid", kind=Kind.NUMBER
        ),
    )


def open_broken(opening: Opening) -> Opened:
    """Open a grid of which the window can show nothing more."""
    return open_grid(opening, BROKEN.name)


def open_grid(opening: Opening, name: str = "textgrid") -> Opened:
    """Open a grid: each of its rows is a chunk, a range of the file."""
    path = os.path.realpath(opening.seen.local or "")
    with open(path, "rb") as file:
        line = file.readline(80)
    sides = [int(word) for word in line.split()[1:]]
    sides[:1] = [side - opening.chosen(GridReading).skip for side in sides[:1]]
    if not sides or min(sides) < 1:
        raise RefbrowserError(ErrorKind.FORMAT, "a grid has at least one side", Place(document=opening.path))
    chunks = Chunks(grid=RegularChunkGrid(tuple(sides), (1, *sides[1:])))
    manifest = ManifestBuilder(path)
    manifest.add_node(GroupNode())
    number = DataType.of(np.dtype("<f8"))
    fields = {"shape": tuple(sides), "type": number, "values": chunks, "fill_value": np.float64("nan")}
    manifest.add_node(ArrayNode(path="/values", **fields))
    skip, size = opening.chosen(GridReading).skip, 8 * int(np.prod(sides[1:]))
    line += bytes(skip * size)
    rows = np.arange(sides[0])
    coords = np.stack([rows, *[np.zeros_like(rows)] * (len(sides) - 1)], axis=1)
    manifest.add_ranges("values/", coords, len(line) + rows * size, np.full(len(rows), size))
    document = manifest.document(name=opening.path, origin=FileOrigin(path, name))
    return Opened(document, Access.for_document(path, opening.allow, opening.settings), opening.identity())


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class GridOptions(ExportOptions):
    """How a grid is written."""

    heading = "how textgrid is written"
    only = "decimals are chosen for textgrid only"
    called = "Grid"

    decimals: int = field(
        default=15,
        metadata=option(
            "--grid-decimals NUMBER",
            "of the numbers of a grid, at most",
            kind=Kind.NUMBER,
            limits=(0, 15),
            unit="digits",
            title="Decimals of the grid",
            label="&Decimals",
        ),
    )


class GridTarget(Target):
    """A grid: it has one array."""

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        super().__init__(dataset, request)
        self.options = request.chosen(GridOptions)
        paths = request.paths or tuple(dataset.arrays)
        if len(paths) != 1:
            raise RefbrowserError(ErrorKind.USAGE, f"a grid has one array, not {len(paths)}")
        self.array = dataset.arrays[paths[0]]
        others = self.array.node.attributes
        self.losses = [Loss(paths[0], "a grid has no attributes")] if others else []

    def values(self) -> npt.NDArray[np.float64]:
        """Return the numbers that are written."""
        return np.round(self.array[...].astype("<f8"), self.options.decimals)

    def cost(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost."""
        count = int(np.prod(self.array.shape))
        return ExportEstimate(count, 0, 8 * count, 8 * count)

    def write(self, made: BinaryIO, tally: Tally, control: JobControl) -> None:
        """Write the line and the numbers."""
        self._values = self.values()
        made.write(b"GRID " + " ".join(map(str, self._values.shape)).encode() + b"\n")
        tally.written_bytes = made.write(self._values.tobytes())
        tally.chunks = self._values.size

    def verify(self, made: BinaryIO, tally: Tally, control: JobControl) -> int:
        """Read the numbers again."""
        made.seek(-tally.written_bytes, os.SEEK_END)
        if made.read() != self._values.tobytes():
            raise RefbrowserError(ErrorKind.IO, "verification failed")
        return self._values.size


# In the window: what needs Qt is made in functions, so that no other test needs it.


BELOW_ZERO = FindingKind(
    code="grid-below-zero",
    level="set",
    severity=Severity.WARNING,
    error=ErrorKind.FORMAT,
    title="numbers below zero",
    meaning="readers of grids may take them for missing",
    advice="Write the grid again.",
)


def found_below_zero(dataset: Dataset, control: JobControl) -> list[Finding]:
    """Return a warning for a grid with numbers below zero."""
    if float(np.min(dataset.arrays["/values"][...])) >= 0:
        return []
    return [BELOW_ZERO.finding("the grid has numbers below zero")]


def known_of_grid(document: Any) -> Any:
    """Return what is known of a grid that is open: one may follow it as it grows."""
    from refbrowser.app.controller.document_files import FormatPart

    class GridPart(FormatPart):
        called = "the grid"

        @property
        def grows(self) -> bool:
            return True

        def size_words(self) -> str:
            return "more numbers"

    return GridPart(document)


def grid_page(host: Any) -> Any:
    """Return a page: the path of the file in a tab, and in a bar how many rows it has."""
    from PySide6.QtWidgets import QLabel

    from refbrowser.app.workspace.format_page import FormatPage

    class GridPage(FormatPage):
        def __init__(self) -> None:
            self.pane, self.bar = QLabel(), QLabel()
            super().__init__(host, self.pane, (self.bar,))
            self.bar.hide()

        def set_document(self, document: Any) -> None:
            self.bar.setVisible(document is not None)
            if document is not None:
                self.pane.setText(document.path)
                self.bar.setText(f"{document.dataset.arrays['/values'].shape[0]} rows")

    return GridPage()


def grid_commands(host: Any) -> Any:
    """Return the commands: one, which says how many rows there are."""
    from refbrowser.app.actions.action_spec import ActionSpec
    from refbrowser.app.workspace.command_group import CommandGroup

    class GridCommands(CommandGroup):
        actions = (ActionSpec("count_rows", "Count &rows", when="is_grid", menu="&Tools", submenu="&Grids"),)

        def table(self) -> dict[str, Any]:
            return {"count_rows": lambda: host.say("counted")}

        def conditions(self) -> dict[str, bool]:
            return {"is_grid": True}

    return GridCommands(host)


def fails(host: Any) -> Any:
    """Make nothing of what is wanted."""
    raise RuntimeError("nothing is made here")


def broken_page(host: Any) -> Any:
    """Return a page that is made, and fails with the first document."""
    from PySide6.QtWidgets import QLabel

    from refbrowser.app.workspace.format_page import FormatPage

    class BrokenPage(FormatPage):
        def set_document(self, document: Any) -> None:
            self.bars[0].show()
            raise KeyError("grid")

    bar = QLabel("never seen")
    bar.setObjectName("brokenBar")
    return BrokenPage(host, QLabel(), (bar,))


def broken_commands(host: Any) -> Any:
    """Return commands that cannot tell when they can be used."""
    from refbrowser.app.actions.action_spec import ActionSpec
    from refbrowser.app.workspace.command_group import CommandGroup

    class BrokenCommands(CommandGroup):
        actions = (ActionSpec("break_grid", "&Break", when="can_break", menu="&Data"),)

        def table(self) -> dict[str, Any]:
            return {"break_grid": lambda: None}

        def conditions(self) -> dict[str, bool]:
            raise ZeroDivisionError("who knows")

    return BrokenCommands(host)


def written_grid(path: Path, values: npt.NDArray[np.float64]) -> Path:
    """Write a grid."""
    path.write_bytes(b"GRID " + " ".join(map(str, values.shape)).encode() + b"\n" + values.tobytes())
    return path


def found(monkeypatch: pytest.MonkeyPatch, *values: str) -> AbstractContextManager[None]:
    """Let these be what entry points of the group lead to."""
    return foreign_packages.found(monkeypatch, GROUP, foreign, *values)
