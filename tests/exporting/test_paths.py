"""Keys become paths that stay below the target, and keys again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.paths import PART_LIMIT, check_collisions, escaped_key, path_below, unescaped_key


@given(st.text(st.characters() | st.sampled_from("./%~ \\:"), max_size=300))
@example("")
@example("/")
@example("a//b")
@example("../../etc/passwd")
@example("con/aux.txt/COM1")
@example("a" * 197 + "%" * 5 + "con")
@example("a" * 198 + "con")
@example("é" * 150 + "/" + "." * 500)
@example("\ud800")
def test_any_key_stays_below_and_comes_back(key: str) -> None:
    path = escaped_key(key)
    assert unescaped_key(path) == key
    parts = path.split("/")
    for part in parts:
        assert part not in ("", ".", "..")
        assert len(part.encode()) <= PART_LIMIT
        assert not part.endswith((".", " "))
        assert part.isprintable() or not part.isascii()
        assert ":" not in part
        assert part.split(".")[0].lower() not in ("con", "aux", "com1", "nul")
    assert os.path.normpath(os.path.join("/target", *parts)) == os.path.join("/target", *parts)


@given(st.lists(st.text(st.sampled_from("ab%~./"), max_size=6), unique=True, max_size=6))
def test_no_two_keys_share_a_path(keys: list[str]) -> None:
    assert len({escaped_key(key) for key in keys}) == len(keys)


@pytest.mark.parametrize("key", ["temp/0.0.0", "ocean/temp/c/0/1", ".zattrs", "zarr.json", "a b/é"])
def test_ordinary_keys_are_their_own_paths(key: str) -> None:
    assert escaped_key(key) == key


def test_links_below_the_target_are_not_followed(tmp_path: Path) -> None:
    target, outside = tmp_path / "target", tmp_path / "outside"
    target.mkdir()
    outside.mkdir()
    assert path_below(target, "a/b/0.0") == target / "a" / "b" / "0.0"
    (target / "a").symlink_to(outside)
    for path in ["a/b/0.0", "../x", "b//c", "b\\c"]:
        with pytest.raises(RefbrowserError) as caught:
            path_below(target, path)
        assert caught.value.kind is ErrorKind.UNSAFE


def test_collisions_are_found() -> None:
    check_collisions(["T/", "t/", "a/b"], ignore_case=False)
    with pytest.raises(RefbrowserError, match="'T/' and 't/'"):
        check_collisions(["T/", "t/"], ignore_case=True)
    with pytest.raises(RefbrowserError):
        check_collisions(["a", "a/"], ignore_case=False)
