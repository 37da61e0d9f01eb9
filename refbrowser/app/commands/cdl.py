"""The dataset as CDL in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.shell.tasks import TaskControl
from refbrowser.views.words import one_line


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
        dialog = QFileDialog(self._window, "Save as CDL", folder, "CDL (*.cdl)")
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
            from refbrowser.engine.cdl import dataset_cdl
            from refbrowser.io.atomic import write_atomically

            write_atomically(path, [dataset_cdl(dataset, token=control.token).encode()], cancel=control.token)

        def failed(error: BaseException) -> None:
            self._window.centre.error_bar.show_error("The CDL was not written", error)

        document.tasks.run(
            document.owner("save cdl"),
            f"Write {one_line(Path(path).name)}",
            write,
            lambda _none: self._window.status.say(f"Written: {one_line(path)}"),
            failed,
        )
