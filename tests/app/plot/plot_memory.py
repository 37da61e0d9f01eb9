"""A document in memory, and a session that a test holds back, fails or lets go chunk by chunk."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from refbrowser.app.tasks.tasks import Tasks
from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.plan import Request
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.model.values import Chunks

Fate = PartState | RefbrowserError


class MemoryManifest:
    """Keys, and references that differ by `place`."""

    def __init__(self, path: str, place: int = 0) -> None:
        self.path = path.strip("/")
        self.place = place

    def columns(self, coords: np.ndarray) -> ReferenceColumns:
        count = len(coords)
        return ReferenceColumns(
            np.full(count, ReferenceKind.RANGE, np.uint8),
            np.zeros(count, np.int32),
            np.full(count, self.place, np.int64),
            np.ones(count, np.int64),
            ("a.dat",),
        )

    def key(self, coords: tuple[int, ...]) -> str:
        return f"{self.path}/{'.'.join(map(str, coords)) or '0'}"


def array(
    path: str,
    values: np.ndarray,
    dimensions: tuple[str, ...] = (),
    chunks: tuple[int, ...] | None = None,
    **attributes: Any,
) -> tuple[ArrayNode, np.ndarray]:
    """Return the node of an array, and its values."""
    fill = attributes.pop("fill_value", None)
    return (
        ArrayNode(
            path=path,
            shape=values.shape,
            type=DataType.of(values.dtype, values.dtype.str),
            dimensions=dimensions,
            values=Chunks(
                grid=RegularChunkGrid(values.shape, chunks or tuple(max(1, n) for n in values.shape)),
                manifest=MemoryManifest(path),  # type: ignore[arg-type]
            ),
            fill_value=fill,
            attributes=attributes,
        ),
        values,
    )


class MemorySession:
    """Reads arrays from memory, in chunks.

    Attributes
    ----------
    fate
        Called with path and chunk coordinates: `DONE`, `MISSING`, or the error that the chunk ends with.
    gate
        Cleared by a test to hold back every chunk for which `held` is true.
    reads
        Path and selection of each read.
    url
        Where every chunk lies, for plans.
    """

    def __init__(self, values: Mapping[str, np.ndarray]) -> None:
        self.values = dict(values)
        self.fate: Callable[[str, tuple[int, ...]], Fate] = lambda path, coords: PartState.DONE
        self.held: Callable[[str, tuple[int, ...]], bool] = lambda path, coords: True
        self.gate = threading.Event()
        self.gate.set()
        self.error: RefbrowserError | None = None
        self.delay = 0.0
        self.reads: list[tuple[str, Any]] = []
        self.url = "a.dat"

    def plan(self, node: ArrayNode, access: object, selection: Any) -> Any:
        """Return a plan of one request of 1,000 bytes for each chunk."""
        chunks = node.grid.count(selection)
        requests = [Request(self.url, at * 1000, at * 1000 + 1000) for at in range(chunks)]
        none = dict.fromkeys(("missing_chunks", "inline_chunks", "faulty_chunks"), 0)
        return SimpleNamespace(requests=requests, chunks=chunks, **none)

    def read(
        self,
        node: ArrayNode,
        access: object,
        selection: Any,
        *,
        out: np.ndarray | None = None,
        on_part: Callable[[EndedPart], None] | None = None,
        cancel: Any = None,
        progress: Any = None,
        priority: int = 0,
        passing: bool = False,
    ) -> np.ndarray:
        self.reads.append((node.path, selection))
        if self.error is not None:
            raise self.error
        if out is None:
            out = np.empty(selection.shape, node.dtype)
        box = selection.box(out)
        for number, part in enumerate(node.grid.parts(selection)):
            while not self.gate.is_set() and self.held(node.path, part.coords):
                cancel.check()
                time.sleep(0.002)
            if cancel is not None:
                cancel.check()
            if self.delay and number % 64 == 0:
                time.sleep(self.delay)
            self._end(node, part, box, on_part)
        return out

    def _end(self, node: ArrayNode, part: Any, box: np.ndarray, on_part: Any) -> None:
        fate = self.fate(node.path, part.coords)
        error = fate if isinstance(fate, RefbrowserError) else None
        if error is not None and on_part is None:
            raise error
        if fate is PartState.MISSING:
            box[part.target] = 0 if node.fill_value is None else node.fill_value
        elif error is None:
            origin = node.grid.origin(part.coords)
            where = tuple(
                slice(start + inside.start, start + inside.stop, inside.step)
                for start, inside in zip(origin, part.inside, strict=True)
            )
            box[part.target] = self.values[node.path][where]
        if on_part is not None:
            on_part(EndedPart(part, PartState.FAILED if error is not None else fate, error))


class MemoryDocument(QObject):
    """What the plot pane uses of an opened document."""

    hierarchyChanged = Signal()
    trustChanged = Signal()
    _numbers = itertools.count(1)

    def __init__(self, tasks: Tasks, *arrays: tuple[ArrayNode, np.ndarray]) -> None:
        super().__init__()
        self.tasks = tasks
        self.number = next(self._numbers)
        nodes = {node.name: node for node, _values in arrays}
        self.session = MemorySession({node.path: values for node, values in arrays})
        self.set_nodes(nodes)

    def set_nodes(self, nodes: Mapping[str, ArrayNode]) -> None:
        self.hierarchy = Hierarchy(root=GroupNode(arrays=nodes), format="refs-v1")
        self.dataset: Any = SimpleNamespace(
            session=self.session,
            access=Access("/", from_network=False),
            hierarchy=self.hierarchy,
            path="memory",
            document=SimpleNamespace(made_from=lambda _origin: None),
        )

    def owner(self, what: str) -> str:
        return f"{what}:{self.number}"

    def node(self, name: str) -> ArrayNode:
        found = self.hierarchy.find(name)
        assert isinstance(found, ArrayNode)
        return found


def source_error(key: str = "field/0.0") -> RefbrowserError:
    """Return the error of a chunk whose server fails."""
    return RefbrowserError(
        ErrorKind.SOURCE,
        "the server answered 404",
        Place(key=key, url="https://example.invalid/a"),
        "Ask the provider",
    )


def blocked_error() -> RefbrowserError:
    """Return the error of a chunk whose origin is not allowed."""
    return RefbrowserError(ErrorKind.BLOCKED, "https://example.invalid is not allowed yet")
