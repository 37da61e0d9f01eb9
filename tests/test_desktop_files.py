"""What desktops are told of the program fits what it opens and what was released, and valid."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from refbrowser.formats.registry import BUILT_IN

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGING = CHECKOUT / "packaging" / "desktop"
sys.path.insert(0, str(PACKAGING))
try:
    import desktop_files
finally:
    sys.path.remove(str(PACKAGING))

NAMESPACE = "{http://www.freedesktop.org/standards/shared-mime-info}"
TYPES = ElementTree.parse(PACKAGING / "refbrowser.xml").getroot()
#: Types that desktops know without us, with the suffixes that they go by there.
KNOWN = {
    "application/x-netcdf": {".nc", ".cdf"},
    "application/x-hdf": {".hdf", ".hdf4", ".h4", ".hdf5", ".h5"},
    "application/fits": {".fits", ".fit", ".fts"},
    "image/tiff": {".tif", ".tiff"},
    "inode/directory": {"/", ".zarr", ".nczarr", ".zr3", ".zarr3", ".icechunk", ".icechunk/", ".awkd/"},
}
#: Suffixes of much else: what has them is opened by name, from the window, or by dropping it.
TOO_COMMON = {".gz", ".zst", ".zip", ".json.gz", ".json.zst", ".idx", ".index", ".inv"}
#: Packed twice over, no desktop looks into them.
PACKED = {".fits.gz", ".fit.gz", ".fts.gz"}


def claimed() -> set[str]:
    """Return the types that the entries say the program opens."""
    found: set[str] = set()
    for name in desktop_files.ENTRIES:
        entry = configparser.RawConfigParser(strict=False)
        entry.optionxform = str
        entry.read(PACKAGING / name, "utf-8")
        found |= {each for each in entry["Desktop Entry"]["MimeType"].split(";") if each}
    return found


def globs() -> dict[str, list[ElementTree.Element]]:
    return {each.get("type", ""): each.findall(f"{NAMESPACE}glob") for each in TYPES}


def test_each_suffix_that_opens_has_a_type_that_is_ours_to_open() -> None:
    opened = claimed()
    suffixes = {each for name in opened for each in KNOWN.get(name, ())}
    suffixes |= {
        glob.get("pattern", "").removeprefix("*")
        for name, patterns in globs().items()
        if name in opened
        for glob in patterns
    }
    wanted = {suffix for each in BUILT_IN if each.opener for suffix in each.suffixes}
    assert wanted - suffixes == TOO_COMMON | PACKED


def test_every_type_of_ours_is_opened_and_no_other_is_unknown() -> None:
    assert globs().keys() <= claimed()
    assert claimed() <= globs().keys() | KNOWN.keys() | {"x-scheme-handler/refbrowser"}


def test_what_is_common_is_not_taken_from_others() -> None:
    assert not claimed() & {"application/json", "application/gzip", "application/zip", "application/zstd"}
    for patterns in globs().values():
        for glob in patterns:
            # By the weight that names of types have when none is said.
            if glob.get("pattern") == "*.json":
                assert int(glob.get("weight", "50")) < 50
            assert glob.get("pattern", "").removeprefix("*") not in TOO_COMMON


def test_the_magic_of_streams_is_the_formats_own() -> None:
    (stream,) = (each for each in BUILT_IN if each.name == "ncstream")
    (match,) = TYPES.findall(f"{NAMESPACE}mime-type[@type='application/x-ncstream']/*/{NAMESPACE}match")
    assert match.get("value", "").encode() == stream.begins[0]


def test_releases_are_those_of_the_changelog() -> None:
    listed = ElementTree.fromstring(desktop_files.metainfo()).findall("releases/release")
    text = (CHECKOUT / "CHANGELOG.md").read_text("utf-8")
    dated = re.findall(r"^## (\S+) \(([\d-]+)\)", text, re.MULTILINE)
    assert [(each.get("version"), each.get("date")) for each in listed] == dated


def test_a_release_of_the_changelog_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changes\n\n## Unreleased\n\n## 0.3.0 (2027-01-02)\n\n## 0.1.0\n"
    )
    monkeypatch.setattr(desktop_files, "CHECKOUT", tmp_path)
    (release,) = ElementTree.fromstring(desktop_files.metainfo()).findall("releases/release")
    assert release.attrib == {"version": "0.3.0", "date": "2027-01-02"}


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"needs {program}")


def valid(*command: str | Path) -> None:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "error" not in done.stdout.lower(), done.stdout


@pytest.mark.slow
def test_terminals_get_their_pages_and_completions(tmp_path: Path) -> None:
    desktop_files.write_for_terminals(tmp_path)
    pages = {path.name for path in (tmp_path / "man" / "man1").iterdir()}
    assert {"refbrowser.1", "refbrowser-read.1"} <= pages
    for shell, name in desktop_files.COMPLETIONS.items():
        assert f"made by: refbrowser completion {shell}" in (tmp_path / name).read_text("utf-8")


@needs("desktop-file-validate")
@pytest.mark.parametrize("name", desktop_files.ENTRIES)
def test_entries_are_valid(name: str) -> None:
    valid("desktop-file-validate", PACKAGING / name)


@needs("appstreamcli")
@pytest.mark.slow
def test_the_metainfo_is_valid(tmp_path: Path) -> None:
    path = tmp_path / desktop_files.METAINFO
    path.write_text(desktop_files.metainfo(), "utf-8")
    # The project has no domain of its own, after which its name could be spelled.
    valid("appstreamcli", "validate", "--no-net", "--override=cid-desktopapp-is-not-rdns=info", path)


@needs("xmllint")
def test_types_are_well_formed() -> None:
    valid("xmllint", "--noout", PACKAGING / "refbrowser.xml")


REFERENCES = {"version": 1, "templates": {"u": "a.nc"}, "refs": {".zgroup": "{}"}}
NAMED = {
    "references.json": (REFERENCES, "application/x-refbrowser-references+json"),
    "flat.json": ({".zgroup": "{}", "a/.zarray": "{}"}, "application/x-refbrowser-references+json"),
    "package.json": ({"name": "a", "version": "1.2.0", "scripts": {}}, "application/json"),
    "map.json": ({"type": "FeatureCollection", "features": []}, "application/json"),
    "a.refs.json": ({}, "application/x-refbrowser-references+json"),
    "a.ncs": ("x", "application/x-ncstream"),
    "a.awkd": ("x", "application/x-awkward0"),
    "a.dmrpp": ("x", "application/x-dmrpp+xml"),
    "a.zarr.zip": ("x", "application/x-zarr+zip"),
    "a.grib2": ("x", "application/x-grib"),
    "a.nc4": ("x", "application/x-netcdf"),
    "a.parq": ("x", "application/vnd.apache.parquet"),
}


@needs("update-mime-database")
@needs("gio")
@pytest.mark.slow
def test_desktops_tell_files_as_the_types_say(tmp_path: Path) -> None:
    packages = tmp_path / "share" / "mime" / "packages"
    packages.mkdir(parents=True)
    shutil.copyfile(PACKAGING / "refbrowser.xml", packages / "refbrowser.xml")
    valid("update-mime-database", packages.parent)
    files = tmp_path / "files"
    files.mkdir()
    for name, (content, _) in NAMED.items():
        (files / name).write_text(json.dumps(content, indent=2))
    # What Qt and GLib know of types besides is the machine's.
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "share")}
    command = ["gio", "info", "--attributes=standard::name,standard::content-type"]
    printed = subprocess.run(
        [*command, *(str(files / name) for name in NAMED)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=environment,
    ).stdout
    found = re.findall(r"standard::(?:name|content-type): (\S+)", printed)
    names = found[::2] if found[0] in NAMED else found[1::2]
    types = found[1::2] if found[0] in NAMED else found[::2]
    assert dict(zip(names, types, strict=True)) == {name: kind for name, (_, kind) in NAMED.items()}


@pytest.mark.slow
def test_icons_and_all_else_go_where_desktops_look(tmp_path: Path) -> None:
    desktop_files.write(tmp_path / "share", "/opt/it/refbrowser")
    made = {
        path.relative_to(tmp_path / "share").as_posix() for path in tmp_path.rglob("*.*") if path.is_file()
    }
    icons = {f"icons/hicolor/{size}x{size}/apps/refbrowser.png" for size in desktop_files.ICON_SIZES}
    assert made == icons | {
        "applications/refbrowser.desktop",
        "applications/refbrowser-folder.desktop",
        "icons/hicolor/scalable/apps/refbrowser.svg",
        "metainfo/refbrowser.metainfo.xml",
        "mime/packages/refbrowser.xml",
    }
    entry = (tmp_path / "share" / "applications" / "refbrowser.desktop").read_text("utf-8")
    assert "\nExec=/opt/it/refbrowser %U\n" in entry
