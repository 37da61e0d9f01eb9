"""A monkey at the window: seeded random actions on documents whose servers hang, drip, fail and lie."""

from __future__ import annotations

import json
import random
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QElapsedTimer, QMimeData, QObject, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QContextMenuEvent, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QSlider,
    QTabBar,
    QTreeView,
    QWidget,
)
from servers.http_server import Fault, HttpServer
from shiboken6 import isValid

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.edits import RemoveReference, RenameReference, SetReference, SetTemplate

SHAPE, CHUNK = (6, 40, 60), (1, 20, 20)
#: What the servers do wrong; None does nothing wrong.
FAULTS: tuple[Fault | None, ...] = (
    None,
    Fault("silent"),
    Fault("drip", 300),
    Fault("status", 503),
    Fault("shift", 7),
    Fault("truncate", 100),
    Fault("stall", 500),
    Fault("garbage"),
    Fault("ignore_ranges"),
)
#: Words that a monkey types into fields of jinja, numbers, keys and JSON.
WORDS = ("{{", "}}", "{{i}}", "{{i * 9", "0", "-1", "99999999999999999999", "u", "/", '"', "{", " ", ".")
KEYS = (
    *(Qt.Key.Key_Tab, Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up),
    *(Qt.Key.Key_Down, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Space, Qt.Key.Key_L),
    *(Qt.Key.Key_H, Qt.Key.Key_A, Qt.Key.Key_C, Qt.Key.Key_R, Qt.Key.Key_Delete, Qt.Key.Key_Backspace),
)
#: Actions that leave the test: the desktop's dialogs, saving (so that the first bytes stay known), the end.
LEFT_ALONE = frozenset({"quit", "save", "save_as"})


class Gaps(QObject):
    """Records how late a timer of 5 ms comes in the GUI thread, and how much of that the thread worked."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []
        self.works: list[tuple[float, str]] = []
        self.doing = ""
        self._clock = QElapsedTimer()
        self._clock.start()
        self._worked = time.thread_time()
        self._timer = QTimer(self)
        self._timer.setInterval(5)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        worked = time.thread_time()
        self.waits.append(self._clock.nsecsElapsed() / 1e9)
        self.works.append((worked - self._worked, self.doing))
        self._clock.restart()
        self._worked = worked


def make_documents(folder: Path, server: HttpServer) -> list[str]:
    """Write documents that refer to the server, one for each fault, and one that the server itself spoils."""
    values = np.random.default_rng(1).integers(0, 1000, SHAPE).astype("<i2")
    pieces = [
        zlib.compress(np.ascontiguousarray(values[t, y : y + 20, x : x + 20]).tobytes())
        for t in range(6)
        for y in (0, 20)
        for x in (0, 20, 40)
    ]
    width = max(map(len, pieces))
    data = b"".join(piece.ljust(width, b"\0") for piece in pieces)
    paths = []
    for number, fault in enumerate(FAULTS):
        name = f"/data{number}.bin"
        server.files[name] = data
        if fault is not None:
            server.faults[name] = fault
        text = json.dumps(document(server.url(name), width, [len(piece) for piece in pieces]), indent=1)
        path = folder / f"document{number}.json"
        path.write_text(text)
        paths.append(str(path))
    for number, kind in enumerate(("silent", "drip", "truncate")):
        server.files[f"/document{number}.json"] = Path(paths[0]).read_bytes()
        server.faults[f"/document{number}.json"] = Fault(kind, 200)
        paths.append(server.url(f"/document{number}.json"))
    broken = folder / "broken.json"
    broken.write_text('{"version": 1, "refs": {"a/.zarray": "{", "a/0": ["{{nothing}}", 0')
    return [*paths, str(broken)]


def document(url: str, width: int, lengths: list[int]) -> dict[str, object]:
    """Return a Version 1 document: a compressed array by references, another by a rule with a fault."""
    array = {
        "zarr_format": 2,
        "shape": SHAPE,
        "chunks": CHUNK,
        "dtype": "<i2",
        "fill_value": -1,
        "order": "C",
    }
    packed = {**array, "compressor": {"id": "zlib", "level": 1}, "filters": None}
    raw = {**array, "compressor": None, "filters": None}
    attributes = {"_ARRAY_DIMENSIONS": ["time", "y", "x"], "units": "K", "scale_factor": 0.1}
    refs: dict[str, object] = {
        ".zgroup": '{"zarr_format": 2}',
        "packed/.zarray": json.dumps(packed),
        "packed/.zattrs": json.dumps(attributes),
        "raw/.zarray": json.dumps(raw),
        "raw/.zattrs": json.dumps(attributes),
        "notes/.zarray": json.dumps({**raw, "shape": [3], "chunks": [3], "dtype": "|S4"}),
        "notes/0": "onetwo   six",
    }
    places = [f"{t}.{y}.{x}" for t in range(6) for y in range(2) for x in range(3)]
    for number, place in enumerate(places):
        refs[f"packed/{place}"] = ["{{u}}", number * width, lengths[number]]
    rule = {
        "key": "raw/{{t}}.{{y}}.{{x}}",
        "url": "{{u}}",
        "offset": "{{(t * 6 + y * 3 + x) * 800}}",
        "length": "800",
        "dimensions": {"t": {"stop": 6}, "y": {"stop": 2}, "x": {"stop": 4}},
    }
    return {"version": 1, "templates": {"u": url, "f": "{{a}}/{{b}}"}, "gen": [rule], "refs": refs}


class Monkey:
    """Acts on one window; the same seed acts the same way as long as the window answers the same."""

    def __init__(self, window: MainWindow, paths: list[str], server: HttpServer, seed: int) -> None:
        self.window, self.paths, self.server = window, paths, server
        self.random = random.Random(seed)
        self.gaps = Gaps()
        self.done: Counter[str] = Counter()
        self.differing: list[str] = []
        self._bytes = {path: Path(path).read_bytes() for path in paths if "://" not in path}
        self._actions: list[tuple[int, Callable[[], object]]] = [
            (4, self.open),
            (3, self.close),
            (14, self.select),
            (10, self.edit),
            (6, self.undo),
            (4, self.redo),
            (14, self.slide),
            (3, self.cancel),
            (5, self.allow),
            (12, self.type),
            (10, self.click),
            (6, self.choose_tab),
            (5, self.trigger),
            (4, self.choose_in_box),
            (6, self.point),
            (4, self.press_in_table),
            (3, self.pop_up_menu),
            (3, self.drop_something),
            (2, self.change_on_disk),
            (1, self.save_copy),
            (3, self.type_in_dialog),
            (4, self.edit_in_tree),
        ]

    def act(self, count: int) -> None:
        """Do so many things, and let the window go on a little after each."""
        weights = [weight for weight, _ in self._actions]
        for _ in range(count):
            self.answer_dialogs()
            if not self.window.documents.all():
                self.open()
            action = self.random.choices(self._actions, weights)[0][1]
            self.gaps.doing = action.__name__
            action()
            self.done[action.__name__] += 1
            end = time.monotonic() + self.random.choice((0.0, 0.0, 0.004, 0.012))
            QApplication.processEvents()
            while time.monotonic() < end:
                QApplication.processEvents()
        self.answer_dialogs()

    def undo_everything(self) -> None:
        """Undo all edits of all documents and compare each with the bytes that were opened."""
        for opened in self.window.documents.all():
            self._undo_all(opened)

    # What a monkey does

    def open(self) -> None:
        if len(self.window.documents.all()) < 5:
            self.window.open_path(self.random.choice(self.paths))

    def close(self) -> None:
        current = self.window.documents.current
        if current is not None and self.random.random() < 0.3:
            self._undo_all(current)
            self.window.actions_["close_document"].trigger()

    def select(self) -> None:
        if self.random.random() < 0.5:
            tree = self.window.hierarchy.tree
            self._walk(tree)
        else:
            table = self.window.centre.references.table
            model = table.model()
            if model is not None and model.row_count():
                table.set_current(self.random.randrange(model.row_count()))

    def edit(self) -> None:
        current = self.window.documents.current
        if current is None or current.document is None:
            return
        keys = current.document.refs.keys(0, len(current.document.refs))
        key = self.random.choice(keys) if keys else "new"
        made = self.random.randrange(5)
        if made == 0:
            current.apply(SetReference(key, self.random.choice(("text", ["{{u}}", 0, 9], ["missing.bin"]))))
        elif made == 1:
            current.apply(RemoveReference(key))
        elif made == 2:
            current.apply(RenameReference(key, f"renamed/{self.random.randrange(99)}"))
        elif made == 3:
            current.apply(SetTemplate("u", self.server.url(f"/data{self.random.randrange(9)}.bin")))
        else:
            current.apply(SetReference(f"packed/{self.random.randrange(6)}.0.0", ["{{u", 0, -5]))

    def undo(self) -> None:
        self.window.actions_["undo"].trigger()

    def redo(self) -> None:
        self.window.actions_["redo"].trigger()

    def slide(self) -> None:
        plot = self.window.centre.plot
        sliders = [] if plot is None else self._visible(QSlider, plot)
        for slider in sliders[:1]:
            slider.setValue(self.random.randint(slider.minimum(), slider.maximum()))

    def cancel(self) -> None:
        self.window.actions_["cancel_newest"].trigger()

    def allow(self) -> None:
        current = self.window.documents.current
        if current is not None:
            # The servers are on this machine, which only the sheet may allow.
            current.allow(current.wants)

    def type(self) -> None:
        fields = [
            *self._visible(QLineEdit, self.window),
            *self._visible(QPlainTextEdit, self.window),
            *self._visible(QAbstractSpinBox, self.window),
            *filter(None, [QApplication.focusWidget()]),
        ]
        if not fields:
            return
        field = self.random.choice(fields)
        field.setFocus()
        if self.random.random() < 0.6:
            QTest.keyClicks(field, self.random.choice(WORDS))
        else:
            QTest.keyClick(field, self.random.choice(KEYS))

    def click(self) -> None:
        buttons = [button for button in self._visible(QAbstractButton, self.window) if button.isEnabled()]
        buttons = [
            button for button in buttons if button.objectName().removeprefix("button_") not in LEFT_ALONE
        ]
        if buttons:
            button = self.random.choice(buttons)
            self.gaps.doing = f"click {button.objectName()}"
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def choose_tab(self) -> None:
        bars = self._visible(QTabBar, self.window)
        if bars:
            bar = self.random.choice(bars)
            bar.setCurrentIndex(self.random.randrange(max(1, bar.count())))

    def trigger(self) -> None:
        names = [name for name in self.window.groups.table() if name not in LEFT_ALONE]
        name = self.random.choice(sorted(names))
        if self.window.actions_[name].isEnabled():
            self.gaps.doing = f"trigger {name}"
            self.window.actions_[name].trigger()

    def choose_in_box(self) -> None:
        boxes = [box for box in self._visible(QComboBox, self.window) if box.isEnabled() and box.count()]
        if boxes:
            box = self.random.choice(boxes)
            box.setCurrentIndex(self.random.randrange(box.count()))
            box.activated.emit(box.currentIndex())

    def point(self) -> None:
        widgets = self._visible(QWidget, self.window.centre)
        if widgets:
            widget = self.random.choice(widgets)
            where = QPoint(
                self.random.randrange(widget.width() or 1), self.random.randrange(widget.height() or 1)
            )
            QTest.mouseMove(widget, where)
            # The pointer alone may take away what is under it.
            if self.random.random() < 0.5 and isValid(widget):
                QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=where)

    def press_in_table(self) -> None:
        """Rename, delete, duplicate or replace what is selected, and type into what that opens."""
        table = self.window.centre.references.table
        model = table.model()
        if model is None or not model.row_count() or not self.window.centre.isVisible():
            return
        table.set_current(self.random.randrange(model.row_count()))
        action = self.random.choice(
            ("rename_reference", "delete_references", "duplicate_references", "replace_prefix", "explain")
        )
        self.gaps.doing = f"press {action}"
        if self.window.actions_[action].isEnabled():
            self.window.actions_[action].trigger()
        self._type_here()

    def pop_up_menu(self) -> None:
        """Open the menu of a view and choose from it, as the keyboard does."""
        plot, table = self.window.centre.plot, self.window.centre.table
        views = [self.window.hierarchy.tree, self.window.centre.references.table, self.window.attributes.tree]
        views += [] if plot is None else [plot.canvas]
        views += [] if table is None else [table.grid]
        view = self.random.choice(views)
        if not view.isVisible():
            return
        target = getattr(view, "viewport", lambda: view)()
        place = QPoint(
            self.random.randrange(target.width() or 1), self.random.randrange(target.height() or 1)
        )
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, target.mapToGlobal(place))
        QApplication.sendEvent(target, event)
        menu = QApplication.activePopupWidget()
        if not isinstance(menu, QMenu):
            return
        names = [f"action_{name}" for name in LEFT_ALONE]
        chosen = [a for a in menu.actions() if a.isEnabled() and not a.menu() and a.objectName() not in names]
        action = self.random.choice(chosen) if chosen else None
        menu.close()
        if action is not None and not action.isSeparator():
            self.gaps.doing = f"menu {action.text()}"
            action.trigger()

    def drop_something(self) -> None:
        """Drop files, a URL or text on the window."""
        data = QMimeData()
        path = self.random.choice(self.paths)
        what = self.random.randrange(4)
        if what == 0:
            data.setUrls([QUrl.fromLocalFile(path), QUrl("file:///no/such")])
        elif what == 1:
            data.setText(path)
        elif what == 2:
            data.setText("\0\u202e not a path" * 999)
        else:
            data.setUrls([QUrl("javascript:1"), QUrl("data:text/html,x")])
        if len(self.window.documents.all()) > 5:
            return
        move, copy = QPointF(300, 300), Qt.DropAction.CopyAction
        held, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(self.window, QDragEnterEvent(move.toPoint(), copy, data, held, keys))
        QApplication.sendEvent(self.window, QDropEvent(move, copy, data, held, keys))

    def change_on_disk(self) -> None:
        """Write the file of a document again, as another program does; its bytes stay or come back."""
        current = self.window.documents.current
        if current is None or current.path not in self._bytes:
            return
        data = self._bytes[current.path]
        path = Path(current.path)
        if self.random.random() < 0.3:
            path.write_bytes(data[: len(data) // 2])
            QApplication.processEvents()
        path.write_bytes(data)

    def save_copy(self) -> None:
        """Save a copy beside the document."""
        from refbrowser.exporting.saving.save import SaveOrder

        current = self.window.documents.current
        if (
            current is not None
            and current.is_open
            and current.path in self._bytes
            and not current.saving.is_running
        ):
            target = str(Path(current.path).with_suffix(f".copy{self.random.randrange(3)}"))
            current.saving.save(SaveOrder(target, is_copy=True, overwrite=True))

    def type_in_dialog(self) -> None:
        """Type into the palette of actions, or into the list of keys; Enter may follow."""
        name = self.random.choice(("command_palette", "go_to_key", "find_node"))
        if not self.window.actions_[name].isEnabled():
            return
        self.window.actions_[name].trigger()
        self._type_here()
        dialogs = [dialog for dialog in self._visible(QDialog, self.window) if dialog.isWindow()]
        # The palette would find the actions that are left alone, too.
        if dialogs and name == "go_to_key":
            end = time.monotonic() + 0.03
            while time.monotonic() < end:
                QApplication.processEvents()
            QTest.keyClick(self._keyboard() or dialogs[-1], Qt.Key.Key_Return)

    def edit_in_tree(self) -> None:
        """Change an attribute, or the metadata as JSON, by typing."""
        self.window.docks.raise_("attributesDock")
        tree = self.window.attributes.tree
        model = tree.model()
        if not tree.isVisible() or model is None or not model.rowCount():
            return
        for _ in range(4):
            section = model.index(self.random.randrange(model.rowCount()), 0)
            if model.rowCount(section):
                tree.setCurrentIndex(model.index(self.random.randrange(model.rowCount(section)), 1, section))
                tree.edit_current()
            if self._visible(QLineEdit, tree):
                self._type_here()
                return
        tree.remove_current()

    def _type_here(self) -> None:
        """Type some words where the keyboard is, and perhaps end with Enter."""
        for _ in range(1 + self.random.randrange(3)):
            field = self._keyboard()
            if isinstance(field, QLineEdit | QPlainTextEdit | QAbstractSpinBox):
                QTest.keyClicks(field, self.random.choice(WORDS))
        field = self._keyboard()
        if isinstance(field, QLineEdit) and not isinstance(field.window(), QDialog):
            QTest.keyClick(field, self.random.choice((Qt.Key.Key_Return, Qt.Key.Key_Escape)))

    def _keyboard(self) -> QWidget | None:
        """Return where keys go, also while the desktop has put another window in front."""
        above = [dialog for dialog in self._visible(QDialog, self.window) if dialog.isWindow()]
        if above:
            return above[-1].focusWidget() or above[-1].findChild(QLineEdit)
        return self.window.focusWidget()

    def answer_dialogs(self) -> None:
        """Answer what the window asks, so that nothing stays in front of it."""
        for _ in range(10):
            popup = QApplication.activePopupWidget()
            if popup is not None:
                popup.close()
            dialogs = [dialog for dialog in self._visible(QDialog, self.window) if dialog.isWindow()]
            if not dialogs:
                return
            dialog = dialogs[-1]
            buttons = [b for b in self._visible(QAbstractButton, dialog) if b.isEnabled()]
            if isinstance(dialog, QMessageBox) and buttons:
                chosen = self.random.choice([b for b in buttons if "Save" not in b.objectName()])
                QTest.mouseClick(chosen, Qt.MouseButton.LeftButton)
            else:
                dialog.reject()
            QApplication.processEvents()

    # Helpers

    @staticmethod
    def _visible(kind: type, parent: QWidget) -> list:
        return [widget for widget in parent.findChildren(kind) if widget.isVisible()]

    def _walk(self, tree: QTreeView) -> None:
        index = tree.model().index(self.random.randrange(max(1, tree.model().rowCount())), 0)
        while index.isValid():
            below = tree.model().rowCount(index)
            if not below or self.random.random() < 0.3:
                break
            tree.expand(index)
            index = tree.model().index(self.random.randrange(below), 0, index)
        if index.isValid():
            tree.setCurrentIndex(index)

    def _undo_all(self, opened: OpenDocument) -> None:
        while opened.can_undo:
            opened.undo()
        known, now = self._bytes.get(opened.path), opened.document
        if known is not None and now is not None and now.to_bytes() != known:
            self.differing.append(opened.path)
