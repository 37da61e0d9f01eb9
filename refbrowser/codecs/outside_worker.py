"""A process that decodes with libraries outside of the bundled set: a script that imports nothing of ours.

It is started with the name of a codec, and reads requests from its standard input until that ends: two
lengths, an object in JSON, data. It answers each with a byte (0: good), a length, and that many
bytes.
"""

from __future__ import annotations

import json
import struct
import sys
from typing import Any, BinaryIO


def main() -> None:
    """Answer requests."""
    import numcodecs
    import numpy as np

    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    limited = False
    while (request := _request(requests)) is not None:
        header, data = request
        if not limited:
            _limit_memory(int(header["memory"]))
            limited = True
        try:
            answer = b"\0", _answer(header, data, numcodecs, np)
        except Exception as error:  # noqa: BLE001 - told to who asked
            answer = b"\1", f"{type(error).__name__}: {error}"[:500].encode()
        answers.write(answer[0] + struct.pack("<Q", len(answer[1])))
        answers.write(answer[1])
        answers.flush()


def _answer(header: dict[str, Any], data: bytes, numcodecs: Any, np: Any) -> bytes:
    configuration = header["codec"]
    # The only codec that is made here, whatever a request names.
    if configuration["id"] != sys.argv[1]:
        raise ValueError("no such codec")
    codec = numcodecs.get_codec(configuration)
    if header["encodes"]:
        return bytes(codec.encode(np.frombuffer(data, header["dtype"])))
    return np.asarray(codec.decode(data)).reshape(-1, order="A").tobytes()


def _request(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    sizes = stream.read(12)
    if len(sizes) < 12:
        return None
    header, data = struct.unpack("<IQ", sizes)
    return json.loads(stream.read(header)), stream.read(data)


def _limit_memory(size: int) -> None:
    """Let this process have no more than `size` bytes beside what it has."""
    try:
        import resource
    except ImportError:  # Windows has none.
        return
    try:
        with open("/proc/self/statm", "rb") as status:
            has = int(status.read().split()[0]) * resource.getpagesize()
    except OSError:  # Only Linux tells it so.
        return
    resource.setrlimit(resource.RLIMIT_AS, (has + size, has + size))


if __name__ == "__main__":
    main()
