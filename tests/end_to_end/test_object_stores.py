"""Data in object stores as users have them: every kind is opened, listed and read; two buckets, two users."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from awkward_files import write_events
from servers.object_servers import KEY_ID, SECRET, ObjectServer, Recorder
from stores_made import COUNTS, fill
from streams_made import write_ocean

import refbrowser
from refbrowser.cli import main

KINDS = ("zarr-v2", "zarr-v3", "zarr-v3-draft", "nczarr", "refs-v1")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    """One dataset in each kind that there is, and its values."""
    folder = tmp_path_factory.mktemp("made")
    values = fill(folder / "source.zarr", 2)
    with refbrowser.open(folder / "source.zarr") as dataset:
        for kind in KINDS:
            refbrowser.export(dataset, folder / (f"{kind}.json" if kind == "refs-v1" else kind), format=kind)
    fill(folder / "plain-v3", 3)
    write_ocean(folder)
    write_events(folder)
    return folder, values


@pytest.fixture
def s3(s3_server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> ObjectServer:
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.mark.slow
def test_every_kind_is_read_from_a_bucket(
    made: tuple[Path, dict[str, np.ndarray]], s3: ObjectServer, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, values = made
    bucket = s3.new_bucket()
    s3.put_folder(f"{bucket}/all", folder)
    settings = s3.settings(bucket)
    for name in ("plain-v3", *KINDS[:4]):
        with refbrowser.open(f"{bucket}/all/{name}", storage_options=settings) as dataset:
            for path in ("/temp", "/sub/none"):
                assert np.array_equal(dataset[path][...], values[path]), (name, path)
    for name in ("plain-v3", "zarr-v3-draft"):
        assert main(["info", f"{bucket}/all/{name}", "--json", *s3.options(bucket)]) == 0
        arrays = json.loads(capsys.readouterr().out)["arrays"]
        counts = {path: (each["stored_chunks"], each["missing_chunks"]) for path, each in arrays.items()}
        assert counts == COUNTS, name
    for name, path in (("ocean.ncs", "/temp"), ("events.awkd", "/grid")):
        assert main(["read", str(folder / name), path, "--json"]) in (0, 2, 4)
        expected = capsys.readouterr().out
        main(["read", f"{bucket}/all/{name}", path, "--json", *s3.options(bucket)])
        assert capsys.readouterr().out == expected != "", name


@pytest.mark.slow
@pytest.mark.parametrize("server", ["gs_server", "abfs_server"])
def test_a_store_elsewhere(
    made: tuple[Path, dict[str, np.ndarray]],
    server: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, values = made
    store: ObjectServer = request.getfixturevalue(server)
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    bucket = store.new_bucket()
    store.put_folder(f"{bucket}/x.zarr", folder / "plain-v3")
    with refbrowser.open(f"{bucket}/x.zarr", storage_options=store.settings(bucket)) as dataset:
        for path, expected in values.items():
            assert np.array_equal(dataset[path][...], expected), path


@pytest.mark.slow
def test_a_document_there_points_there_and_to_a_bucket_of_another_user(
    s3: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = s3.new_bucket(), s3.new_bucket()
    credentials = tmp_path / "credentials"
    credentials.write_text(
        "".join(
            f"[{name}]\naws_access_key_id = {KEY_ID}{name}\naws_secret_access_key = {SECRET}\n"
            for name in ("first", "second")
        )
    )
    for name in s3.environment:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    array = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "compressor": None}
    array |= {"filters": None, "fill_value": 9, "order": "C"}
    refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(array)}
    refs |= {"a/0": ["data/one.bin", 1, 2], "a/1": [f"{two}/two.bin", 0, 2]}
    s3.put_all(one, {"sets/d.json": json.dumps(refs).encode(), "sets/data/one.bin": b"\0\1\2"})
    s3.put(f"{two}/two.bin", b"\3\4")
    document = f"{one}/sets/d.json"
    with Recorder(s3.endpoint) as recorder:
        there = {"endpoint": recorder.endpoint, "anonymous": "false"}
        options = s3.options(one, **there, profile="first")
        # The other bucket was not allowed: nothing is asked of it, nor signed for it.
        assert main(["read", document, "/a", "--json", *options]) == 3
        assert two in capsys.readouterr().err
        assert {bucket for bucket, _ in recorder.asked} == {one.partition("://")[2]}
        options += ["--allow", two, *s3.options(two, **there, profile="second")]
        assert main(["read", document, "/a", "--json", *options]) == 0
        assert json.loads(capsys.readouterr().out) == [1, 2, 3, 4]
        assert recorder.asked == {
            (one.partition("://")[2], f"{KEY_ID}first"),
            (two.partition("://")[2], f"{KEY_ID}second"),
        }
        # Credentials of which this computer knows nothing are told by their name.
        assert main(["read", f"{one}/none.json", "/a", *s3.options(one, **there, profile="none")]) == 4
        shown = capsys.readouterr().err
        assert "error[E_SOURCE]" in shown
        assert "(none)" in shown
        assert SECRET not in shown


@pytest.mark.slow
def test_who_may_not_read_is_told_so_and_sees_no_fill_values(
    abfs_server: ObjectServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket = abfs_server.new_bucket()
    store = f"{bucket}/x.zarr"
    array = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "compressor": None}
    array |= {"filters": None, "fill_value": 9, "order": "C"}
    abfs_server.put_all(store, {".zarray": json.dumps(array).encode(), "0": b"\1\2"})
    for name, value in abfs_server.environment.items():
        monkeypatch.setenv(name, value)
    assert main(["read", store, "/", "--json", *abfs_server.options(bucket)]) == 0
    assert json.loads(capsys.readouterr().out) == [1, 2, 9, 9]
    # The container is private, and anonymous means that the key of the environment is not sent.
    assert main(["read", store, "/", "--json", *abfs_server.options(bucket, anonymous="true")]) == 4
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert abfs_server.environment["AZURE_STORAGE_ACCOUNT_KEY"] not in shown.err
    # Of several accounts each has a variable.
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_KEY")
    monkeypatch.setenv("MY_ACCOUNT", abfs_server.connection)
    assert main(["read", store, "/", "--json", "--storage-option", f"{bucket}:profile=MY_ACCOUNT"]) == 0
    assert json.loads(capsys.readouterr().out) == [1, 2, 9, 9]
