"""What is copied, by shortcut and by action: paths, keys, URLs, values, and Python that runs as pasted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents_of_values import ValueDocument, value_document
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from servers.http_server import HttpServer
from window_fixtures import Open

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import PLOT, RAW, REFERENCES
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.engine.document_keys import written_value
from refbrowser.engine.links import Link
from refbrowser.model.reference import ByteRange, Inline, Missing, WholeFile
from refbrowser.references.edits.edits import SetReference

Settle = Callable[[], None]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "sample" / "sea_surface.json"


class User:
    """Selects, presses keys, and looks at the clipboard."""

    def __init__(self, window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot) -> None:
        self.window, self.opened, self.settle, self.qtbot = window, opened, settle, qtbot
        window.prepare_plot()

    def open(self, path: str | Path, array: str = "") -> OpenDocument:
        self.document = self.opened(path)
        self.settle()
        if array:
            self.show(array)
        return self.document

    def show(self, array: str, tab: int = PLOT) -> None:
        assert self.window.hierarchy.select_node(self.document, array)
        self.window.centre.show_tab(tab)
        self.settle()

    @property
    def plot(self) -> PlotPane:
        plot = self.window.centre.plot
        assert plot is not None
        return plot

    def clipboard_after(self, work: Callable[[], object]) -> str:
        QGuiApplication.clipboard().setText("before")
        work()
        self.qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() != "before")
        self.settle()
        return QGuiApplication.clipboard().text()

    def press(self, widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> str:
        self.window.activateWindow()
        widget.setFocus()
        return self.clipboard_after(lambda: QTest.keyClick(widget, key, modifiers))

    def act(self, name: str) -> str:
        action = self.window.actions_[name]
        assert action.isEnabled()
        return self.clipboard_after(action.trigger)


@pytest.fixture
def user(window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot) -> User:
    return User(window, opened, settle, qtbot)


def run(code: str, folder: Path, *names: str) -> list[np.ndarray]:
    """Run code as it was pasted, by itself and in another folder, and return some of its variables."""
    pytest.importorskip("zarr")
    variables: dict[str, Any] = {}
    with chdir(folder):
        exec(compile(code, "pasted.py", "exec"), variables)
        return [np.asarray(variables[name]) for name in names]


def shown(plot: PlotPane) -> np.ndarray:
    """Return the numbers that the plot draws."""
    picture = plot.picture()
    assert picture is not None
    assert picture.all_done
    from refbrowser.views.plot.interpretation import Interpretation

    return Interpretation(picture.node, plot.is_decoded()).numbers(picture.values)


class TestPaths:
    @pytest.mark.slow
    def test_as_the_command_line_takes_it(self, user: User, tmp_path: Path) -> None:
        path = value_document(tmp_path).write()
        user.open(path, "/cube")
        text = user.press(user.window.hierarchy.tree, Qt.Key.Key_C, CONTROL)
        assert text == f"{path}::/cube"
        assert Link.parse(text) == Link(str(path), "/cube")

    @pytest.mark.slow
    def test_of_the_document(self, user: User, tmp_path: Path) -> None:
        path = value_document(tmp_path).write()
        document = user.open(path)
        model = user.window.hierarchy.model
        user.window.hierarchy.select_index(model.find_identity((document.number, "document", "")))
        assert user.act("copy_path") == str(path)


class TestKeys:
    @pytest.mark.slow
    def test_ctrl_c_copies_a_key_or_rows(self, user: User, tmp_path: Path) -> None:
        user.open(value_document(tmp_path).write(), "/cube")
        user.window.centre.show_tab(REFERENCES)
        table = user.window.centre.references.table
        table.set_current(1)
        key = table.row_text(1)[1]
        assert user.press(table, Qt.Key.Key_C, CONTROL) == key
        QTest.keyClick(table, Qt.Key.Key_Down, SHIFT)
        rows = user.press(table, Qt.Key.Key_C, CONTROL).split("\n")
        assert [row.split("\t")[1] for row in rows] == [key, table.row_text(2)[1]]

    @pytest.mark.slow
    def test_of_the_chunk_under_the_cursor(self, user: User, tmp_path: Path) -> None:
        user.open(value_document(tmp_path).write(), "/cube")
        user.plot.point_at((3, 4))
        assert user.act("copy_key") == "cube/0.0.1.0"
        user.plot.point_at((0, 4))
        assert user.act("copy_url") == "cube.bin"

    @pytest.mark.slow
    def test_of_the_key_that_is_shown_raw(self, user: User, tmp_path: Path) -> None:
        user.open(value_document(tmp_path).write(), "/cube")
        user.window.navigation.show_key("flags/0.1")
        user.settle()
        user.window.centre.show_tab(RAW)
        assert user.act("copy_key") == "flags/0.1"
        assert user.act("copy_value") == '["flags.bin", 4, 4]'

    @pytest.mark.slow
    def test_of_a_row_of_a_rule(self, user: User, small: Path) -> None:
        user.open(small)
        user.window.navigation.show_key("temp/1.0")
        user.settle()
        assert user.act("copy_value") == '["data.bin", 24, 12]'
        assert user.act("copy_url") == "data.bin"

    @pytest.mark.slow
    def test_after_an_edit(self, user: User, small: Path) -> None:
        document = user.open(small)
        document.apply(SetReference("depth/0", ["other.bin", 8, 4]))
        user.settle()
        user.window.navigation.show_key("depth/0")
        user.settle()
        assert user.act("copy_value") == '["other.bin", 8, 4]'

    @pytest.mark.slow
    def test_nothing_meant_says_so(self, user: User, tmp_path: Path) -> None:
        user.open(value_document(tmp_path).write())
        QGuiApplication.clipboard().setText("before")
        user.window.actions_["copy_key"].trigger()
        assert "Select a key" in user.window.status.text()
        assert QGuiApplication.clipboard().text() == "before"


def test_references_as_documents_write_them() -> None:
    assert written_value(ByteRange("a b.nc", 2**40, 7)) == '["a b.nc", 1099511627776, 7]'
    assert written_value(WholeFile("Ærø.nc")) == '["Ærø.nc"]'
    assert written_value(Inline(b'{"a": 1}')) == '{"a": 1}'
    assert written_value(Inline(b"\xff\x00")) == "base64:/wA="
    assert written_value(Inline(b"base64:x")) == "base64:YmFzZTY0Ong="
    assert written_value(Missing()) == written_value(None) == ""


class TestValues:
    @pytest.mark.slow
    def test_under_the_cursor(self, user: User, tmp_path: Path) -> None:
        user.open(value_document(tmp_path).write())
        for array, element, text in (
            ("/cube", (1, 3), "5.8"),
            ("/cube", (1, 2), "NaN"),
            ("/times", (1,), "2020-01-01T06:00:00"),
            ("/line", (1,), "0.25"),
            ("/flags", (0, 2), "2"),
            ("/names", (1,), "Ærø"),
            ("/stations", (1,), "1 bb -30.0 false"),
            ("/waves", (1,), "3-1j"),
        ):
            user.show(array)
            user.plot.point_at(element)
            page = user.plot.page()
            focus = page if page is user.plot.canvas else user.plot.values.table
            assert user.press(focus, Qt.Key.Key_C, CONTROL) == text, array

    def test_a_scalar(self, user: User, tmp_path: Path) -> None:
        user.open(value_document(tmp_path).write(), "/scalar")
        assert user.act("copy_value") == "3.14159265358979"

    def test_the_view(self, user: User, tmp_path: Path) -> None:
        user.open(value_document(tmp_path).write(), "/cube")
        rows = [row.split("\t") for row in user.act("copy_values").split("\n")]
        assert rows[0][0] == r"cube [K] at run 0, lev 0: lat [degrees_north] \ lon [degrees_east]"
        assert rows[0][1:] == ["0.0", "2.0", "4.0", "6.0", "8.0"]
        assert rows[2] == ["20.0", "5.5", "5.6", "", "5.8", "5.9"]
        assert rows[3] == ["30.0", "", "", "", "", ""]

    def test_too_many_are_refused(self, user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from refbrowser.app.commands import values

        user.open(value_document(tmp_path).write(), "/cube")
        monkeypatch.setattr(values, "COPY_CELLS", 3)
        QGuiApplication.clipboard().setText("before")
        user.window.actions_["copy_values"].trigger()
        assert "too many to copy" in user.window.status.text()
        assert QGuiApplication.clipboard().text() == "before"

    def test_the_picture(self, user: User, tmp_path: Path) -> None:
        user.open(value_document(tmp_path).write(), "/cube")
        QGuiApplication.clipboard().clear()
        user.window.actions_["copy_picture"].trigger()
        image = QGuiApplication.clipboard().image()
        assert image.width() > user.plot.canvas.width()


class TestPython:
    def press(self, user: User) -> str:
        return user.press(user.window.hierarchy.tree, Qt.Key.Key_C, CONTROL | SHIFT)

    @pytest.mark.slow
    def test_of_the_sample(self, user: User, tmp_path: Path) -> None:
        user.open(SAMPLE, "/ocean/sst")
        user.plot.set_index(0, 6)
        user.settle()
        code = self.press(user)
        assert "lines of Python copied" in user.window.status.text()
        (values,) = run(code, tmp_path, "values")
        np.testing.assert_allclose(values, shown(user.plot), rtol=1e-6)

    @pytest.mark.slow
    @pytest.mark.parametrize("action", ["copy_python", "copy_xarray"])
    def test_of_real_data(self, user: User, shared_data: Path, tmp_path: Path, action: str) -> None:
        if action == "copy_xarray":
            pytest.importorskip("xarray")
        user.open(shared_data / "real" / "cth.refs.json", "/HT")
        (values,) = run(user.act(action), tmp_path, "values")
        wanted = shown(user.plot)
        assert np.isnan(wanted).any()
        np.testing.assert_allclose(values, wanted, rtol=1e-6)

    @pytest.mark.slow
    def test_turned_and_as_stored(self, user: User, shared_data: Path, tmp_path: Path) -> None:
        user.open(shared_data / "real" / "eraint_uvz.refs.json", "/z")
        user.plot.set_decoded(False)
        user.plot._presenter.choose_x(2)
        user.plot.set_index(1, 2)
        user.settle()
        (values,) = run(user.act("copy_python"), tmp_path, "values")
        wanted = shown(user.plot)
        assert values.shape == wanted.shape == (480, 241)
        assert (values == wanted).all()

    @pytest.mark.slow
    def test_of_an_edited_document_reads_the_file(self, user: User, tmp_path: Path) -> None:
        made = ValueDocument(tmp_path)
        made.add("line", np.arange(4.0), ["x"])
        document = user.open(made.write(), "/line")
        document.apply(SetReference("line/0", ["line.bin", 8, 24]))
        user.settle()
        code = user.act("copy_python")
        assert "# The document has edits that are not saved" in code
        assert "without the unsaved edits" in user.window.status.text()
        (values,) = run(code, tmp_path, "values")
        assert values.tolist() == [0, 1, 2, 3]
        document.undo()

    @pytest.mark.slow
    def test_of_a_document_behind_a_url(self, user: User, tmp_path: Path) -> None:
        pytest.importorskip("aiohttp")
        made = ValueDocument(tmp_path)
        made.add("line", np.arange(4.0), ["x"])
        files = {
            "/d/values.json": made.write().read_bytes(),
            "/d/line.bin": (tmp_path / "line.bin").read_bytes(),
        }
        with HttpServer(files) as server:
            url = server.url("/d/values.json")
            document = user.window.open_path(url, allow=[server.origin])
            user.qtbot.waitUntil(lambda: document.is_open)
            user.document = document
            user.settle()
            user.show("/line")
            assert user.act("copy_path") == f"{url}::/line"
            (values,) = run(user.act("copy_python"), tmp_path, "values")
        assert values.tolist() == [0, 1, 2, 3]

    def test_nothing_shown_is_not_offered(self, user: User, tmp_path: Path) -> None:
        user.open(value_document(tmp_path).write())
        assert user.plot.array() is None
        names = ("copy_python", "copy_xarray", "copy_values", "copy_picture", "export_view")
        assert not [name for name in names if user.window.actions_[name].isEnabled()]
