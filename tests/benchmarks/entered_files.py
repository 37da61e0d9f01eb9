"""Which files of the program one event of the window enters, warm and on all threads.

    python tests/benchmarks/entered_files.py [EVENT] [--files]

It opens a copy of the sample off screen, lets each event happen twice, so that all is loaded, and counts at
the third time; all that follows from the event within a while counts. What is called in such a while when
nothing happens, too, does not: a caret blinks, and threads look for news. `--files` names the files.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from window import pause, shown_window, wait

import refbrowser
from refbrowser.app.editors.gen_editor import GenEditor
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.edits import SetReference

PACKAGE = str(Path(refbrowser.__file__).resolve().parent)
#: How long an event is given to have all its effects, and the window to come to rest before, in seconds.
SETTLED, REST = 1.5, 4.0


class Entered:
    """The functions of the package that are called, on all threads that begin after this is made."""

    def __init__(self) -> None:
        self._functions: set[CodeType] = set()
        self._is_counting = False
        threading.setprofile(self._called)
        sys.setprofile(self._called)

    def _called(self, frame: FrameType, event: str, _argument: object) -> None:
        if self._is_counting and event == "call":
            self._functions.add(frame.f_code)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count anew."""
        self._functions.clear()
        self._is_counting = True
        try:
            yield
        finally:
            self._is_counting = False

    def functions(self) -> set[CodeType]:
        """Return them."""
        return {code for code in self._functions if code.co_filename.startswith(PACKAGE)}


EVENTS: dict[str, str] = {
    "save": "Ctrl+S after one edit",
    "keystroke": "a keystroke in a gen rule",
    "slider": "a move of a slider",
    "undo": "undo of one reference",
}


def _events(window: MainWindow) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """Return of each event what is done before, and what is counted."""
    document = window.documents.current
    assert document is not None
    numbers = iter(range(10_000))

    def edit() -> None:
        document.apply_later(SetReference(f"note/{next(numbers)}", "text"))

    def field() -> Any:
        return window.editors.findChild(GenEditor).findChild(object, "genOffsetField")

    def select_rule() -> None:
        window.navigation.go_to_rule(document, 0)
        field().setFocus()

    def type_key() -> None:
        QTest.keyClick(field(), Qt.Key.Key_1)

    def move() -> None:
        plot = window.centre.plot
        assert plot is not None
        plot.set_index(0, next(numbers) % 12)

    return {
        "save": (edit, lambda: window.actions_["save"].trigger()),
        "keystroke": (select_rule, type_key),
        "slider": (lambda: None, move),
        "undo": (edit, lambda: window.actions_["undo"].trigger()),
    }


def counted(entered: Entered, before: Callable[[], object], event: Callable[[], object]) -> list[str]:
    """Return the files that an event enters when all is loaded, relative to the package, in order."""
    for _ in range(3):
        before()
        pause(REST)
        with entered.counting():
            pause(SETTLED)
        idle = entered.functions()
        with entered.counting():
            event()
            pause(SETTLED)
    return sorted({code.co_filename[len(PACKAGE) + 1 :] for code in entered.functions() - idle})


def main() -> None:
    """Count, and print a table."""
    chosen = [name for name in sys.argv[1:] if name in EVENTS] or list(EVENTS)
    entered = Entered()
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(refbrowser.sample(folder)).resolve()
        with shown_window(Path(folder) / "settings") as window:
            window.open_path(str(sample), "/ocean/sst")
            wait(lambda: window.centre.plot is not None and window.centre.plot.picture() is not None)
            pause(3)
            for name, (before, event) in _events(window).items():
                if name not in chosen:
                    continue
                files = counted(entered, before, event)
                print(f"{EVENTS[name]}: {len(files)} files")
                if "--files" in sys.argv:
                    print("".join(f"  {file}\n" for file in files))


if __name__ == "__main__":
    main()
