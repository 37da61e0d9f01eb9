"""Fixtures of the engine's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from refbrowser.engine.session import Session
from refbrowser.io.access import Access


@pytest.fixture
def session():
    session = Session(threads=2)
    yield session
    session.close()


@pytest.fixture
def access(tmp_path: Path) -> Access:
    return Access.for_document(tmp_path / "document.json")
