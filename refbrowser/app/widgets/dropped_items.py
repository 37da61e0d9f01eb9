"""What is dropped on a window or a list: paths and URLs, and what can be done with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QMimeData, QUrl

from refbrowser.engine.links import SCHEME
from refbrowser.formats.registry import REFERENCES, data_suffixes, formats, openable
from refbrowser.io.origins import PROTOCOLS, REMOTE
from refbrowser.views.window_states.session_file import is_session
from refbrowser.views.words import one_line
from refbrowser.words import count_text

#: Files that one drop names at most.
DROP_LIMIT = 100_000
#: More files than this are one set, of which those are opened that are asked for.
ONE_BY_ONE = 5
_SCHEMES = (SCHEME, f"{REMOTE}:", *(f"{protocol}://" for protocol in PROTOCOLS))


@dataclass(frozen=True, slots=True)
class Drop:
    """What a drop names: paths and URLs of documents, in order."""

    targets: tuple[str, ...]

    @property
    def is_accepted(self) -> bool:
        """Whether there is anything to open, or to make references of."""
        return 0 < len(self.targets) <= DROP_LIMIT

    @property
    def is_data(self) -> bool:
        """Whether these are several files of data, by their names: references can be made of them."""
        suffixes = data_suffixes()
        return len(self.targets) > 1 and all(each.lower().endswith(suffixes) for each in self.targets)

    @property
    def is_alike(self) -> bool:
        """Whether these are files of data that are called alike but for numbers: parts of one dataset."""
        return self.is_data and are_alike(self.targets)

    @property
    def is_set(self) -> bool:
        """Whether these are so many that they are one row, which opens on request."""
        return len(self.targets) > ONE_BY_ONE

    def compares(self, shown: str) -> bool:
        """Tell whether it can be compared: two with each other, or one with what is shown (its name)."""
        return len(self.targets) == 2 or (len(self.targets) == 1 and bool(shown))

    def words_to_compare(self, shown: str) -> tuple[str, str]:
        """Return what dropping with Shift held will do, where it can be compared."""
        names = [one_line(target.rstrip("/").rsplit("/", 1)[-1] or target) for target in self.targets]
        here, there = (one_line(shown), names[0]) if len(names) == 1 else names
        return f"Compare {here} with {there}", "Side by side; differences can be copied either way"

    def words(self, others_open: bool) -> tuple[str, str]:
        """Return what dropping will do: a heading and a line of detail."""
        if not self.targets:
            titles = [each.title for each in openable() if each.suffixes and each is not REFERENCES]
            named = f"documents, {', '.join(titles)}"
            return "Nothing to open here", f"Files, folders and URLs can be dropped: {named}"
        if not self.is_accepted:
            return (
                f"{count_text(len(self.targets))} are too many at once",
                f"At most {count_text(DROP_LIMIT)} files can be dropped",
            )
        names = [one_line(target.rstrip("/").rsplit("/", 1)[-1] or target) for target in self.targets]
        verb = "Open it as another document" if others_open else "Open"
        name = names[0].lower()
        known = next((each for each in formats() if name.endswith(each.suffixes)), REFERENCES)
        if len(names) == 1 and is_session(name):
            return f"Open the session {names[0]}", "It takes the place of what is open"
        what = "" if known is REFERENCES else f"{known.noun} "
        count = count_text(len(names))
        several = f"{count} files of data" if self.is_data else f"{count} documents"
        several += " as one set" if self.is_set else ""
        heading = f"{verb}: {what}{names[0]}" if len(names) == 1 else f"{verb}: {several}"
        if len(names) == 1:
            return heading, one_line(self.targets[0])
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        if not self.is_data:
            return heading, shown
        if self.is_alike:
            return heading, f"{shown}; they can be combined into one dataset"
        return heading, f"{shown}; references can be made of them, or one dataset"


def are_alike(paths: Sequence[str]) -> bool:
    """Return whether files are called alike but for numbers: ``tas_200101.nc``, ``tas_200102.nc``."""
    return len({_DIGITS.sub("0", one.rstrip("/").rsplit("/", 1)[-1].lower()) for one in paths}) == 1


_DIGITS = re.compile(r"\d+", re.ASCII)


def read_drop(data: QMimeData) -> Drop:
    """Return what dragged data names; only paths and URLs are read, no file is touched."""
    targets: list[str] = []
    if data.hasUrls():
        for url in data.urls():
            target = url.toLocalFile() if url.isLocalFile() else url.toString()
            if target:
                targets.append(target)
    elif data.hasText():
        # Quoted as for a shell, or as in a letter.
        lines = [line.strip().strip("'\"<>`") for line in data.text()[:65_536].splitlines()]
        for line in lines:
            if line.startswith(_SCHEMES) or (line.startswith("/") and not line.startswith("//")):
                targets.append(QUrl(line).toLocalFile() if line.startswith("file://") else line)
    return Drop(tuple(dict.fromkeys(targets)))
