"""What the window remembers: recent documents, its layout, and what the user prefers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QByteArray, QSettings

from refbrowser.views.file_sets import whole_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refbrowser.views.colours.colour_tables import ColourTable

#: Written with the settings; older ones are given up, not read wrongly.
VERSION = 1
#: Recent documents that are kept.
RECENT = 12
#: Imported colour tables that are kept.
COLOUR_TABLES = 50
#: Documents opened together that one entry has at most, and entries that can be pinned.
TOGETHER, PINNED = 5_000, 12
#: Sessions whose text is remembered.
SESSIONS = 50


class RecentEntry(NamedTuple):
    """Something that was opened lately, as it is listed.

    Attributes
    ----------
    path
        Of the document, or of the first that were opened together.
    more
        How many were opened with it, in words; empty for none.
    is_pinned
        Whether it stays at the top.
    """

    path: str
    more: str = ""
    is_pinned: bool = False


class Settings:
    """The user's settings file. A setting that cannot be read counts as not set.

    Parameters
    ----------
    is_kept
        Whether what the window looks like is read and anything is written; else preferences alone are read.
    """

    def __init__(self, *, is_kept: bool = True) -> None:
        self._is_kept = is_kept
        #: Documents that were opened together in this run, by the first of them.
        self._sets: dict[str, list[str]] = {}
        scope = QSettings.Scope.UserScope
        self._store = QSettings(QSettings.Format.IniFormat, scope, "refbrowser", "refbrowser")
        if is_kept and self._store.value("version", VERSION, int) != VERSION:
            self._store.clear()
        self._keep("version", VERSION)

    def _keep(self, name: str, value: object) -> None:
        if self._is_kept:
            self._store.setValue(name, value)

    def _forget(self, name: str) -> None:
        if self._is_kept:
            self._store.remove(name)

    def recent(self) -> list[str]:
        """Return the documents that were opened lately: those that are pinned, then the newest first."""
        pinned = self._texts("pinned")
        return [*pinned, *(path for path in self._texts("recent") if path not in pinned)]

    def recent_entries(self) -> list[RecentEntry]:
        """Return what was opened lately, as it is listed."""
        return [RecentEntry(path, self.more_words(path), self.is_pinned(path)) for path in self.recent()]

    def is_pinned(self, path: str) -> bool:
        """Whether a document, or the one that it is listed under, stays at the top of the recent ones."""
        return self._first_of(path) in self._texts("pinned")

    def set_pinned(self, path: str, pinned: bool) -> None:
        """Let a document stay at the top of the recent ones, or no longer."""
        import json

        first = self._first_of(path)
        others = [other for other in self._texts("pinned") if other != first]
        self._keep("pinned", json.dumps([*others, first][-PINNED:] if pinned else others))
        if not pinned:
            # It is the newest of the others.
            self.add_recent(first)

    def _texts(self, name: str) -> list[str]:
        return [text for text in self._json(name, []) if isinstance(text, str)]

    def add_recent(self, path: str) -> None:
        """Put a document at the front of the recent ones."""
        import json

        from refbrowser.views.window_states.session_file import is_session

        first = self._first_of(path)
        # Documents of a session may have entries of their own as well.
        together = {first} if is_session(first) else set(self.together(first))
        paths = [first, *(other for other in self._texts("recent") if other not in together)]
        self._keep("recent", json.dumps(paths[:RECENT]))
        listed = [*paths[:RECENT], *self._texts("pinned")]
        kept = {one: self._sets[one] if one in self._sets else self.together(one) for one in listed}
        self._keep(
            "together", json.dumps({one: several for one, several in kept.items() if len(several) > 1})
        )

    def keep_together(self, paths: Sequence[str]) -> None:
        """Let documents that are opened together be one entry, under the first; one alone is its own."""
        full = list(map(whole_path, paths[:TOGETHER]))
        for first in [first for first, several in self._sets.items() if not set(several).isdisjoint(full)]:
            del self._sets[first]
        if full:
            self._sets[full[0]] = full

    def together(self, path: str) -> list[str]:
        """Return the documents that were opened with one that was opened lately, itself first."""
        if path in self._sets:
            return self._sets[path]
        several = self._json("together", {}).get(path)
        is_right = isinstance(several, list) and all(isinstance(one, str) for one in several)
        return several if is_right and several and several[0] == path else [path]

    def more_words(self, path: str) -> str:
        """Return how many were opened with a document that was opened lately; nothing for none."""
        from refbrowser.views.window_states.session_file import is_session

        if is_session(path):
            return "  (session)"
        more = len(self.together(path)) - 1
        return f"  and {more} more" if more else ""

    def _first_of(self, path: str) -> str:
        """Return the document under which one that was opened with others is listed."""
        return next((first for first, several in self._sets.items() if path in several), path)

    def _json(self, name: str, otherwise: Any) -> Any:
        """Return a value that is kept as JSON, where it is of the type of `otherwise`."""
        import json

        try:
            value = json.loads(str(self._store.value(name, "null")))
        except ValueError:
            return otherwise
        return value if isinstance(value, type(otherwise)) else otherwise

    def clear_recent(self) -> None:
        """Forget the recent documents that are not pinned."""
        import json

        kept = {one: several for one in self._texts("pinned") if len(several := self.together(one)) > 1}
        self._forget("recent")
        self._keep("together", json.dumps(kept))
        self._sets.clear()
        self._forget("flavours")
        self._forget("byteOrders")
        self._forget("arrays")

    def flavour(self, path: str) -> str:
        """Return the flavour that the user chose for a store that was opened lately; empty for none."""
        return self._by_path("flavours").get(path, "")

    def set_flavour(self, path: str, flavour: str) -> None:
        """Remember the flavour that the user chose for a store; none where it is empty."""
        self._set_by_path("flavours", path, flavour)

    def byte_order(self, path: str) -> str:
        """Return the byte order that the user chose for a stream that was opened lately; empty for none."""
        return self._by_path("byteOrders").get(path, "")

    def set_byte_order(self, path: str, order: str) -> None:
        """Remember the byte order that the user chose for a stream; none where it is empty."""
        self._set_by_path("byteOrders", path, order)

    def options(self, path: str) -> dict[str, str]:
        """Return the options of opening that are kept for a file whenever it is opened, by name."""
        order = self.byte_order(path)
        return {"byte_order": order} if order else {}

    def array(self, path: str) -> str:
        """Return the array of a document that was plotted last; empty for none."""
        return self._by_path("arrays").get(path, "")

    def set_array(self, path: str, array: str) -> None:
        """Remember which array of a document was plotted last."""
        self._set_by_path("arrays", path, array)

    def _set_by_path(self, name: str, path: str, choice: str) -> None:
        import json

        recent = {*self.recent(), path}
        kept = {other: chosen for other, chosen in self._by_path(name).items() if other in recent}
        kept[path] = choice
        self._keep(name, json.dumps({other: chosen for other, chosen in kept.items() if chosen}))

    def _by_path(self, name: str) -> dict[str, str]:
        items = self._json(name, {}).items()
        return {path: chosen for path, chosen in items if isinstance(chosen, str)}

    def session_mark(self, path: str) -> str:
        """Return what marks the text of a session that this user saved or opened last; empty for none."""
        return str(self._json("sessions", {}).get(path, ""))

    def set_session_mark(self, path: str, mark: str) -> None:
        """Remember the text of a session: it is not asked about again."""
        import json

        others = {other: kept for other, kept in self._json("sessions", {}).items() if other != path}
        self._keep("sessions", json.dumps(dict([*others.items(), (path, mark)][-SESSIONS:])))

    def was_toured(self) -> bool:
        """Tell whether the tour was offered before."""
        return bool(self._store.value("toured", False, bool))

    def set_toured(self) -> None:
        """Keep that the tour was offered."""
        self._keep("toured", True)

    def folder(self) -> str:
        """Return the folder of what was opened last from a dialog; empty where it is not there any more."""
        folder = str(self._store.value("folder", ""))
        return folder if os.path.isdir(folder) else ""

    def set_folder(self, folder: str) -> None:
        """Remember the folder of what was opened from a dialog."""
        self._keep("folder", folder)

    def colour_tables(self) -> list[ColourTable]:
        """Return the colour tables that the user imported."""
        from refbrowser.views.colours.colour_tables import KEPT, ColourTable

        found = []
        for title, text in list(self._json("colourTables", {}).items())[:COLOUR_TABLES]:
            is_text = isinstance(text, str) and len(text) == 6 * KEPT
            if is_text and all(letter in "0123456789abcdef" for letter in text):
                found.append(ColourTable(title, bytes.fromhex(text)))
        return found

    def set_colour_tables(self, tables: Sequence[ColourTable]) -> None:
        """Keep the colour tables that the user imported; of more than are kept, the last."""
        import json

        kept = {each.title: each.rgb.hex() for each in tables[-COLOUR_TABLES:]}
        self._keep("colourTables", json.dumps(kept))

    def preference(self, name: str) -> str | None:
        """Return the text that is kept for a preference, or None."""
        value = self._store.value(f"preferences/{name}")
        return None if value is None else str(value)

    def set_preference(self, name: str, text: str | None) -> None:
        """Keep the text of a preference; None forgets it."""
        if text is None:
            self._forget(f"preferences/{name}")
        else:
            self._keep(f"preferences/{name}", text)

    def view(self, name: str) -> list[int]:
        """Return the numbers that a view keeps (widths of columns, a tab); none where there are none."""
        if not self._is_kept:
            return []
        numbers = self._json(f"views/{name}", [])
        return [number for number in numbers if isinstance(number, int) and 0 <= number < 100_000][:100]

    def set_view(self, name: str, numbers: Sequence[int]) -> None:
        """Keep the numbers of a view."""
        import json

        self._keep(f"views/{name}", json.dumps(list(numbers)))

    def clear_views(self) -> None:
        """Forget the numbers of all views."""
        self._forget("views")

    def layout(self) -> tuple[QByteArray, QByteArray] | None:
        """Return geometry and state of the window, as it was left."""
        geometry, state = self._store.value("geometry"), self._store.value("state")
        if isinstance(geometry, QByteArray) and isinstance(state, QByteArray):
            return geometry, state
        return None

    def set_layout(self, geometry: QByteArray, state: QByteArray) -> None:
        """Remember geometry and state of the window."""
        self._keep("geometry", geometry)
        self._keep("state", state)
