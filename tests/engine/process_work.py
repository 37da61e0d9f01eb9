"""What processes of this machine are given by their tests: imported there, so it imports little."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from refbrowser.exporting.making.made_references import MakeTask
from refbrowser.io.files.hidden_siblings import sibling_of
from refbrowser.limits import LIMITS


def eventually(happens: Callable[[], object]) -> bool:
    """Wait until something is so, on a busy machine too; tell whether it is."""
    end = time.monotonic() + 60
    while not (found := happens()) and time.monotonic() < end:
        time.sleep(0.01)
    return bool(found)


def ends_at_first(item: tuple[str, int]) -> int:
    """Kill the process that is at the third item, the first time."""
    mark, number = item
    if number == 3:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return number
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def ends_always(number: int) -> int:
    if number == 3:
        os._exit(1)
    if number == 4:
        raise ValueError("of the function")
    return number


def unsendable(number: int) -> object:
    return lambda: number


def limit() -> int:
    return LIMITS.view_chunks


def waits(folder: str) -> None:
    """Tell who works, and never end."""
    (Path(folder) / str(os.getpid())).touch()
    threading.Event().wait()


def answers_once(folder: str) -> int:
    """Answer when another process works, which never ends."""
    try:
        os.mkdir(folder)
    except FileExistsError:
        waits(folder)
    eventually(lambda: os.listdir(folder))
    return 1


def leaves(task: MakeTask) -> None:
    """Write to what lies beside the document, and never end; fail when another process does so."""
    folder = os.path.dirname(task.target)
    try:
        os.close(os.open(os.path.join(folder, "mark"), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        eventually(lambda: len(os.listdir(folder)) > 1)
        raise ValueError("of the function") from None
    Path(sibling_of(task.target)).touch()
    threading.Event().wait()


def reachable(_: object = None) -> list[str]:
    """Return what others can reach in this process: sockets that listen, and the cluster of Dask."""
    found = [name for name in ("distributed", "dask") if name in sys.modules]
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            with socket.socket(fileno=os.dup(number)) as each:
                if each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    found.append(str(each.getsockname()))
        except OSError:  # no socket
            continue
    return found
