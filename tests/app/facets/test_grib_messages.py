"""The index of a GRIB file in the window: arrays, or the messages that it lists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from grib_made import message
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.frame.bars import DamageBar
from refbrowser.app.shell.main_window import MainWindow


@pytest.mark.slow
def test_messages_are_shown_in_place_of_arrays(
    window: MainWindow, opened: Open, settle: Callable[[], None], tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "f.grib2").write_bytes(message("regular_ll_pl_grib2", level=500))
    index = tmp_path / "f.grib2.idx"
    index.write_text("1:0:d=2007032312:TMP:500 mb:anl:\n")
    document = opened(index)
    settle()
    action = window.actions_["show_grib_messages"]
    assert action.isEnabled()
    assert not action.isChecked()
    for paths, is_table in ((["messages"], True), ([], False)):
        with qtbot.waitSignal(document.reloaded):
            action.trigger()
        settle()
        assert document.hierarchy is not None
        assert list(document.hierarchy.root.groups) == paths
        assert action.isChecked() is is_table
    assert document.hierarchy.find("/t") is not None


@pytest.mark.slow
def test_other_documents_list_no_messages(window: MainWindow, opened: Open, small: Path) -> None:
    opened(small)
    assert not window.actions_["show_grib_messages"].isEnabled()


@pytest.mark.slow
def test_arrays_are_there_once_their_files_may_be_read(
    window: MainWindow, opened: Open, settle: Callable[[], None], tmp_path: Path, qtbot: QtBot
) -> None:
    pandas, folder = pytest.importorskip("pandas"), tmp_path / "data"
    folder.mkdir()
    data = message("regular_ll_pl_grib2", level=500)
    (folder / "f.grib2").write_bytes(data)
    row = {"varname": "t", "uri": str(folder / "f.grib2"), "offset": 0, "length": len(data), "level": 500.0}
    index = tmp_path / "index" / "k.parquet"
    index.parent.mkdir()
    pandas.DataFrame([row]).to_parquet(index)
    document = opened(index)
    settle()
    # It is asked for what the index names, and the messages are there meanwhile.
    assert document.hierarchy is not None
    assert document.hierarchy.find("/messages/uri") is not None
    assert [(each.kind, str(each.origin), each.allowed) for each in document.wants] == [
        ("folder", str(folder), False)
    ]
    assert window.findChild(DamageBar).isHidden()
    with qtbot.waitSignal(document.reloaded):
        document.allow(document.wants, always=True)
    settle()
    assert document.hierarchy.find("/t").shape == (31, 16)
    assert document.hierarchy.find("/messages") is None
    assert all(each.allowed for each in document.wants)
    # What is allowed for always counts when it is opened the next time.
    window.documents.close(document)
    again = opened(index)
    settle()
    assert again.hierarchy.find("/t").shape == (31, 16)
