"""Stores of the draft of 2019: what every one does, and what each does in its own way."""

import os
import zipfile

import pytest
from deep import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from refbrowser import zarr_draft
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.files.atomic import ChangedOnDiskError
from refbrowser.limits import Limits
from refbrowser.wings.zarr_draft.protocol import draft_stores as base

MAKERS = {
    "memory": lambda folder: zarr_draft.MemoryStore(),
    "folder": lambda folder: zarr_draft.FolderStore(folder / "store"),
    "zip": lambda folder: zarr_draft.ZipStore(folder / "store.zip"),
}


@pytest.fixture(params=list(MAKERS))
def store(request, tmp_path):
    return MAKERS[request.param](tmp_path)


def test_get_set_delete(store):
    assert store.get("a/b") is None
    store.delete("a/b")
    store.set("a/b", b"1")
    store.set("a/c", b"")
    assert (store.get("a/b"), store.get("a/c"), store.get("a")) == (b"1", b"", None)
    store.set("a/b", b"22")
    assert store.get("a/b") == b"22"
    store.delete("a/b")
    assert store.get("a/b") is None
    assert store.list() == {"a/c"}


def test_the_examples_of_the_text(store):
    for key in ("a/b", "a/c/d", "e/f/g"):
        store.set(key, b"x")
    assert store.listpre("a/") == {"a/b", "a/c/d"}
    assert store.list() == {"a/b", "a/c/d", "e/f/g"}
    store.delete("a/c/d")
    for key in ("a/c", "a/d/e", "a/f/g"):
        store.set(key, b"x")
    listing = store.listdir("a/")
    assert listing.keys == {"a/b", "a/c"}
    assert listing.prefixes == {"a/d/", "a/f/"}
    assert store.listdir("").prefixes == {"a/", "e/"}
    assert store.listdir("nothing/") == base.Listing(frozenset(), frozenset())


def test_a_prefix_need_not_end_in_a_slash(store):
    for key in ("data/foo/0.0", "data/foobar/0.0", "data/fo"):
        store.set(key, b"x")
    assert store.listpre("data/foo") == {"data/foo/0.0", "data/foobar/0.0"}
    assert store.listpre("data/foo/") == {"data/foo/0.0"}
    assert store.listdir("data/fo") == base.Listing(
        frozenset({"data/fo"}), frozenset({"data/foo/", "data/foobar/"})
    )


@pytest.mark.parametrize(
    "key", ["../x", "a/../../x", "a//b", "/x", "x/", "", ".", "a/./b", "a\\b", "C:x", "a b", "é", "n" * 5000]
)
def test_keys_that_are_refused(store, key, tmp_path):
    with pytest.raises(RefbrowserError) as caught:
        store.set(key, b"x")
    assert caught.value.kind is ErrorKind.UNSAFE
    assert store.get(key) is None
    store.delete(key)
    assert store.list() == frozenset()
    assert {path.name for path in tmp_path.rglob("*")} <= {"store"}


def test_a_store_that_cannot_list():
    class Plain(base.Store):
        def get(self, key):
            return None

        def set(self, key, value):
            pass

        def delete(self, key):
            pass

    for ask in (Plain().list, lambda: Plain().listpre("a/"), lambda: Plain().listdir("a/")):
        with pytest.raises(zarr_draft.ListingError):
            ask()


KEYS = st.sampled_from(["a", "b/c", "b/d/e", "B/c", "f/0.0", "f/0.1"])


class StoreMachine(RuleBasedStateMachine):
    """Every store against a dictionary; the zip file is also closed and opened again."""

    def __init__(self):
        super().__init__()
        import tempfile
        from pathlib import Path

        self.folder = tempfile.TemporaryDirectory()
        self.stores = [make(Path(self.folder.name)) for make in MAKERS.values()]
        self.model = {}

    @rule(key=KEYS, value=st.binary(max_size=5))
    def put(self, key, value):
        self.model[key] = value
        for store in self.stores:
            store.set(key, value)

    @rule(key=KEYS)
    def drop(self, key):
        self.model.pop(key, None)
        for store in self.stores:
            store.delete(key)

    @rule()
    def reopen(self):
        self.stores[2].close()
        self.stores[2] = zarr_draft.ZipStore(self.stores[2].path)

    @rule()
    def flush(self):
        self.stores[2].flush()

    @invariant()
    def same(self):
        for store in self.stores:
            assert store.list() == set(self.model)
            assert {key: store.get(key) for key in self.model} == self.model
            found = base.split_listing([key for key in self.model if key.startswith("b/")], "b/")
            assert store.listdir("b/") == found

    def teardown(self):
        self.stores[2].close()
        self.folder.cleanup()


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=examples(15), stateful_step_count=20, deadline=None)


def test_a_value_too_large_to_be_read_whole(store, monkeypatch):
    store.set("a", b"x" * 11)
    if isinstance(store, zarr_draft.ZipStore):
        store.flush()
    monkeypatch.setattr(base, "LIMITS", Limits(chunk_size=10))
    if isinstance(store, zarr_draft.MemoryStore):
        assert store.get("a") == b"x" * 11
        return
    with pytest.raises(RefbrowserError) as caught:
        store.get("a")
    assert caught.value.kind is ErrorKind.BUDGET


# Folders


def test_a_folder_that_is_empty_implies_nothing(tmp_path):
    store = zarr_draft.FolderStore(tmp_path)
    store.set("meta/a/b/c.array.json", b"{}")
    store.delete("meta/a/b/c.array.json")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "meta" / "empty" / "too").mkdir(parents=True)
    assert store.listdir("meta/") == base.Listing(frozenset(), frozenset())


def test_links_lead_nowhere(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"s")
    root = tmp_path / "store"
    root.mkdir()
    (root / "link").symlink_to(outside)
    (root / "file").symlink_to(outside / "secret")
    store = zarr_draft.FolderStore(root)
    for use in (
        lambda: store.get("link/secret"),
        lambda: store.set("link/new", b"x"),
        lambda: store.delete("link/secret"),
        lambda: store.get("file"),
        lambda: store.set("file", b"x"),
    ):
        with pytest.raises(RefbrowserError) as caught:
            use()
        assert caught.value.kind is ErrorKind.UNSAFE
    assert os.listdir(outside) == ["secret"]
    assert (outside / "secret").read_bytes() == b"s"
    assert "link/secret" not in store.list()


def test_a_value_is_the_old_or_the_new_one(tmp_path, monkeypatch):
    store = zarr_draft.FolderStore(tmp_path)
    store.set("a", b"old")

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(RefbrowserError) as caught:
        store.set("a", b"new")
    assert caught.value.kind is ErrorKind.IO
    assert store.get("a") == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_name_where_a_folder_is(tmp_path):
    store = zarr_draft.FolderStore(tmp_path)
    store.set("a/b", b"x")
    for key in ("a", "a/b/c"):
        with pytest.raises(RefbrowserError) as caught:
            store.set(key, b"y")
        assert caught.value.kind is ErrorKind.IO
    assert store.list() == {"a/b"}


def test_what_is_being_written_is_no_key(tmp_path):
    store = zarr_draft.FolderStore(tmp_path)
    store.set("a", b"x")
    (tmp_path / ".a.refbrowser-12-00000000").write_bytes(b"half")
    assert store.list() == {"a"}


def test_a_long_name(tmp_path):
    store = zarr_draft.FolderStore(tmp_path)
    key = "meta/" + "n" * 240 + ".array.json"
    store.set(key, b"x")
    assert store.list() == {key}


# Zip files


def test_nothing_is_written_before_flush(tmp_path):
    path = tmp_path / "s.zip"
    store = zarr_draft.ZipStore(path)
    store.set("a", b"1")
    assert not path.exists()
    assert store.get("a") == b"1"
    store.flush()
    first = path.read_bytes()
    store.set("a", b"2")
    store.set("b", b"3")
    assert path.read_bytes() == first
    assert (store.get("a"), store.list()) == (b"2", {"a", "b"})
    store.close()
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["a", "b"]
        assert archive.read("a") == b"2"
        assert archive.testzip() is None
    assert os.listdir(tmp_path) == ["s.zip"]


def test_members_that_stay_are_kept_with_their_compression(tmp_path):
    path = tmp_path / "s.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("packed", b"x" * 1000, zipfile.ZIP_DEFLATED)
        archive.writestr("folder/", b"")
        archive.writestr("gone", b"y")
    with zarr_draft.ZipStore(path) as store:
        assert store.list() == {"packed", "gone"}
        store.delete("gone")
        store.set("new", b"z")
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == ["new", "packed"]
        assert archive.getinfo("packed").compress_type == zipfile.ZIP_DEFLATED
        assert archive.read("packed") == b"x" * 1000


def test_an_exception_leaves_the_file(tmp_path):
    path = tmp_path / "s.zip"
    with zarr_draft.ZipStore(path) as store:
        store.set("a", b"1")
    before = path.read_bytes()

    def fail_within():
        with zarr_draft.ZipStore(path) as store:
            store.set("a", b"2")
            raise KeyError

    with pytest.raises(KeyError):
        fail_within()
    assert path.read_bytes() == before


def test_a_failure_while_writing_leaves_the_file_and_the_changes(tmp_path, monkeypatch):
    path = tmp_path / "s.zip"
    store = zarr_draft.ZipStore(path)
    store.set("a", b"1")
    store.flush()
    store.set("b", b"2")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(RefbrowserError):
            store.flush()
    assert (store.get("a"), store.get("b")) == (b"1", b"2")
    store.close()
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == ["a", "b"]


def test_a_file_that_another_program_changed_is_not_replaced(tmp_path):
    path = tmp_path / "s.zip"
    with zarr_draft.ZipStore(path) as store:
        store.set("a", b"1")
    store = zarr_draft.ZipStore(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("theirs", b"x")
    store.set("b", b"2")
    with pytest.raises(ChangedOnDiskError):
        store.flush()
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == ["a", "theirs"]


def test_what_is_no_zip_file(tmp_path):
    path = tmp_path / "s.zip"
    path.write_bytes(b"not a zip file at all")
    with pytest.raises(RefbrowserError) as caught:
        zarr_draft.ZipStore(path)
    assert caught.value.kind is ErrorKind.FORMAT


def test_a_damaged_member(tmp_path):
    path = tmp_path / "s.zip"
    with zarr_draft.ZipStore(path) as store:
        store.set("a", b"12345678")
    data = path.read_bytes()
    path.write_bytes(data.replace(b"12345678", b"12345679", 1))
    store = zarr_draft.ZipStore(path)
    with pytest.raises(RefbrowserError) as caught:
        store.get("a")
    assert caught.value.kind is ErrorKind.SOURCE
    assert caught.value.place.key == "a"
