"""Blobs that are files below a folder: all of them, bounded, and none outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.limits import Limits
from refbrowser.model.reference import WholeFile
from refbrowser.wings.awkward0.awkward_limits import AwkwardLimits
from refbrowser.wings.awkward0.files import container as module
from refbrowser.wings.awkward0.files.container import FolderContainer


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "b" / "deep").mkdir(parents=True)
    for name in ("a", "b/c", "b/deep/d", "e.json"):
        (root / name).write_bytes(name.encode())
    return root


def test_all_files_are_found_with_their_sizes(root: Path) -> None:
    container = FolderContainer(str(root))
    assert list(container.names()) == ["a", "e.json", "b/c", "b/deep/d"]
    blob = container.find("b/deep/d")
    assert blob is not None
    assert blob.reference == WholeFile(str(root / "b/deep/d"))
    assert (blob.size, blob.stored, blob.method) == (8, 8, "file")
    assert container.find("b") is None
    assert container.find("../root/a") is None
    assert container.findings == ()


def test_small_files_are_read_and_others_told(root: Path) -> None:
    container = FolderContainer(str(root))
    found = container.read(["a", "b/deep/d", "absent"], most=7)
    assert found["a"] == b"a"
    error = found["b/deep/d"]
    assert isinstance(error, RefbrowserError)
    assert error.kind is ErrorKind.BUDGET
    assert "absent" not in found
    assert container.read(["b/deep/d"], most=8) == {"b/deep/d": b"b/deep/d"}


def test_links_count_inside_and_never_lead_out(root: Path) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    (root / "inner").symlink_to(root / "a")
    (root / "out").symlink_to(outside / "secret")
    (root / "folder").symlink_to(outside)
    (root / "round").symlink_to(root)
    (root / "broken").symlink_to(root / "nothing")
    container = FolderContainer(str(root))
    assert sorted(container.names()) == ["a", "b/c", "b/deep/d", "e.json", "inner"]
    assert container.read(["inner", "out"], most=100) == {"inner": b"a"}


def test_a_file_that_became_a_link_is_not_followed(root: Path) -> None:
    secret = root.parent / "secret"
    secret.write_bytes(b"secret")
    container = FolderContainer(str(root))
    assert container.find("a") is not None
    (root / "a").unlink()
    (root / "a").symlink_to(secret)
    assert isinstance(container.read(["a"], most=100)["a"], RefbrowserError)


@pytest.mark.skipif(os.name != "posix", reason="other systems have text for names")
def test_names_that_are_no_text_are_left_out(root: Path) -> None:
    (root / os.fsdecode(b"\xff.json")).write_bytes(b"x")
    assert "e.json" in FolderContainer(str(root)).names()
    assert all(name.isascii() for name in FolderContainer(str(root)).names())


@pytest.mark.parametrize(("most", "is_cut"), [(3, True), (4, False), (5, False)])
def test_the_number_of_files_is_limited(
    root: Path, monkeypatch: pytest.MonkeyPatch, most: int, is_cut: bool
) -> None:
    monkeypatch.setattr(module, "AWKWARD_LIMITS", AwkwardLimits(awkward_files=most))
    container = FolderContainer(str(root))
    assert len(list(container.names())) == min(most, 4)
    assert [finding.kind for finding in container.findings] == [ErrorKind.BUDGET] * is_cut


def test_folders_in_folders_are_limited(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMITS", Limits(group_nesting=1))
    assert list(FolderContainer(str(root)).names()) == ["a", "e.json", "b/c"]


def test_a_walk_can_be_cancelled(root: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        list(FolderContainer(str(root), token).names())
