"""What dialogs that ask for files offer."""

from __future__ import annotations

from refbrowser.formats.registry import openable

#: Files of data that references can point into, and that do not open: the window shows how they are made.
_DATA = "*.h4 *.hdf4"


def open_filter() -> str:
    """Return the choices of the dialog that asks for files: all of them, each format, files of data, any."""
    shown = {
        each.plural: " ".join(f"*{suffix}" for suffix in each.files) for each in openable() if each.files
    }
    choices = {"All that can be opened": " ".join((*shown.values(), _DATA)), **shown}
    choices |= {"Files to make references to": _DATA, "All files": "*"}
    return ";;".join(f"{title} ({patterns})" for title, patterns in choices.items())
