"""``refbrowser serve`` as a process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from refbrowser.cli import main


def serve(path: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "refbrowser", "serve", str(path), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_it_serves_until_it_is_interrupted(shared_data: Path, number: int) -> None:
    cdmr = pytest.importorskip("siphon.cdmr")
    path = shared_data / "real" / "eraint_uvz.refs.json"
    with serve(path, "--json") as process:
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            assert [loss["path"] for loss in said["losses"]] == ["/z", "/u", "/v"]
            url = said["url"]
            assert url.startswith("http://127.0.0.1:")
            remote = cdmr.Dataset(url)
            assert remote.variables["level"][:].tolist() == [200, 500, 850]
            assert np.shape(remote.variables["z"][0, :, ::40, 5]) == (3, 7)
        finally:
            process.send_signal(number)
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=5)


@pytest.mark.slow
def test_another_address_is_told(shared_data: Path) -> None:
    with serve(shared_data / "real" / "crm.refs.json", "--host", "0.0.0.0") as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("http://0.0.0.0:")
        finally:
            process.terminate()
        assert process.stderr is not None
        assert "other machines" in process.stderr.read()


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--port", "70000"], 2, "not a number from 0 to 65535"),
        (["--port", "x"], 2, "invalid int"),
        (["--host", "203.0.113.1"], 4, "cannot listen"),
    ],
)
def test_wrong_addresses(
    shared_data: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: int, told: str
) -> None:
    assert main(["serve", str(shared_data / "real" / "crm.refs.json"), *options]) == code
    assert told in capsys.readouterr().err
