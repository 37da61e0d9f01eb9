"""A process that runs functions for `refbrowser.engine.workers.processes`; it is started as a script.

Unlike those of `multiprocessing` it never runs the program of its caller, so no ``__main__`` guard is needed.
Requests come by standard input, answers go by standard output, as pickles, each behind its length. An empty
request, or the end of the input, ends the process.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
from queue import SimpleQueue
from typing import Any, BinaryIO

#: Objects that are made before what nobody needs is looked for: thousands of files are read.
_UNCOLLECTED = 10_000
#: Bytes of the length of a pickle.
_LENGTH = 8


def write_message(stream: BinaryIO, data: bytes) -> None:
    """Write a pickle and its length."""
    stream.write(len(data).to_bytes(_LENGTH, "little"))
    stream.write(data)
    stream.flush()


def read_message(stream: BinaryIO) -> bytes:
    """Return the next pickle.

    Raises
    ------
    EOFError
        There is none.
    """
    length = stream.read(_LENGTH)
    size = int.from_bytes(length, "little")
    data = stream.read(size) if len(length) == _LENGTH else b""
    if len(length) < _LENGTH or len(data) < size:
        raise EOFError
    return data


def main() -> None:
    """Answer each request until there are no more."""
    # Who presses Ctrl-C means the program, which ends this process when it is no longer needed.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # What a library prints must not lie among the answers.
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    # From the program that started this process.
    setting = pickle.loads(read_message(requests))
    # Modules are found where the program finds them, and those of a folder that was added there too.
    sys.path[:] = setting["path"]
    from refbrowser.limits import adjust

    for name, value in setting["limits"].items():
        adjust(name, value)
    gc.set_threshold(_UNCOLLECTED, 10, 10)
    waiting: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(requests, waiting), name="waiting", daemon=True).start()
    while request := waiting.get():
        write_message(answers, _answer(request))
    from refbrowser.formats.library.process import end_spare

    end_spare()


def _receive(requests: BinaryIO, waiting: SimpleQueue[bytes]) -> None:
    """Take requests, and end this process at once when the program is gone, however it ended."""
    try:
        while request := read_message(requests):
            waiting.put(request)
    except (EOFError, OSError):
        os._exit(1)
    waiting.put(b"")


def _answer(request: bytes) -> bytes:
    """Return whether all went well, and what a function returned or raised."""
    answer: tuple[bool, Any]
    try:
        function, given, named = pickle.loads(request)
        answer = True, function(*given, **named)
    except Exception as error:  # noqa: BLE001 - whatever it raises is its outcome
        answer = False, error
    try:
        return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - of what cannot be sent
        return pickle.dumps((False, RuntimeError(f"the answer cannot be sent: {error}")))


if __name__ == "__main__":
    main()
