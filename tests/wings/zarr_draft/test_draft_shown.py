"""What the command line says of a store of the draft: undefined elements as such, findings in place."""

import json

import numpy as np
import pytest
from draft_documents import array_json, as_bytes, group_json

from refbrowser import zarr_draft
from refbrowser.cli import main


@pytest.fixture
def store(tmp_path):
    hierarchy = zarr_draft.DraftHierarchy(zarr_draft.FolderStore(tmp_path / "store"))
    hierarchy.create_array("/g/a", shape=(4,), data_type="<i2", chunk_shape=(2,))[:2] = 5
    return hierarchy.store


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_undefined_elements(store, capsys):
    _, out, _ = run(capsys, "info", store.root)
    assert "fill value undefined" in out
    _, out, _ = run(capsys, "explain", store.root, "--array", "/g/a", "--index", "3")
    assert "undefined" in out
    assert "data/g/a/1" in out
    _, out, _ = run(capsys, "read", store.root, "/g/a", "--json")
    assert json.loads(out) == [5, 5, 0, 0]


def test_info_of_a_store_with_a_bad_document(store, capsys):
    store.set("meta/g/bad.array.json", b'{"shape": [4],}')
    store.set("meta/G.group.json", as_bytes(group_json()))
    store.set("meta/g/must.array.json", as_bytes(array_json(extensions=[{"extension": "http://x.org/e"}])))
    code, out, _ = run(capsys, "info", store.root, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["format"] == "zarr-v3-draft"
    assert found["arrays"]["/g/a"]["error"] is None
    assert found["arrays"]["/g/a"]["codecs"] == [{"name": "gzip", "configuration": {"level": 1}}]
    assert "JSON" in found["arrays"]["/g/bad"]["error"]
    assert "http://x.org/e" in found["arrays"]["/g/must"]["error"]
    told = json.dumps(found["problems"])
    assert "line" in told
    assert "differ in case only" in told or "only in case" in told
    _, out, _ = run(capsys, "read", store.root, "/g/a", "--select", "1:3", "--json")
    assert json.loads(out) == [5, 0]
    code, _, err = run(capsys, "read", store.root, "/g/must")
    assert code == 2
    assert "http://x.org/e" in err


def test_export_tells_what_is_lost(store, tmp_path, capsys):
    zarr_draft.DraftHierarchy(store).create_array(
        "/b", shape=(2,), data_type="<u2", chunk_shape=(2,), fill_value=1
    )[...] = [1, 2]
    code, _, _ = run(capsys, "export", store.root, tmp_path / "v3", "--to", "zarr-v3")
    assert code == 0
    import zarr

    group = zarr.open_group(tmp_path / "v3", mode="r")
    assert np.array_equal(group["g/a"][...], [5, 5, 0, 0])
    code, out, err = run(capsys, "export", tmp_path / "v3", tmp_path / "back.zip", "--to", "zarr-v3-draft")
    assert code == 0, err
    code, out, _ = run(capsys, "read", tmp_path / "back.zip", "/b", "--json")
    assert json.loads(out) == [1, 2]
