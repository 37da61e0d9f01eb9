"""One test for many cases: all are run, those that fail are named. A test for each would cost more."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest


def looped(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each case, as ``pytest.mark.parametrize`` would, but as one test.

    Each case has a temporary folder of its own. What a case skips is skipped; the test is if all cases are.
    """
    arguments = [name.strip() for name in names.split(",")]
    cases = list(cases)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        def loop(**fixtures: Any) -> None:
            failures, skipped = [], []
            folder: Path | None = fixtures.get("tmp_path")
            for number, case in enumerate(cases):
                values = case if len(arguments) > 1 else [case]
                if folder:
                    fixtures["tmp_path"] = folder / str(number)
                    fixtures["tmp_path"].mkdir()
                try:
                    test(**dict(zip(arguments, values, strict=True)), **fixtures)
                except pytest.skip.Exception as skip:
                    skipped.append(skip)
                except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - raised below
                    failure.add_note(f"Case {number}: {', '.join(map(_named, values))}")
                    failures.append(failure)
            if failures:
                raise failures[0] if len(failures) == 1 else BaseExceptionGroup(test.__name__, failures)
            if cases and len(skipped) == len(cases):
                raise skipped[0]

        loop.__name__, loop.__doc__, loop.__module__ = test.__name__, test.__doc__, test.__module__
        loop.__signature__ = signature.replace(
            parameters=[value for name, value in signature.parameters.items() if name not in arguments]
        )
        loop.pytestmark = getattr(test, "pytestmark", [])
        return loop

    return decorate


def _named(value: Any) -> str:
    return str(getattr(value, "name", value))[:200]
