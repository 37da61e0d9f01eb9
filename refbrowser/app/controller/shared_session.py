"""The one session (connections, decode pool, cache) that all documents of a window share."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from refbrowser.views.compute_places import ComputeChoice

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.origins import ConnectionSettings, Origin


class SharedSession:
    """Made on the worker thread that needs it first, because its libraries load after the first paint.

    Attributes
    ----------
    settings
        Connection settings that the user gave, per origin: for all documents, until the window is closed.
    lenders
        Codecs and packages that may decode, as ``--allow-codec`` takes them: for all documents, as well.
    compute
        Where exports run.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._connections: int | None = None
        self._cache: int | None = None
        self.settings: Mapping[Origin, ConnectionSettings] = {}
        self.lenders: frozenset[str] = frozenset()
        self.compute = ComputeChoice()

    def get(self) -> Session:
        """Return the session."""
        with self._lock:
            if self._session is None:
                from refbrowser.engine.session import Session

                self._session = Session()
                self._tune(self._session)
            return self._session

    def tune(self, connections: int, cache: int) -> None:
        """Use at most so many connections to one host, and keep so many bytes of decoded chunks."""
        with self._lock:
            self._connections, self._cache = connections, cache
            if self._session is not None:
                self._tune(self._session)

    def _tune(self, session: Session) -> None:
        if self._connections is not None:
            session.fetcher.set_connections(self._connections)
        if self._cache is not None:
            session.cache.set_capacity(self._cache)

    def close(self) -> None:
        """Close connections and threads, where there are any."""
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None
