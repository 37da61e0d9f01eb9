"""The one session (connections, decode pool, cache) that all documents of a window share."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.origins import Origin
    from refbrowser.io.settings import ConnectionSettings


class SharedSession:
    """Made on the worker thread that needs it first, because its libraries load after the first paint.

    Attributes
    ----------
    settings
        Connection settings that the user gave, per origin: for all documents, until the window is closed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: Session | None = None
        self.settings: Mapping[Origin, ConnectionSettings] = {}

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
