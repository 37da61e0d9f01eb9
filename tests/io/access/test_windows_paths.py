"""Paths as Windows reads them: drives, shares, devices and streams, simulated by the texts of paths."""

from __future__ import annotations

import ntpath
import os
from pathlib import Path

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io import origins
from refbrowser.io.access import windows_paths
from refbrowser.io.access.access import Access
from refbrowser.io.access.windows_paths import fault_of, is_elsewhere, share_of, unresolved
from refbrowser.io.origins import is_below, local_path, scheme_of, split_url


@pytest.mark.parametrize(
    "path",
    [
        *(r"data\a.nc", "data/a.nc", r"C:\data\a.nc", "c:/data/a.nc", r"\data\a.nc", r"..\a.nc", "C:"),
        *(r"\\nas\data\a.nc", "//nas/data/a.nc", "console.nc", "null", "com.nc", "com10.nc", "a.con", "lpt"),
    ],
)
def test_paths_of_files_may_be_read(path: str) -> None:
    assert fault_of(path) is None


@pytest.mark.parametrize(
    ("path", "said"),
    [
        *((path, "device") for path in ("CON", "nul", "con.nc", r"data\AUX.txt", "d/prn ", "COM1", "lpt9.x")),
        *(
            (path, "device")
            for path in ("com¹", "CONIN$", "nul.", r"C:\nul", "a/CON/b.nc", "NUL:", "aux.h5.nc")
        ),
        *(
            (path, "devices")
            for path in (r"\\.\PhysicalDrive0", r"\\?\C:\a.nc", "//?/UNC/nas/x", r"\??\C:\a")
        ),
        *((path, "stream") for path in ("a.nc:hidden", r"C:\a.nc:$DATA", "a.nc::$DATA", r"\\nas\d\a:b")),
        *((path, "current folder of a drive") for path in ("C:a.nc", "d:data/a.nc")),
    ],
)
def test_what_is_more_than_a_file_is_never_read(path: str, said: str) -> None:
    assert said in (fault_of(path) or "")


def test_shares_are_told_apart_without_asking_them() -> None:
    assert share_of(r"\\NAS\Data\a.nc") == share_of("//nas/data/deep/b.nc") == r"\\nas\data"
    assert share_of(r"C:\data\a.nc") is None
    assert share_of("data/a.nc") is None
    assert not is_elsewhere(r"\\nas\data\a.nc", r"\\NAS\data\sets")
    assert not is_elsewhere("a.nc", r"C:\sets")
    assert is_elsewhere(r"\\nas\other\a.nc", r"\\nas\data")
    assert is_elsewhere("//evil/share/a.nc", r"C:\sets")
    assert unresolved("//nas/data/x/../a.nc") == r"\\nas\data\a.nc"


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Windows for what looks at paths; files whose links are looked for are listed."""
    asked: list[str] = []
    real = os.path.realpath

    def realpath(path: str, **options: bool) -> str:
        asked.append(os.fspath(path))
        return real(path, **options)

    monkeypatch.setattr(windows_paths, "HERE", True)
    monkeypatch.setattr(os.path, "realpath", realpath)
    return asked


@pytest.mark.skipif(os.name == "nt", reason="simulates Windows")
@pytest.mark.parametrize("url", ["//evil/share/a.nc", r"\\evil\share\a.nc", "file:////evil/share/a.nc"])
def test_a_share_is_not_called_before_it_is_allowed(windows: list[str], tmp_path: Path, url: str) -> None:
    access = Access.for_document(tmp_path / "a.json")
    windows.clear()
    with pytest.raises(RefbrowserError) as caught:
        access.resolve(url)
    assert caught.value.kind is ErrorKind.BLOCKED
    assert r"\\evil\share" in str(caught.value)
    assert not [path for path in windows if "evil" in path]


@pytest.mark.skipif(os.name == "nt", reason="simulates Windows")
@pytest.mark.parametrize("url", ["nul", "a.nc:b", "C:a.nc", r"\\.\pipe\x", "file:///d/con.nc"])
def test_devices_are_refused_by_access(windows: list[str], tmp_path: Path, url: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        Access.for_document(tmp_path / "a.json").resolve(url)
    assert caught.value.kind is ErrorKind.UNSAFE


@pytest.mark.skipif(os.name == "nt", reason="names that are files here")
def test_elsewhere_these_are_names_of_files(tmp_path: Path) -> None:
    (tmp_path / "a.nc:b").write_bytes(b"x")
    assert Access.for_document(tmp_path / "a.json").resolve("a.nc:b").path == str(tmp_path / "a.nc:b")


class Names:
    """The part of `os` by which `origins` knows the system, as Windows has it."""

    name = "nt"
    path = ntpath
    sep = "\\"

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)


@pytest.fixture
def on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins, "os", Names())


@pytest.mark.parametrize("path", [r"C:\data\a.json", "C:/data/a.json", r"\\nas\data\a.json", "d:a.json"])
def test_a_drive_is_no_protocol(path: str) -> None:
    assert scheme_of(path) is None
    assert split_url(path).path == local_path(path) == path


def test_urls_of_files_lead_to_drives(on_windows: None) -> None:
    assert local_path("file:///C:/data/a.json") == "C:/data/a.json"
    assert local_path("file://localhost/c:/data/a.json") == "c:/data/a.json"
    assert local_path("file:///data/a.json") == "/data/a.json"
    with pytest.raises(RefbrowserError, match="may not name a host"):
        local_path("file://nas/data/a.json")


def test_folders_are_compared_as_file_systems_without_case_do(on_windows: None) -> None:
    assert is_below(r"C:\Data\Deep\a.nc", r"c:\data")
    assert is_below("C:/Data/a.nc", r"c:\data" + "\\")
    assert is_below(r"\\NAS\data\a.nc", r"\\nas\Data")
    assert not is_below(r"C:\database\a.nc", r"C:\data")
    assert not is_below(r"D:\data\a.nc", r"C:\data")
