"""The dialog that asks for the file of an export; its suffix says as what it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget


def ask_target(
    title: str,
    name: str,
    forms: Mapping[str, str],
    folder: str,
    chosen: Callable[[str], object],
    parent: QWidget,
    file: str,
) -> None:
    """Ask for a file; the suffix of its name follows the form that is chosen.

    Parameters
    ----------
    title, name
        Title and object name of the dialog.
    forms
        What can be written, by suffixes: what the dialog calls it, such as ``PDF page (*.pdf)``.
    folder, file
        Where it begins, and the name that it proposes, which may have a suffix that is not among `forms`.
    chosen
        Gets the path.
    """
    dialog = QFileDialog(parent, title, folder)
    dialog.setObjectName(name)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters([*forms.values()])
    suffixes = ", ".join(filter(None, forms))
    dialog.setLabelText(QFileDialog.DialogLabel.FileName, f"File name ({suffixes}):")
    first = Path(file).suffix if Path(file).suffix in forms else next(iter(forms))
    dialog.selectNameFilter(forms[first])
    dialog.setDefaultSuffix(first)
    dialog.selectFile(file)

    def filtered(form: str) -> None:
        suffix = next(suffix for suffix, words in forms.items() if words == form)
        named = dialog.selectedFiles()
        dialog.setDefaultSuffix(suffix)
        dialog.selectFile(Path(named[0] if named else file).stem + suffix)

    dialog.filterSelected.connect(filtered)
    dialog.fileSelected.connect(chosen)
    dialog.setModal(True)
    dialog.finished.connect(dialog.deleteLater)
    dialog.show()
