"""A classic netCDF file that gets more records while it is open is followed; edits are never lost by that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.edits import SetMetadata

#: The watcher looks at files a few times a second.
WATCHED = 15_000


@pytest.mark.slow
def test_a_file_with_more_records_is_followed(
    window: MainWindow, opened: Open, settle: Callable[[], None], tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "run.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("y", 4)
        file.createDimension("x", 5)
        file.createVariable("time", "f8", ("time",))[:] = [0, 1]
        file.createVariable("v", "f4", ("time", "y", "x"))[:] = np.arange(40).reshape(2, 4, 5)

    def add() -> None:
        with netCDF4.Dataset(path, "a") as file:
            count = len(file.dimensions["time"])
            file["time"][count] = count
            file["v"][count] = np.full((4, 5), count)

    def records() -> int:
        assert document.hierarchy is not None
        return int(document.hierarchy.find("/v").shape[0])  # type: ignore[union-attr]

    document = opened(path)
    settle()
    assert (document.file.grows, document.part.size_words()) == (True, "2 records")
    add()
    qtbot.waitUntil(lambda: document.is_open and records() == 3, timeout=WATCHED)
    settle()
    assert document.part.size_words() == "3 records"
    assert document.dataset is not None
    assert document.dataset["/v"][2, 0, 0] == 2
    assert not window.centre.disk_bar.isVisibleTo(window)
    document.apply(SetMetadata("v/.zattrs", {"units": "K", "_ARRAY_DIMENSIONS": ["time", "y", "x"]}))
    settle()
    add()
    qtbot.waitUntil(lambda: window.centre.disk_bar.isVisibleTo(window), timeout=WATCHED)
    assert records() == 3
    assert document.is_pending


@pytest.mark.slow
def test_a_file_of_netcdf4_that_grows_is_followed_too(
    opened: Open, settle: Callable[[], None], tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "run.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createVariable("v", "f4", ("time",))[:] = [0, 1]
    document = opened(path)
    settle()
    assert (document.file.grows, document.part.size_words()) == (True, "2 records")
    with netCDF4.Dataset(path, "a") as file:
        file["v"][2] = 5
    qtbot.waitUntil(lambda: document.is_open and document.part.size_words() == "3 records", timeout=WATCHED)
    assert document.dataset is not None
    assert document.dataset["/v"][...].tolist() == [0, 1, 5]
