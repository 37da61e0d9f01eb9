"""What starts the program on Windows and macOS, as far as its bytes can tell."""

from __future__ import annotations

import io
import plistlib
import re
import subprocess
import sys
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from refbrowser.formats.registry import BUILT_IN
from refbrowser.views.window_states.session_file import SUFFIX

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "packaging" / "desktop"))
try:
    import macos_app
    import windows_launchers
finally:
    sys.path.pop(0)


def test_a_launcher_of_windows_starts_the_python_beside_it(tmp_path: Path) -> None:
    pytest.importorskip("pip")
    for name in ("python313.dll", "python3.dll"):
        (tmp_path / name).touch()
    windows_launchers.write(tmp_path)
    for name, python in (("refbrowser.exe", b"python.exe"), ("refbrowser-window.exe", b"pythonw.exe")):
        made = (tmp_path / name).read_bytes()
        assert made[:2] == b"MZ"
        assert b"#!<launcher_dir>\\" + python + b"\r\n" in made
        # The launcher itself knows what stands in brackets.
        assert "<launcher_dir>\\".encode("utf-16-le") in made
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            compile(archive.read("__main__.py"), "__main__.py", "exec")
    assert (tmp_path / "python313._pth").read_text().splitlines() == ["Lib", "DLLs", r"Lib\site-packages"]
    assert not (tmp_path / "python3._pth").exists()


def test_the_module_of_a_launcher_is_the_command(tmp_path: Path) -> None:
    stub = files("pip._vendor.distlib").joinpath("t64.exe").read_bytes()
    path = tmp_path / "refbrowser.exe"
    path.write_bytes(windows_launchers.launcher(stub, "python.exe"))
    done = subprocess.run(
        [sys.executable, str(path), "--version"], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("refbrowser "), done.stderr


def test_macos_is_told_what_opens_and_that_others_go_first(tmp_path: Path) -> None:
    folder = tmp_path / "refbrowser-0.2.0-macos-arm64"
    folder.mkdir()
    (folder / "refbrowser").write_text("#!/bin/sh\n")
    app = macos_app.make(folder, tmp_path)
    told = plistlib.loads((app / "Contents" / "Info.plist").read_bytes())
    assert told["CFBundleShortVersionString"] == "0.2.0"
    (kind,) = told["CFBundleDocumentTypes"]
    assert kind["LSHandlerRank"] == "Alternate"
    known = {suffix.strip("./").rpartition(".")[2] for each in BUILT_IN for suffix in each.suffixes}
    assert {"json", "ncs", "awkd", "dmrpp", "nc", "h5", "zarr", "icechunk", "parq"} <= {
        *kind["CFBundleTypeExtensions"]
    }
    assert {*kind["CFBundleTypeExtensions"]} <= known | {SUFFIX.strip(".")}
    assert (app / "Contents" / "Resources" / "refbrowser" / "refbrowser").is_file()
    assert (app / "Contents" / "MacOS" / told["CFBundleExecutable"]).stat().st_mode & 0o111


def test_the_workflow_makes_and_tries_what_there_is_on_each_system() -> None:
    text = (CHECKOUT / ".github/workflows/bundles.yml").read_text("utf-8")
    job = yaml.safe_load(text)["jobs"]["bundle"]
    assert {each.split("-")[0] for each in job["strategy"]["matrix"]["os"]} == {"ubuntu", "macos", "windows"}
    scripts = set(re.findall(r"packaging/[\w/]+\.(?:py|sh)", text))
    assert {"packaging/build.py", "packaging/desktop/bundle.py", "packaging/desktop/try.sh"} <= scripts
    for script in scripts:
        assert (CHECKOUT / script).is_file(), script
