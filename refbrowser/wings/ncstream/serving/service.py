"""Offers an opened dataset as CDM Remote, until it is stopped."""

from __future__ import annotations

import ipaddress
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.wings.ncstream.serving.application import Application
from refbrowser.wings.ncstream.serving.http import ThreadedServer
from refbrowser.wings.ncstream.serving.offered_state import name_of
from refbrowser.wings.ncstream.serving.request import LOOPBACK

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.wings.ncstream.writing.definition_of import StreamedDataset

#: Name of the logger of what goes wrong inside.
LOGGER = "refbrowser.wings.ncstream.serving"
_NAMES = ("localhost", "127.0.0.1", "::1")


class Service:
    """A dataset offered over HTTP as CDM Remote (wire notes, section 6); a context manager.

    Parameters
    ----------
    dataset
        What is offered. It stays the caller's: it must be open until `stop`.
    host
        The address to listen at; with another than the loopback's, other machines can read the dataset.
    port
        0 for any that is free.
    """

    def __init__(self, dataset: Dataset, host: str = LOOPBACK, port: int = 0) -> None:
        self._host = host
        self._port = port
        self._path = f"/cdmremote/{quote(name_of(dataset), safe='')}"
        self._application = Application(dataset, self._path)
        self._server: ThreadedServer | None = None

    @property
    def url(self) -> str:
        """Where clients find it; empty while it is not running."""
        if self._server is None:
            return ""
        return f"{self._origin(self._server)}{self._path}"

    @property
    def is_running(self) -> bool:
        """Whether it answers requests."""
        return self._server is not None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self._host)

    def described(self) -> StreamedDataset:
        """Return what clients are told; its `losses` and `left_out` are what is not as it is here."""
        return self._application.described()

    def start(self) -> None:
        """Listen, and answer on threads of its own.

        Raises
        ------
        RefbrowserError
            `E_IO`: the address cannot be had.
        """
        if self._server is not None:
            return
        try:
            server = ThreadedServer(self._host, self._port, self._application)
        except (OSError, OverflowError) as error:
            message = f"cannot listen at {quoted(self._host)}, port {self._port}: {quoted(error)[1:-1]}"
            raise RefbrowserError(ErrorKind.IO, message, advice="choose another port") from None
        # A page of another site may lead a name of its own to this machine, and read what is there.
        names = {self._host.lower(), *_NAMES} if self.is_loopback else None
        self._application.begin(f"{self._origin(server)}{self._path}", names)
        self._server = server
        threading.Thread(target=server.run, name="serving", daemon=True).start()

    def stop(self) -> None:
        """Stop listening; answers under way are cut off."""
        server, self._server = self._server, None
        if server is not None:
            self._application.end()
            server.end()

    def offer(self, dataset: Dataset) -> None:
        """Offer another state of the dataset, at the same address."""
        self._application.offer(dataset)

    def _origin(self, server: ThreadedServer) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{server.server_port}"

    def __enter__(self) -> Service:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address.lower() == "localhost"
