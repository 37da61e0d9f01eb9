"""Run an object store on a free port of loopback: ``serve_objects.py FOLDER s3|gs|abfs``.

Writes its port to ``FOLDER/port`` when it answers. It ends when nobody holds ``FOLDER/users`` any more, which
those who use it lock together: the kernel gives a lock back however its holder ends.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import socketserver
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path


def serve_s3() -> int:
    """Serve moto; return its port."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    return server.get_host_and_port()[1]


def serve_gs() -> int:
    """Serve gcp-storage-emulator, in memory; return its port."""
    from gcp_storage_emulator.server import create_server

    logging.disable(logging.CRITICAL)
    # Of connections that come together all but five would wait a second.
    socketserver.TCPServer.request_queue_size = 128
    server = create_server("127.0.0.1", 0, in_memory=True)
    server._api.daemon = True
    server.start()
    while server._api._httpd is None:
        pass
    return server._api._httpd.server_port


def serve_abfs(script: str) -> int:
    """Serve Azurite, in memory; return its port."""
    options = ["--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent"]
    process = subprocess.Popen(
        ["node", script, "--blobHost", "127.0.0.1", "--blobPort", "0", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    children.append(process)
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        found = re.search(r"listens on http://127\.0\.0\.1:(\d+)", line)
        if found:
            return int(found[1])
    raise SystemExit("".join(lines))


children: list[subprocess.Popen[str]] = []

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    port = {"s3": serve_s3, "gs": serve_gs, "abfs": serve_abfs}[sys.argv[2]](*sys.argv[3:])
    (folder / "made").write_text(str(port))
    (folder / "made").rename(folder / "port")
    with (folder / "users").open() as users:
        while True:
            time.sleep(0.2)
            with suppress(BlockingIOError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
        # Whoever comes now starts another one.
        (folder / "port").unlink(missing_ok=True)
    for child in children:
        child.kill()
    os._exit(0)
