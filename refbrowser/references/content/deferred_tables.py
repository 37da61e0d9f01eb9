"""Tables of references that are made when somebody first looks at their rows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import fields
from typing import Any, Self

from refbrowser.references.content.table import TextTable


class Deferred:
    """What makes a table of its columns a later one; stands before the class of the table."""

    _make: Callable[[], Any]
    _lock: threading.Lock
    _before: Callable[[], None]

    @classmethod
    def of(cls, make: Callable[[], Any]) -> Self:
        """Return the table that `make` gives; it is called once, by whoever looks first.

        What it raises is raised where somebody looks, and it is called again for the next one.
        """
        table = object.__new__(cls)
        table.__dict__.update(_make=make, _before=lambda: None, _lock=threading.Lock())
        return table

    def ask_first(self, before: Callable[[], None]) -> None:
        """Have `before` called before it is made; what that raises is raised where somebody looks."""
        self.__dict__["_before"] = before

    def read(self) -> None:
        """Make it now, where it is not; nobody is asked."""
        self._get(lambda: None)

    @property
    def is_read(self) -> bool:
        """Whether it was made."""
        return "_found" in self.__dict__ or "_make" not in self.__dict__

    def _get(self, before: Callable[[], None]) -> Any:
        with self._lock:
            if "_found" not in self.__dict__:
                before()
                self.__dict__["_found"] = self._make()
        return self.__dict__["_found"]

    def __getattr__(self, name: str) -> Any:
        # Only of what is not set: columns, of a table that `of` gave.
        columns = {field.name for field in fields(type(self))}  # type: ignore[arg-type]
        if name not in columns or "_make" not in self.__dict__:
            raise AttributeError(name)
        found = self.__dict__[name] = getattr(self._get(self._before), name)
        return found


class DeferredTextTable(Deferred, TextTable):
    """Such a table of entries in a text; what is made of it is a plain one."""
