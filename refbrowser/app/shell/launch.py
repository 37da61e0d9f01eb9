"""Starts the window: Qt alone until it is painted, everything else after that."""

from __future__ import annotations

import builtins
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from refbrowser.loading import require

if TYPE_CHECKING:
    from pathlib import Path

    from refbrowser.app.shell.housekeeping import Screenshot
    from refbrowser.app.shell.main_window import MainWindow
    from refbrowser.app.shell.second_starts import SecondStarts
    from refbrowser.io.origins import ConnectionSettings, Origin
    from refbrowser.io.running_window import Start

DEFAULT_SIZE = (1280, 800)
#: A thread that waits for the interpreter gets it after this long, in seconds. With Python's own 5 ms a frame
#: of the window, which waits some ten times while workers are busy, takes longer than the eye forgives.
SWITCH_INTERVAL = 0.001
#: Given to Qt as an argument: `setStyle` would return the style, and a wrapper of it takes 5 ms to make.
STYLE = ("-style", "Fusion")


def run(
    paths: Sequence[str],
    *,
    screenshot: str | None = None,
    array: str | None = None,
    size: tuple[int, int] | None = None,
    template_values: Mapping[str, str] | None = None,
    allow: Sequence[str] = (),
    allow_codecs: Sequence[str] = (),
    settings: Mapping[Origin, ConnectionSettings] | None = None,
    scheme: str | None = None,
    options: Mapping[str, Any] | None = None,
    shared: Path | None = None,
) -> int:
    """Open the window on documents and run it until it is closed, or draw it to a file.

    Parameters
    ----------
    paths
        Documents: paths, URLs, or links to something in them, ``PATH::/array[0,:,:]``.
    screenshot
        A picture file: the window is drawn off screen, with `array` plotted, and the program ends.
    array
        Path of the array to select in the (last) document.
    size
        Width and height of the window in device independent pixels.
    template_values
        Values that take the place of templates; never saved.
    allow
        Origins that the documents may read from, as ``--allow`` of the command line.
    allow_codecs
        Codecs and packages that may decode, as ``--allow-codec`` of the command line.
    settings
        Connection settings for origins; never saved.
    scheme
        Colours for this run: ``light`` or ``dark``; what the user prefers when None.
    options
        Options of opening, by name.
    shared
        Where it listens for further starts, which are opened here; None where it does not.

    Returns
    -------
    int
        The process exit code.

    Raises
    ------
    RefbrowserError
        `E_IO`: there is no display, or the picture cannot be written; or what the picture shows instead of
        what was asked for.
    """
    # Where there is neither Qt nor a display, Qt comes first.
    require("PySide6")
    _prepare_platform(screenshot is not None)
    # Nothing made before the first paint is garbage; looking for it takes as long as a toolbar.
    gc.disable()
    from PySide6.QtWidgets import QApplication

    _import_uninspected()
    from refbrowser.app.settings.settings import Settings
    from refbrowser.app.shell.main_window import MainWindow
    from refbrowser.app.widgets import theme
    from refbrowser.app.widgets.focus_ring import ring_focus

    sys.setswitchinterval(SWITCH_INTERVAL)
    application: QApplication
    if sys.platform == "darwin":
        from refbrowser.app.shell.application import FileOpenApplication

        application = FileOpenApplication([*sys.argv[:1], *STYLE])
    else:
        application = QApplication([*sys.argv[:1], *STYLE])
    application.setApplicationName("refbrowser")
    application.setApplicationDisplayName("refbrowser")
    application.setDesktopFileName("refbrowser")
    # A picture leaves no trace in the user's settings.
    kept = Settings(is_kept=screenshot is None)
    theme.follow_system(application, scheme or kept.preference("theme") or "system")
    ring_focus(application)
    window = MainWindow(kept)
    if size is not None or screenshot is not None:
        window.resize(*(size or DEFAULT_SIZE))
        window.lay_out_anew()

    pictures: list[Screenshot] = []
    starts: list[SecondStarts] = []

    def begin() -> None:
        from refbrowser.app.shell.housekeeping import Ahead, GarbageCollector, send_exceptions_to

        send_exceptions_to(window.show_unexpected)
        GarbageCollector(window)
        Ahead(window)
        window.documents.use_settings(settings or {})
        window.documents.shared.lenders = frozenset(allow_codecs)
        if screenshot is None:
            from refbrowser.app.window_states.kept_window import KeptWindow

            window.kept = KeptWindow(window)
        open_targets(window, paths, array, template_values or {}, allow, options)
        if not paths and screenshot is None:
            from refbrowser.app.commands.view import HelpCommands

            window.groups[HelpCommands].offer_tour()
        if sys.platform == "darwin" and isinstance(application, FileOpenApplication):
            application.open_by(lambda target: open_targets(window, [target], None, {}, (), None))
        if shared is not None:
            starts.extend(listen(window, shared))
        if screenshot is not None:
            from refbrowser.app.shell.housekeeping import Screenshot

            pictures.append(Screenshot(window, window.centre, screenshot, array, application.quit))
            pictures[0].start()

    window.ready.connect(begin)
    window.show()
    code = application.exec()
    error = pictures[0].error if pictures else None
    for each in starts:
        each.close()
    window.close()
    if error is not None:
        raise error
    return code


def _import_uninspected() -> None:
    """Give Python its own import back.

    PySide6 puts one in its place that reads the source of each module, for switches (``__feature__``) that
    nothing here uses: it makes a quarter of the time that numpy takes to load.
    """
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)


def _prepare_platform(off_screen: bool) -> None:
    """Choose where windows go; raise `E_IO` where there is no display."""
    if off_screen:
        from refbrowser.app.shell.housekeeping import send_qt_messages_to_log

        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        send_qt_messages_to_log()
    elif not has_display():
        from refbrowser.errors import ErrorKind, NoDisplayError

        raise NoDisplayError(
            ErrorKind.IO,
            "there is no display to open a window on",
            advice="--screenshot FILE draws the window off screen to a picture",
        )


def listen(window: MainWindow, path: Path) -> list[SecondStarts]:
    """Let further starts open in this window; none where another one listens already."""
    from refbrowser.app.shell.second_starts import SecondStarts, bring_forward
    from refbrowser.io.running_window import Listening

    def take(start: Start) -> None:
        bring_forward(window, start.token)
        if start.targets:
            open_targets(window, start.targets, start.array or None, {}, ())

    try:
        return [SecondStarts(Listening(path), take, window)]
    except OSError:
        return []


def open_targets(
    window: object,
    paths: Sequence[str],
    array: str | None,
    values: Mapping[str, str],
    allow: Sequence[str],
    options: Mapping[str, Any] | None = None,
) -> None:
    """Open what the command line names; `array` belongs to the last of them."""
    from refbrowser.app.commands.links import LinkCommands
    from refbrowser.app.commands.sessions import SessionCommands
    from refbrowser.app.shell.main_window import MainWindow
    from refbrowser.app.widgets.dropped_items import ONE_BY_ONE
    from refbrowser.engine.links import Link
    from refbrowser.errors import RefbrowserError
    from refbrowser.views.window_states.session_file import is_session
    from refbrowser.views.words import one_line

    assert isinstance(window, MainWindow)
    is_plain = not (array or values or allow or options or any(map(Link.is_from_outside, paths)))
    if is_plain and len(paths) > ONE_BY_ONE:
        window.open_all([_local(path) for path in paths])
        return
    for number, target in enumerate(paths):
        if Link.is_from_outside(target):
            window.groups[LinkCommands].open_from_outside(target)
            continue
        try:
            link = Link.parse(_local(target))
        except RefbrowserError as error:
            window.show_error(f"{one_line(target[:80])} was not opened", error)
            continue
        if is_session(link.path):
            window.open_session(link.path)
            continue
        if array is not None and number == len(paths) - 1:
            link = Link(link.path, array)
        window.open_path(link.path, link.node or None, values, allow, options, selection=link.selection)
    if not paths:
        window.prepare_plot()
        window.parts.follower.look_for_lost()
        window.groups[SessionCommands].look_for_kept()


def _local(target: str) -> str:
    """Return the path that a ``file:`` URL of a desktop stands for; other texts as they are."""
    if not target.lower().startswith("file:///") or os.path.lexists(target[7:]):
        return target
    from PySide6.QtCore import QUrl

    return QUrl(target).toLocalFile() or target


def has_display() -> bool:
    """Tell whether a window can be opened here; without asking Qt, which ends the process when it cannot."""
    if os.environ.get("QT_QPA_PLATFORM"):
        return True
    if not sys.platform.startswith("linux"):
        return True
    if os.environ.get("WAYLAND_DISPLAY"):
        return True
    display = os.environ.get("DISPLAY", "")
    if not display.startswith(":"):
        return bool(display)
    import socket

    number = display[1:].split(".")[0]
    for address in (f"/tmp/.X11-unix/X{number}", f"\0/tmp/.X11-unix/X{number}"):
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(address)
            except OSError:
                continue
            return True
    return False
