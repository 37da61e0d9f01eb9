"""Opening documents, what they may read, and the submenu of those opened lately."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QFileDialog

from refbrowser.app.actions.action_spec import Changed
from refbrowser.app.dialogs.trust import TrustSheet, open_wants
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets.theme import plain_tooltip
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.formats.store_rules import flavours
from refbrowser.views.hierarchy import takes_rules
from refbrowser.views.words import one_line
from refbrowser.words import counted

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.dialogs.recovery import RecoveryBar
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.engine.journal import Recovery


class PermissionCommands(CommandGroup):
    """What the bars over the tabs ask for."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        workspace.review_trust = self.review_trust

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.review_trust)

    def review_trust(self) -> None:
        """Show what the current document wants to read."""
        document = self._current
        if document is None:
            return

        def chosen(sheet: TrustSheet) -> None:
            document.allow(sheet.chosen, always=sheet.always)

        self._workspace.questions.permissions(document, chosen, self.connect_origin)

    def allow_this_time(self) -> None:
        """Allow all that the current document wants, until it is closed."""
        document = self._current
        if document is not None:
            document.allow(want for want in open_wants(document) if want.kind != "private")

    def connect_origin(self, url: str, parent: QWidget) -> None:
        """Ask how to connect to the origin of a URL; all documents use the answer from now on."""
        from refbrowser.io.origins import ConnectionSettings, Origin

        documents, origin = self._workspace.documents, Origin.parse(url)
        settings = documents.settings.get(origin) or ConnectionSettings()
        self._workspace.questions.connection(
            origin, settings, parent, lambda given: documents.use_settings({origin: given})
        )

    # Unsaved edits of lost processes

    def connect_recovery(self, bar: RecoveryBar) -> None:
        """Carry out what the bar is asked for."""
        bar.preview.connect(self._preview_recovery)
        bar.restore.connect(self._restore)
        bar.discard.connect(self._discard_recovery)

    def _preview_recovery(self, recovery: Recovery) -> None:
        document = self._current
        if document is not None:
            restore = document.journal.restore
            self._workspace.questions.preview_recovery(document, recovery, lambda: restore(recovery))

    def _restore(self, recovery: Recovery) -> None:
        if self._current is not None:
            self._current.journal.restore(recovery)

    def _discard_recovery(self, recovery: Recovery) -> None:
        document = self._current
        if document is not None:
            discard = document.journal.discard
            self._workspace.questions.discard_recovery(recovery, lambda: discard(recovery))


#: Files of a set that are opened at a time.
_OPENED_MOST = 50
#: The actions that read a store by the rules of a flavour, with its value; empty to find it out.
_WAYS = {
    "open_as_found": "",
    **{f"open_as_{each.replace('-', '_')}": str(each) for each in flavours()},
}


class FileCommands(CommandGroup):
    """The commands of the menu File that open."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._settings = workspace.settings
        self._permissions = workspace.groups[PermissionCommands]
        self._beside = Latest(self, "beside")
        self._has_set = False
        workspace.hierarchy.tree.selectionModel().currentChanged.connect(self._look_for_set)
        workspace.documents.setsChanged.connect(self._look_for_set)

    def _look_for_set(self) -> None:
        has_set = self._workspace.hierarchy.chosen_set() is not None
        if has_set != self._has_set:
            self._has_set = has_set
            self._workspace.update_actions(Changed.OTHER)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        own = (self.open_files, self.open_store, self.open_url, self.open_sample)
        ways = {way: partial(self.open_as, flavour) for way, flavour in _WAYS.items()}
        listed = (self.clear_recent, self.pin_document, self.show_in_folder, self.open_set)
        return {**by_name(*own, *listed), **ways}

    def conditions(self) -> dict[str, bool]:
        """Return what can be done with the current document."""
        document = self._current
        can_open_as = document is not None and (document.store.is_here or document.error is not None)
        chosen = document.store.flavour if document is not None and can_open_as else None
        return {
            **{way.replace("open_", "is_"): flavour == chosen for way, flavour in _WAYS.items()},
            "can_open_as": can_open_as,
            "has_set": self._has_set,
            "can_pin": document is not None and not document.is_new,
            "is_pinned": document is not None and self._settings.is_pinned(document.path),
            "is_in_folder": document is not None and "://" not in document.path and not document.is_new,
            "has_document": document is not None,
            "has_recent": bool(self._settings.recent()),
            "is_open": document is not None and document.is_open,
            "takes_rules": document is not None and takes_rules(document),
            "has_hierarchy": document is not None and document.hierarchy is not None,
        }

    # Opening and closing

    def open_files(self) -> None:
        """Ask for documents and open them."""

        def chosen(paths: Sequence[str]) -> None:
            self._settings.set_folder(str(Path(paths[0]).parent))
            self._workspace.open_all(paths)

        self._workspace.questions.open_files(chosen, self._folder())

    def open_store(self) -> None:
        """Ask for the folder of a store and open it."""

        def chosen(path: str) -> None:
            self._settings.set_folder(str(Path(path).parent))
            self._workspace.open_path(path)

        self._workspace.questions.open_store(chosen, self._folder())

    def _folder(self) -> str:
        """Return the folder to look in: where something was opened last, else of what is shown, else home."""
        kept, document = self._settings.folder(), self._current
        if kept:
            return kept
        is_here = document is not None and "://" not in document.path
        return str(Path(document.path).parent if document is not None and is_here else Path.home())

    def open_as(self, flavour: str) -> None:
        """Read the current store by the rules of a flavour, a value of `Flavour`; found out when empty."""
        document = self._current
        if document is None or flavour == document.store.flavour:
            self._workspace.update_actions()
        elif document.is_pending:
            self._workspace.questions.reload(document, lambda: document.store.open_as(flavour))
            self._workspace.update_actions()
        else:
            document.store.open_as(flavour)
            self._centre.update_state()
            self._workspace.update_actions()

    def open_url(self) -> None:
        """Ask for a URL and open it."""
        self._workspace.questions.open_url(
            self._workspace.open_text,
            self._permissions.connect_origin,
        )

    def open_sample(self) -> None:
        """Open the document that comes with the program."""
        from refbrowser.app.controller.work import sample_path

        self._workspace.open_path(sample_path())

    def clear_recent(self) -> None:
        """Forget the documents that were opened lately, but for those that are kept at the top."""
        self._settings.clear_recent()
        self._show_recent()

    def pin_document(self) -> None:
        """Keep the current document at the top of those opened lately, or no longer."""
        if self._current is not None:
            self.pin(self._current.path)

    def pin(self, path: str) -> None:
        """Keep what was opened lately at the top, or no longer."""
        self._settings.set_pinned(path, not self._settings.is_pinned(path))
        self._show_recent()

    def _show_recent(self) -> None:
        self._centre.start.set_recent(self._settings.recent_entries())
        self._workspace.update_actions()

    def open_set(self) -> None:
        """Open the files of the selected set that are not open, if these are not very many."""
        files = self._workspace.hierarchy.chosen_set()
        if files is None:
            return
        opened = {document.path for document in self._workspace.documents.all()}
        left = [path for path in files.paths if path not in opened]
        for path in left[:_OPENED_MOST]:
            self._workspace.open_path(path)
        if len(left) > _OPENED_MOST:
            more = counted(len(left) - _OPENED_MOST, "file")
            self._workspace.say(f"{_OPENED_MOST} files are being opened; {more} stay as they are")

    def show_in_folder(self) -> None:
        """Open the folder of the current document in the desktop's file manager."""
        document = self._current
        if document is not None and "://" not in document.path:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(document.path).parent)))

    def open_instead(self, paths: list[str]) -> None:
        """Open documents in place of the current one, which could not be opened.

        That one may have named them: private addresses, other than its own, are asked about first.
        """

        def go_on() -> None:
            self.close_failed()
            self._workspace.open_all(paths)

        self._workspace.questions.private_addresses(paths, self._current, go_on)

    def close_failed(self) -> None:
        """Close the current document where it could not be opened."""
        failed = self._current
        if failed is not None and not failed.is_open:
            self._workspace.documents.close(failed)

    def look_for_references(self, to_open: bool) -> None:
        """Look for references to the file of data that the card shows, and offer or open them."""
        from refbrowser.formats.python_lines import references_beside

        shown = self._current
        if shown is None:
            return
        path = shown.path
        name = os.path.basename(path)
        opened = [each.path for each in self._workspace.documents.all() if each.refers_to(name)]

        def done(beside: tuple[str, ...]) -> None:
            card = self._centre.found
            if card is not None and self._current is shown:
                card.set_references(opened, beside, to_open=to_open)

        self._beside.run(
            shown,
            f"Look for references to {name}",
            lambda control: references_beside(path, control.token.check),
            done,
            lambda _error: done(()),
        )


class CdlCommands(CommandGroup):
    """The commands about CDL."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.save_cdl)

    def save_cdl(self) -> None:
        """Ask where to write the current dataset as CDL."""
        document = self._current
        if document is None or document.dataset is None:
            return
        folder = str(Path(document.path).parent) if "://" not in document.path else ""
        dialog = QFileDialog(self._workspace.window(), "Save as CDL", folder, "CDL (*.cdl)")
        dialog.setObjectName("saveCdlDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("cdl")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.selectFile(f"{document.name.split('.')[0] or 'dataset'}.cdl")
        dialog.fileSelected.connect(self.write)
        dialog.open()

    def write(self, path: str) -> None:
        """Write the current dataset as CDL to a file."""
        document = self._current
        dataset = None if document is None else document.dataset
        if document is None or dataset is None:
            return

        def write(control: TaskControl) -> None:
            from refbrowser.io.files.atomic import write_atomically

            write_atomically(path, [dataset.cdl(token=control.token).encode()], cancel=control.token)

        def failed(error: BaseException) -> None:
            self._workspace.show_error("The CDL was not written", error)

        document.tasks.run(
            document.owner("save cdl"),
            f"Write {one_line(Path(path).name)}",
            write,
            lambda _none: self._workspace.say(f"Written: {one_line(path)}"),
            failed,
        )


#: Characters of a path that are shown.
_SHOWN = 72


class RecentMenu(QObject):
    """Fills the submenu whenever it is about to be shown."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace, self._settings = workspace, workspace.settings
        self._menu = workspace.actions_.menu("Open &recent")
        self._menu.setToolTipsVisible(True)
        self._clear = workspace.actions_["clear_recent"]
        self._made: list[QAction] = []
        self._menu.aboutToShow.connect(self.fill)
        self.fill()

    def fill(self) -> None:
        """List the documents, above the action that forgets them."""
        for action in self._made:
            self._menu.removeAction(action)
            action.deleteLater()
        self._made = []
        for number, entry in enumerate(self._settings.recent_entries()):
            path, name = entry.path, one_line(entry.path)
            shown = name if len(name) <= _SHOWN else f"…{name[1 - _SHOWN :]}"
            mark = f"&{number + 1}  " if number < 9 else ""
            shown = f"{'★ ' if entry.is_pinned else ''}{shown}{entry.more}"
            action = QAction(mark + shown.replace("&", "&&"), self._menu)
            action.setObjectName(f"action_recent_{number}")
            action.setToolTip(plain_tooltip(path))
            action.triggered.connect(lambda _checked=False, path=path: self._workspace.open_recent(path))
            self._made.append(action)
        separator = QAction(self._menu)
        separator.setSeparator(True)
        self._made.append(separator)
        self._menu.insertActions(self._clear, self._made)
        self._workspace.update_actions()
