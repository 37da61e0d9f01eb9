"""Object stores on loopback: moto for S3, gcp-storage-emulator for Google's, Azurite for Azure's.

Each runs in a process of its own for all processes of a run of tests, ends with the last of them, and holds
its objects in memory. In a test::

    def test_it(s3_server: ObjectServer) -> None:
        bucket = s3_server.new_bucket()  # "s3://bucket-1"
        s3_server.put(f"{bucket}/a.bin", b"...")
        ... ["--allow", bucket, *s3_server.options(bucket)] ...

What writes here goes around the program: fsspec's packages with credentials of their own.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from installed import node_package, one_at_a_time, python_packages

SCRIPT = Path(__file__).resolve().parent / "serve_objects.py"
#: moto needs a botocore newer than that of s3fs; this is what its S3 server imports, and no more.
MOTO = (
    "moto==5.2.5",
    "boto3==1.44.5",
    "botocore==1.44.5",
    "s3transfer==0.19.3",
    "jmespath==1.1.0",
    "python-dateutil==2.9.0.post0",
    "six==1.17.0",
    "urllib3==2.8.0",
    "requests==2.34.2",
    "responses==0.26.3",
    "certifi",
    "charset-normalizer",
    "idna",
    "xmltodict==1.0.4",
    "pyyaml==6.0.3",
    "cryptography==50.0.2",
    "cffi==2.1.1",
    "flask==3.1.3",
    "flask-cors==6.0.5",
    "werkzeug==3.1.9",
    "jinja2==3.1.6",
    "markupsafe==3.0.4",
    "blinker==1.9.0",
    "itsdangerous==2.2.0",
    "click==8.5.1",
    "typing-extensions",
)
AZURITE = "3.35.0"
_PATIENCE = 60.0

#: Of moto, which takes any; they look like those of its users and open nothing elsewhere.
KEY_ID, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
#: Azurite's own account, the same everywhere.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


class ObjectServer:
    """One object store.

    Attributes
    ----------
    scheme
        One of ``s3 gs abfs``.
    endpoint
        Address of the service, as the option ``endpoint`` takes it.
    environment
        Variables with the credentials, as a user has them.
    """

    def __init__(self, scheme: str, endpoint: str) -> None:
        self.scheme = scheme
        self.endpoint = endpoint
        self._numbers = itertools.count(1)

    @property
    def environment(self) -> Mapping[str, str]:
        """See the class."""
        if self.scheme == "s3":
            return {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET}
        if self.scheme == "abfs":
            return {"AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": ACCOUNT_KEY}
        return {}

    def settings(self, origin: str, **more: str) -> list[str]:
        """Return the settings of an origin as ``ORIGIN:KEY=VALUE``: where it is, and how to sign."""
        options = {"endpoint": self.endpoint}
        if self.scheme == "abfs":
            options["account"] = ACCOUNT
        if self.scheme != "gs":
            options["anonymous"] = "false"
        return [f"{origin}:{key}={value}" for key, value in {**options, **more}.items()]

    def options(self, origin: str, **more: str) -> list[str]:
        """Return the options of the command line for an origin."""
        return [part for text in self.settings(origin, **more) for part in ("--storage-option", text)]

    @cached_property
    def files(self) -> Any:
        """fsspec's file system with all permissions."""
        if self.scheme == "s3":
            from s3fs import S3FileSystem

            return S3FileSystem(
                key=KEY_ID, secret=SECRET, endpoint_url=self.endpoint, skip_instance_cache=True
            )
        if self.scheme == "gs":
            from gcsfs.core import GCSFileSystem  # The other one asks Google over gRPC first.

            return GCSFileSystem(token="anon", endpoint_url=self.endpoint, skip_instance_cache=True)
        from adlfs import AzureBlobFileSystem

        return AzureBlobFileSystem(connection_string=self.connection, skip_instance_cache=True)

    @property
    def connection(self) -> str:
        """The connection string of Azure's account."""
        return (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={ACCOUNT_KEY};"
            f"BlobEndpoint={self.endpoint};"
        )

    def new_bucket(self) -> str:
        """Make a bucket (or container) that no other test has; return its origin."""
        name = f"bucket-{os.getpid()}-{next(self._numbers)}"
        self.files.mkdir(name)
        return f"{self.scheme}://{name}"

    def put(self, url: str, data: bytes) -> None:
        """Write an object."""
        self.files.pipe_file(self._path(url), data)

    def put_all(self, url: str, objects: Mapping[str, bytes]) -> None:
        """Write objects below a URL, by their keys there."""
        self.files.pipe({f"{self._path(url)}/{key}": data for key, data in objects.items()})

    def put_folder(self, url: str, folder: Path) -> None:
        """Write the files of a folder below a URL."""
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        self.put_all(url, {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})

    def get(self, url: str) -> bytes:
        """Return an object."""
        return self.files.cat_file(self._path(url))

    def objects(self, url: str) -> dict[str, bytes]:
        """Return all objects below a URL, by their keys there."""
        path = self._path(url)
        self.files.invalidate_cache()
        names = self.files.find(path)
        return {name.removeprefix(f"{path}/"): self.files.cat_file(name) for name in names}

    def remove(self, url: str) -> None:
        """Delete an object."""
        self.files.rm_file(self._path(url))

    def _path(self, url: str) -> str:
        return url.removeprefix(f"{self.scheme}://").rstrip("/")


class Recorder:
    """Stands before an S3 server, and notes who asks for what; a context manager.

    Attributes
    ----------
    asked
        Bucket, and the name of the key that signed (empty: nobody signed), of each request.
    """

    def __init__(self, endpoint: str) -> None:
        self.asked: set[tuple[str, str]] = set()
        recorder, target = self, urlsplit(endpoint)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                signed = re.search(r"Credential=([^/]+)/", self.headers.get("Authorization", ""))
                recorder.asked.add((self.path.split("/")[1].partition("?")[0], signed[1] if signed else ""))
                connection = HTTPConnection(target.hostname or "", target.port, timeout=_PATIENCE)
                connection.request("GET", self.path, headers=dict(self.headers))
                answer = connection.getresponse()
                body = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                connection.close()

            def log_message(self, *arguments: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Recorder:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def object_server(scheme: str, folder: Path) -> Iterator[ObjectServer]:
    """Run the server of a scheme; skip where it, or fsspec's package for it, is not installed.

    Parameters
    ----------
    folder
        Of all who use the same one.
    """
    fcntl = pytest.importorskip("fcntl", reason="servers are shared by locks of files")
    package = {"s3": "s3fs", "gs": "gcsfs", "abfs": "adlfs"}[scheme]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    variables = dict(os.environ)
    arguments = []
    if scheme == "s3":
        # Pages of a listing are short, so that a few objects take several.
        variables |= {"PYTHONPATH": str(python_packages("moto", MOTO)), "MOTO_S3_DEFAULT_MAX_KEYS": "50"}
    elif scheme == "abfs":
        arguments = [str(node_package("azurite", AZURITE) / "dist" / "src" / "blob" / "main.js")]
    elif importlib.util.find_spec("gcp_storage_emulator") is None:
        pytest.skip("gcp-storage-emulator is not installed")
    folder = folder / f"server-{scheme}"
    folder.mkdir(exist_ok=True)
    with (folder / "users").open("a") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        with one_at_a_time(folder / "starting"):
            if not (folder / "port").exists():
                _start([sys.executable, str(SCRIPT), str(folder), scheme, *arguments], variables, folder)
            port = (folder / "port").read_text()
        path = f"/{ACCOUNT}" if scheme == "abfs" else ""
        yield ObjectServer(scheme, f"http://127.0.0.1:{port}{path}")


def _start(command: list[str], variables: dict[str, str], folder: Path) -> None:
    """Start a server, and wait until it answers."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=quiet, stdout=quiet, env=variables, start_new_session=True)
    end = time.monotonic() + _PATIENCE
    while not (folder / "port").exists():
        if process.poll() is not None:
            pytest.fail(f"{command[2:]} ended: {process.returncode}")
        if time.monotonic() > end:
            process.kill()
            pytest.fail(f"{command[2:]} did not start within {_PATIENCE:g} s")
        time.sleep(0.05)
    # It ends by itself, after this process.
    process.returncode = 0
