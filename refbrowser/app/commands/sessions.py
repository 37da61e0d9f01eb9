"""Sessions, as users call what a window shows: saved to a file, opened, and restored after a start."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from refbrowser.app.commands.saving import SaveCommands
from refbrowser.app.dialogs.session_bar import SessionBar
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.window_states.restored_window import RestoredWindow
from refbrowser.app.window_states.told_window import window_state
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.views.words import one_line
from refbrowser.words import counted_spaced

if TYPE_CHECKING:
    from refbrowser.app.tasks.tasks import TaskControl, Tasks
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.views.window_states.session_file import SessionFile
    from refbrowser.views.window_states.window_state import DocumentState, WindowState


@dataclass(frozen=True, slots=True)
class _Read:
    """A session that was read: what it says, what marks its text, and places outside of its folder."""

    file: SessionFile
    mark: str
    outside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a window before showed, where it is kept, and whether that one was lost."""

    path: Path
    state: WindowState
    written: float
    is_lost: bool


class SessionCommands(CommandGroup):
    """The commands that save what is open and open it again."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._settings, self._centre = workspace.settings, workspace.centre
        self._saving = workspace.groups[SaveCommands]
        self._reading, self._writing = Latest(self, "session"), Latest(self, "save session")
        #: The file of the session that was saved or opened last.
        self._path = ""
        self._restored: RestoredWindow | None = None
        self._kept: _Kept | None = None
        self._bar = SessionBar()
        workspace.centre.add_bars([self._bar])
        self._bar.findWanted.connect(self._find)
        workspace.open_session = self.open_from
        workspace.centre.start.restoreWanted.connect(self.restore_kept)

    @property
    def tasks(self) -> Tasks:
        """What runs the work of this group."""
        return self._workspace.tasks

    def owner(self, what: str) -> str:
        """Return the name under which its work is listed."""
        return what

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.save_session, self.open_session)

    def conditions(self) -> dict[str, bool]:
        """Return what can be done now."""
        documents = self._workspace.documents
        return {"has_session": bool(documents.all() or documents.sets)}

    # Saving

    def save_session(self) -> None:
        """Ask where to write what the window shows."""
        from refbrowser.views.window_states.session_file import SUFFIX

        proposed = self._path or os.path.join(self._folder(), f"session{SUFFIX}")
        dialog = QFileDialog(self._workspace.window(), "Save session", os.path.dirname(proposed), _filter())
        dialog.setObjectName("saveSessionDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(SUFFIX.lstrip("."))
        dialog.selectFile(os.path.basename(proposed))
        dialog.fileSelected.connect(self.write)
        self._workspace.questions.show(dialog)

    def _folder(self) -> str:
        """Return the folder that a session is proposed in: that of the documents, which then go with it."""
        paths = [each.path for each in self._workspace.documents.all() if "://" not in each.path]
        try:
            folder = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
        except ValueError:
            folder = ""
        return folder if folder and os.path.dirname(folder) != folder else self._settings.folder()

    def write(self, path: str) -> None:
        """Write what the window shows to a file."""
        state = window_state(self._workspace)
        unsaved = [each for each in self._workspace.documents.all() if each.is_new]

        def write(control: TaskControl) -> tuple[str, tuple[str, ...]]:
            import hashlib

            from refbrowser.io.files.atomic import write_atomically
            from refbrowser.views.window_states.session_file import session_text

            text, left_out = session_text(state, os.path.dirname(path))
            write_atomically(path, [text], cancel=control.token)
            return hashlib.sha256(text).hexdigest(), left_out

        def done(written: tuple[str, tuple[str, ...]]) -> None:
            mark, left_out = written
            self._take(path, mark)
            words = [*left_out]
            missing = len(unsaved) - sum(bool(each.expression) for each in state.documents)
            if missing > 0:
                words.append(f"{counted_spaced(missing, 'document')} that is in no file yet")
            told = f", without {' and '.join(words)}" if words else ""
            self._workspace.say(one_line(f"Saved the session as {path}{told}"))

        def failed(error: BaseException) -> None:
            self._workspace.show_error("The session was not saved", error)

        self._writing.run(self, f"Write {one_line(os.path.basename(path))}", write, done, failed)

    def _take(self, path: str, mark: str) -> None:
        self._path = path
        self._settings.set_session_mark(path, mark)
        self._settings.add_recent(path)

    # Opening

    def open_session(self) -> None:
        """Ask for the file of a session and open it."""
        dialog = QFileDialog(self._workspace.window(), "Open session", self._settings.folder(), _filter())
        dialog.setObjectName("openSessionDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.open_from)
        self._workspace.questions.show(dialog)

    def open_from(self, path: str) -> None:
        """Open the session in a file, in place of what is open.

        What it reads from beside its own folder is asked about, unless this user saved or opened just this
        text before: whoever wrote it may have named anything.
        """
        path = os.path.abspath(os.path.expanduser(path))

        def failed(error: BaseException) -> None:
            again = lambda: self.open_from(path)  # noqa: E731
            self._workspace.show_error(
                f"The session {one_line(os.path.basename(path))} was not opened", error, again
            )

        def came(read: _Read) -> None:
            def go_on() -> None:
                named = [each.path for each in read.file.state.documents]
                self._settings.keep_together([path, *named])
                self._take(path, read.mark)
                self._begin(read.file)

            if not read.outside or self._settings.session_mark(path) == read.mark:
                go_on()
            else:
                name, paths = os.path.basename(path), list(read.file.state.paths())
                self._workspace.questions.session(name, paths, read.outside, go_on)

        title = f"Read the session {one_line(os.path.basename(path))}"
        self._reading.run(self, title, lambda _control: _read(path), came, failed)

    def _begin(self, file: SessionFile) -> None:
        def restore() -> None:
            restored = RestoredWindow(self._workspace)
            restored.told.connect(self._workspace.say)
            restored.missed.connect(self._missed)
            if self._restored is not None:
                self._restored.give_up()
                self._restored.deleteLater()
            self._restored = restored
            self._bar.hide()
            restored.restore(file.state)
            if file.left_out:
                self._workspace.say(one_line(f"Left out of the session: {' and '.join(file.left_out)}"))

        self._saving.close_all(restore)

    # What could not be opened

    def _missed(self, states: Sequence[DocumentState]) -> None:
        self._bar.show_missing(states)

    def _find(self, states: Sequence[DocumentState]) -> None:
        """Ask where the first document is that could not be opened."""
        restored, first = self._restored, states[0]
        if restored is None:
            return
        name = os.path.basename(first.path)
        dialog = QFileDialog(self._workspace.window(), f"Find {one_line(name)}", os.path.dirname(first.path))
        dialog.setObjectName("findDocumentDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)

        def chosen(path: str) -> None:
            self._bar.hide()
            restored.find(states, path)

        dialog.fileSelected.connect(chosen)
        self._workspace.questions.show(dialog)

    # After a start

    def look_for_kept(self) -> None:
        """Offer what the window before showed, or restore it, as the user prefers."""
        wish = self._workspace.preferences.text("restore")

        def found(kept: _Kept | None) -> None:
            if kept is None or self._workspace.documents.all():
                return
            self._kept = kept
            if wish == "always" and not kept.is_lost:
                self.restore_kept()
            else:
                self._centre.start.set_session(_words(kept))

        tasks = self._workspace.tasks
        tasks.run(
            "kept session",
            tasks.PREPARING,
            lambda _control: _look_for_kept(lost_alone=wish == "never"),
            found,
        )

    def restore_kept(self) -> None:
        """Show what the window before showed."""
        kept, self._kept = self._kept, None
        if kept is None:
            return
        from refbrowser.io.files.window_files import remove_window
        from refbrowser.views.window_states.session_file import SessionFile

        self._centre.start.set_session("")
        self._begin(SessionFile(kept.state))
        if kept.is_lost:
            remove_window(kept.path)


def _filter() -> str:
    from refbrowser.views.window_states.session_file import SUFFIX

    return f"Sessions (*{SUFFIX});;All files (*)"


def _read(path: str) -> _Read:
    import hashlib

    from refbrowser.io.files.window_files import read_bounded
    from refbrowser.views.window_states.session_file import parse_session, places_outside

    data, folder = read_bounded(path), os.path.dirname(path)
    file = parse_session(data, folder)
    return _Read(file, hashlib.sha256(data).hexdigest(), tuple(places_outside(file.state, folder)))


def _look_for_kept(*, lost_alone: bool) -> _Kept | None:
    """Return what the newest of lost windows showed, or the last one that was closed where that is newer.

    With `lost_alone` those that were closed count for nothing. None where nothing is kept.
    """
    from refbrowser.errors import RefbrowserError
    from refbrowser.io.files.window_files import last_window, lost_windows, read_bounded, written
    from refbrowser.views.window_states.session_file import parse_session

    lost, last = lost_windows(), None if lost_alone else last_window()
    for path in sorted((*lost, *([] if last is None else [last])), key=written, reverse=True):
        try:
            state = parse_session(read_bounded(str(path)), "/").state
        except RefbrowserError:
            continue
        if not state.is_empty:
            return _Kept(path, state, written(path), path in lost)
    return None


def _words(kept: _Kept) -> str:
    """Return what is offered to be restored."""
    documents = len({each.path for each in kept.state.documents}.union(*kept.state.sets))
    when = datetime.fromtimestamp(kept.written).strftime("%Y-%m-%d %H:%M")
    what = "session that ended unexpectedly" if kept.is_lost else "last session"
    return f"Restore the {what}  ({counted_spaced(documents, 'document')}, {when})"
