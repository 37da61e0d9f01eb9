"""What is dragged over the window, and what dropping it will do."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QMimeData, QUrl

from refbrowser.formats.registry import REFERENCES, formats
from refbrowser.views.words import one_line

#: Documents that one drop opens at most.
DROP_LIMIT = 50
_SCHEMES = (
    "cdmremote:",
    "http://",
    "https://",
    "s3://",
    "gs://",
    "gcs://",
    "abfs://",
    "abfss://",
    "az://",
    "file://",
)


@dataclass(frozen=True, slots=True)
class Drop:
    """What a drop names: paths and URLs of documents, in order."""

    targets: tuple[str, ...]

    @property
    def is_accepted(self) -> bool:
        """Whether there is anything to open."""
        return 0 < len(self.targets) <= DROP_LIMIT

    def words(self, others_open: bool) -> tuple[str, str]:
        """Return what dropping will do: a heading and a line of detail."""
        if not self.targets:
            return (
                "Nothing to open here",
                "Files, folders and URLs of documents, Zarr stores, ncstream and Awkward 0 can be dropped",
            )
        if not self.is_accepted:
            return (
                f"{len(self.targets)} are too many at once",
                f"At most {DROP_LIMIT} documents can be dropped",
            )
        names = [one_line(target.rstrip("/").rsplit("/", 1)[-1] or target) for target in self.targets]
        verb = "Open beside what is open" if others_open else "Open"
        name = names[0].lower()
        known = next((each for each in formats() if name.endswith(each.suffixes)), REFERENCES)
        what = "" if known is REFERENCES else f"{known.noun} "
        heading = f"{verb}: {what}{names[0]}" if len(names) == 1 else f"{verb}: {len(names)} documents"
        if len(names) == 1:
            return heading, one_line(self.targets[0])
        shown = ", ".join(names[:3])
        return heading, f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


def read_drop(data: QMimeData) -> Drop:
    """Return what dragged data names; only paths and URLs are read, no file is touched."""
    targets: list[str] = []
    if data.hasUrls():
        for url in data.urls():
            target = url.toLocalFile() if url.isLocalFile() else url.toString()
            if target:
                targets.append(target)
    elif data.hasText():
        lines = [line.strip() for line in data.text()[:65_536].splitlines()]
        for line in lines:
            if line.startswith(_SCHEMES) or line.startswith("/"):
                targets.append(QUrl(line).toLocalFile() if line.startswith("file://") else line)
    return Drop(tuple(dict.fromkeys(targets)))
