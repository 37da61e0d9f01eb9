"""Reading many buffers at a time: coroutines that ask for elements, and what reads for all that wait.

A table of forty columns in an archive on a server is forty buffers; one after the other they would take forty
round trips. So the rows of a layout are made by coroutines: those of the fields of a record go on side by
side, and what all of them wait for is read together.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.nested import Buffer, BufferPart, BufferReader

Step = Coroutine[Any, Any, Any]
#: What awkward raises of contents that do not fit into each other.
_UNFIT = (ArithmeticError, AssertionError, LookupError, NotImplementedError, TypeError, ValueError)


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """Asks for elements of a buffer; `await` gives them, stretch after stretch."""

    buffer: Buffer
    runs: Sequence[tuple[int, int]]

    def __await__(self) -> Generator[Elements, npt.NDArray[Any], npt.NDArray[Any]]:
        return (yield self)


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Asks for the results of several coroutines; one that fails gives its error."""

    steps: Sequence[Step]

    def __await__(self) -> Generator[Together, list[Any], list[Any]]:
        return (yield self)


async def all_of(*steps: Step) -> list[Any]:
    """Return the results of coroutines that go on side by side.

    Raises
    ------
    RefbrowserError
        Of the first that failed.
    """
    results = await Together(steps)
    for result in results:
        if isinstance(result, RefbrowserError):
            raise result
    return results


@dataclass(slots=True, eq=False)
class _Task:
    """A coroutine that was started, and whom its result is for."""

    step: Step
    above: _Task | None = None
    place: int = 0
    waits_for: int = 0
    results: list[Any] = field(default_factory=list)
    value: Any = None


def run(step: Step, reader: BufferReader) -> Any:
    """Return the result of a coroutine.

    Raises
    ------
    RefbrowserError, Cancelled
        As the coroutine or the reader.
    """
    first = _Task(step)
    tasks = [first]
    ready, waiting = [first], list[tuple[_Task, Elements]]()
    try:
        while True:
            while ready:
                task = ready.pop()
                asked = _next(task)
                if isinstance(asked, Elements):
                    waiting.append((task, asked))
                elif isinstance(asked, Together):
                    below = [_Task(each, task, place) for place, each in enumerate(asked.steps)]
                    task.waits_for, task.results = len(below), [None] * len(below)
                    task.value = task.results
                    tasks += below
                    ready += reversed(below) if below else [task]
                elif task.above is None:
                    if isinstance(task.value, RefbrowserError):
                        raise task.value
                    return task.value
                else:
                    above = task.above
                    above.results[task.place] = task.value
                    above.waits_for -= 1
                    if not above.waits_for:
                        ready.append(above)
            _read(waiting, reader)
            ready = [task for task, _ in reversed(waiting)]
            waiting = []
    finally:
        for task in tasks:
            task.step.close()


def _next(task: _Task) -> Any:
    """Go on with a task; returns what it asks for, or None where it has ended."""
    value, task.value = task.value, None
    try:
        if isinstance(value, RefbrowserError):
            return task.step.throw(value)
        return task.step.send(value)
    except StopIteration as end:
        task.value = end.value
    except RefbrowserError as error:
        task.value = error
    except _UNFIT as error:
        message = f"values of this kind cannot be held: {quoted(error)}"
        task.value = RefbrowserError(ErrorKind.SCHEMA, message)
    return None


def _read(waiting: Sequence[tuple[_Task, Elements]], reader: BufferReader) -> None:
    """Give each task what it waits for."""
    parts = [BufferPart(asked.buffer, *run) for _, asked in waiting for run in asked.runs]
    answers = iter(reader.read_all(parts))
    for task, asked in waiting:
        found: list[Any] = [next(answers) for _ in asked.runs]
        failed = next((each for each in found if isinstance(each, RefbrowserError)), None)
        task.value = failed or (found[0] if len(found) == 1 else np.concatenate(found))
