"""What is told of the keys of a store: chunks that are there, stray keys, clashes of case."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.formats.stores import listing_check
from refbrowser.formats.stores.listing_check import ListingCheck, case_clashes
from refbrowser.formats.stores.reader import Names
from refbrowser.io.cancel import CancelToken
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.listing import StoreListing

ENCODINGS = [
    ChunkKeyEncoding(),
    ChunkKeyEncoding("v2", "/"),
    ChunkKeyEncoding("default", "/"),
    ChunkKeyEncoding("default", "."),
    ChunkKeyEncoding("draft", "/"),
]


def audited(
    keys: Iterable[str],
    *,
    grid: tuple[int, ...] = (4, 3),
    encoding: ChunkKeyEncoding = ENCODINGS[0],
    prefix: str = "temp/",
    metadata: Iterable[str] = (".zgroup", "temp/.zarray"),
) -> StoreListing:
    made = ListingCheck(metadata)
    made.add_array(prefix, grid, encoding)
    for folder, group in itertools.groupby(sorted(keys), key=lambda key: key[: key.rfind("/") + 1]):
        made.add(folder, [key[len(folder) :] for key in group])
    return made.result()


def reasons(found: StoreListing) -> dict[str, str]:
    return {str(finding.place.key): finding.message for finding in found.findings}


@pytest.mark.slow
@given(
    st.lists(st.integers(1, 12), max_size=4),
    st.sampled_from(ENCODINGS),
    st.sampled_from(["temp/", "", "a/b c/"]),
    st.randoms(use_true_random=False),
)
def test_stored_chunks_of_any_grid(
    grid: list[int], encoding: ChunkKeyEncoding, prefix: str, chance: object
) -> None:
    everything = list(itertools.product(*(range(length) for length in grid)))
    kept = [coords for coords in everything if chance.random() < 0.6]  # type: ignore[attr-defined]
    keys = [prefix + encoding.encode(coords) for coords in kept]
    found = audited(keys, grid=tuple(grid), encoding=encoding, prefix=prefix, metadata=())
    chunks = found.chunks[prefix]
    assert (chunks.stored, chunks.missing) == (len(kept), len(everything) - len(kept))
    coords = np.array(everything, np.int64).reshape(len(everything), len(grid))
    wanted = np.array([each in set(kept) for each in everything])
    assert np.array_equal(chunks.has(coords), wanted)
    half = len(everything) // 2
    rows = [*chunks.rows(0, half).tolist(), *chunks.rows(half, len(everything)).tolist()]
    assert rows == np.flatnonzero(wanted).tolist()
    assert not found.findings


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("temp/4.0", listing_check.OUTSIDE),
        ("temp/0.3", listing_check.OUTSIDE),
        ("temp/99999999999999999999.0", listing_check.NO_CHUNK),
        ("temp/999999999999999999.0", listing_check.OUTSIDE),
        ("temp/9999999999999999999.0", listing_check.OUTSIDE),
        ("temp/0", listing_check.NO_CHUNK),
        ("temp/0.0.0", listing_check.NO_CHUNK),
        ("temp/00.1", listing_check.NO_CHUNK),
        ("temp/0.1.tmp", listing_check.NO_CHUNK),
        ("temp/\u0661.0", listing_check.NO_CHUNK),
        ("temp/-1.0", listing_check.NO_CHUNK),
        ("temp/deep/er/0.0", listing_check.NO_CHUNK),
        ("other/0.0", listing_check.OF_NOTHING),
        ("notes.txt", listing_check.OF_NOTHING),
        ("temp/.ZARRAY", listing_check.WRONG_CASE),
        ("other/.zarray", listing_check.UNLISTED),
        ("temp/a\\b", listing_check.BAD_NAME),
        ("temp/\x07", listing_check.BAD_NAME),
        ("temp/\udc80", listing_check.BAD_NAME),
    ],
)
def test_stray_keys(key: str, reason: str) -> None:
    good = [f"temp/{row}.{column}" for row in range(4) for column in range(3)]
    found = audited([*good, key, ".zgroup", "temp/.zarray", ".zmetadata"])
    assert reasons(found) == {key: reason}
    assert found.chunks["temp/"].missing == 0


def test_chunks_in_the_wrong_case() -> None:
    found = audited(["temp/C/0/0", "temp/c/0/1"], encoding=ENCODINGS[2])
    assert reasons(found) == {"temp/C/0/0": listing_check.WRONG_CASE}
    assert found.chunks["temp/"].stored == 1


def test_many_strays_are_counted() -> None:
    found = audited([f"temp/{number}.9" for number in range(1000)])
    assert len(found.findings) == listing_check.TOLD + 1
    assert sum(finding.count for finding in found.findings) == 1000


def test_kinds_of_strays_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing_check, "MOST_GROUPS", 3)
    made = ListingCheck(())
    for number in range(10):
        made.add_array(f"a{number}/", (1,), ENCODINGS[0])
        made.add(f"a{number}/", ["stray"])
    assert sum(finding.count for finding in made.result().findings) == 10


def test_grids_that_are_too_large_are_only_counted() -> None:
    found = audited(["temp/0.0", f"temp/{10**12}.5"], grid=(10**13, 10**3))
    chunks = found.chunks["temp/"]
    assert (chunks.bits, chunks.stored) == (None, 2)
    assert chunks.has(np.array([[5, 5]])).tolist() == [True]


def test_the_innermost_array_takes_its_keys() -> None:
    made = ListingCheck(())
    made.add_array("", (5,), ENCODINGS[0])
    made.add_array("a/", (5,), ENCODINGS[0])
    made.add("", ["1"])
    made.add("a/", ["2", "3"])
    found = made.result()
    assert [found.chunks[prefix].stored for prefix in ("", "a/")] == [1, 2]


def test_siblings_that_differ_by_case() -> None:
    found = case_clashes(["meta/Temp/a.json", "meta/temp/b.json", "g/a/.zarray", "h/A/.zarray"])
    assert [finding.place.path for finding in found] == ["/meta/Temp"]
    assert "'meta/temp'" in found[0].message
    # Keys that clash themselves are told with the document.
    assert not case_clashes(["Temp/.zarray", "temp/.zarray"])


class _Reader:
    """A store of which the first folder has more names than are listed."""

    def __init__(self, cut: bool) -> None:
        self._cut = cut

    def names(self, folder: str) -> Names | None:
        return Names(["b"], ["x"], cut=self._cut) if not folder else Names([], ["y", "z"])


def test_listings_of_object_stores_are_whole_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def listed(cut: bool) -> list[tuple[str, list[str]]]:
        return list(listing_check.list_reader(_Reader(cut), CancelToken()))  # type: ignore[arg-type]

    assert listed(cut=False) == [("", ["x"]), ("b/", ["y", "z"])]
    with pytest.raises(RefbrowserError, match="more names"):
        listed(cut=True)
    monkeypatch.setattr(listing_check, "LIMITS", replace(listing_check.LIMITS, audit_folders=1))
    with pytest.raises(RefbrowserError, match="more names"):
        listed(cut=False)


def test_of_what_cannot_be_looked_into_nothing_is_known() -> None:
    made = ListingCheck(())
    for prefix in ("a/x/", "a/y/", "b/"):
        made.add_array(prefix, (2,), ENCODINGS[0])
    made.leave_out("a/x/c/")
    made.leave_out("elsewhere/")
    found = made.result()
    assert sorted(found.chunks) == ["a/y/", "b/"]
    assert reasons(found) == {"a/x/c": listing_check.CLOSED, "elsewhere": listing_check.OF_NOTHING}
    made.leave_out("a/")
    assert sorted(made.result().chunks) == ["b/"]


def test_folders_that_cannot_be_read_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "0").write_bytes(b"1")
    real = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("a/"):
            raise PermissionError
        return real(path)

    monkeypatch.setattr(listing_check.os, "scandir", refusing)
    closed: list[str] = []
    assert list(listing_check.list_folder(str(tmp_path), CancelToken(), closed.append)) == [("b/", ["0"])]
    assert closed == ["a/"]


@pytest.mark.parametrize("stray", ["", "temp/.zarray", "temp/odd"])
def test_folders_of_many_names(stray: str) -> None:
    keys = [f"temp/{row}.{column}" for row in range(20) for column in range(4)]
    found = audited([*keys, *filter(None, [stray])], grid=(18, 3))
    assert (found.chunks["temp/"].stored, found.chunks["temp/"].missing) == (54, 0)
    outside = {key for key in keys if int(key[5:-2]) >= 18 or key.endswith(".3")}
    odd = {"temp/odd": listing_check.NO_CHUNK} if stray == "temp/odd" else {}
    assert reasons(found) == {**dict.fromkeys(outside, listing_check.OUTSIDE), **odd}
