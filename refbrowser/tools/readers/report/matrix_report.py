"""Readers by arrays as JSON, and as an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from refbrowser.engine.readers.matrix import ArrayGroup, Cell, Matrix, ReaderVersion
from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.engine.readers.rules import Remedy
from refbrowser.tools.readers.report.matrix_words import remedy_command
from refbrowser.tools.readers.report.trial_words import CheckedTrial, checked_trials

#: The exit codes where a reader that was asked for cannot read something, and where that is not known.
CANNOT, NOT_KNOWN = 2, 5


class Failure(NamedTuple):
    """Arrays that a reader that was asked for does not read, or of which that is not known."""

    column: ReaderVersion
    group: ArrayGroup
    cell: Cell


def failures(matrix: Matrix) -> Iterator[Failure]:
    """Yield what readers that were asked for by name do not read; nothing where none was."""
    if not matrix.is_asked:
        return
    for number, column in enumerate(matrix.columns):
        for group in matrix.groups:
            cell = group.cells[number]
            if cell.verdict is not ReaderVerdict.DECODES:
                yield Failure(column, group, cell)


def failed_trials(matrix: Matrix) -> list[CheckedTrial]:
    """Return the trials of readers that were asked for in which one did not read."""
    if not matrix.is_asked:
        return []
    return [each for each in checked_trials(matrix) if not each.trial.verdict.reads]


def exit_code(matrix: Matrix) -> int:
    """Return 0, 2 where a reader that was asked for cannot read an array, or 5 where that is not known."""
    reads = {failure.cell.verdict.reads for failure in failures(matrix)}
    if False in reads or failed_trials(matrix):
        return CANNOT
    return NOT_KNOWN if None in reads else 0


def matrix_json(matrix: Matrix) -> dict[str, Any]:
    """Return the matrix as a JSON object."""
    return {
        "document": matrix.document,
        "exit_code": exit_code(matrix),
        "readers": [
            {
                "name": reader.name,
                "title": reader.title,
                "version": version,
                "verdict": str(matrix.verdict(number)),
            }
            for number, (reader, version) in enumerate(matrix.columns)
        ],
        "arrays": [_group_json(matrix, group) for group in matrix.groups],
        "tried": [
            {
                "reader": each.trial.reader,
                "version": each.trial.version,
                "array": each.trial.array,
                "verdict": str(each.trial.verdict),
                "reason": each.trial.reason,
                "expected": str(each.expected),
                "agrees": each.agrees,
            }
            for each in checked_trials(matrix)
        ],
    }


def _group_json(matrix: Matrix, group: ArrayGroup) -> dict[str, Any]:
    return {
        "paths": list(group.arrays),
        "features": sorted(group.features),
        "verdicts": [
            {
                "reader": reader.name,
                "version": version,
                "verdict": str(cell.verdict),
                "causes": [
                    {
                        "features": list(cause.features),
                        "verdict": str(cause.verdict),
                        "reason": cause.reason,
                        "source": cause.source,
                    }
                    for cause in cell.causes
                ],
                "remedy": _remedy_json(cell.remedy, matrix.document),
            }
            for (reader, version), cell in zip(matrix.columns, group.cells, strict=True)
        ],
    }


def _remedy_json(remedy: Remedy | None, path: str) -> dict[str, Any] | None:
    if remedy is None:
        return None
    return {"words": remedy.words, "command": remedy_command(remedy, path)}
