"""What the tests of Awkward 0 share; with it their helpers in this folder are found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from awkward0_environment import Awkward0Process


@pytest.fixture(scope="session")
def awkward0() -> Iterator[Awkward0Process]:
    """awkward0 in an old environment; its tests are skipped where it cannot be had."""
    process = Awkward0Process()
    yield process
    process.close()
