"""The one session (connections, decode pool, cache) that all documents of a window share."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refbrowser.engine.session import Session


class SharedSession:
    """Made on the worker thread that needs it first, because its libraries load after the first paint."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: Session | None = None

    def get(self) -> Session:
        """Return the session."""
        with self._lock:
            if self._session is None:
                from refbrowser.engine.session import Session

                self._session = Session()
            return self._session

    def close(self) -> None:
        """Close connections and threads, where there are any."""
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None
