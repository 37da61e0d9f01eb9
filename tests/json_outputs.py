"""Holds what verbs print with ``--json`` against the schemas that are published, in every test."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import refbrowser.cli.console as console
import refbrowser.cli.program as program
from refbrowser.tools.schema.schemas import schema_names, schema_text

#: Larger ones are lists of the same things, and would take long.
_MOST = 100_000


@cache
def validator_of(name: str) -> Any:
    """Return what validates a value against the schema of a verb."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema_text(name)))


def faults(name: str, value: Any) -> list[str]:
    """Return what of a value is not as the schema of a verb has it."""
    return [f"{name}: {fault.json_path}: {fault.message[:400]}" for fault in _leaves(name, value)]


def _leaves(name: str, value: Any) -> list[Any]:
    from jsonschema.exceptions import best_match

    found = list(validator_of(name).iter_errors(value))
    return [best_match([fault]) for fault in found]


class Watched:
    """What was printed, and was not as published, since it was last asked for."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._verb = ""

    def watch(self) -> None:
        """Look at all that verbs print from now on; before any of them is loaded.

        An environment that was made before jsonschema was among what tests need goes without.
        """
        if find_spec("jsonschema") is None:
            return
        console.write_json = self._watching(console.write_json)
        run = program._run_verb

        def noting(tool: Any, arguments: list[str], token: Any) -> int:
            before, self._verb = self._verb, tool.name
            try:
                return run(tool, arguments, token)
            finally:
                self._verb = before

        program._run_verb = noting

    def _watching(self, write: Callable[[Any], None]) -> Callable[[Any], None]:
        def looked_at(value: Any) -> None:
            write(value)
            if console.MANNER.is_json and self._verb in schema_names():
                text = json.dumps(value)
                if len(text) < _MOST:
                    self.faults += faults(self._verb, json.loads(text))

        return looked_at

    def taken(self) -> list[str]:
        """Return what was found, and forget it."""
        found, self.faults = self.faults, []
        return found


WATCHED = Watched()
