"""What the tests of streams with variables of many kinds share."""

from __future__ import annotations

from pathlib import Path

import pytest
from kinds_stream import write_kinds


@pytest.fixture
def kinds(tmp_path: Path) -> Path:
    """A stream with a variable of each kind."""
    return write_kinds(tmp_path / "kinds.ncs")
