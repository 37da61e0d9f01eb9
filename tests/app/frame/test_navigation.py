"""What a key of the references leads to."""

from __future__ import annotations

import json
from pathlib import Path

from window_fixtures import Open

from refbrowser.app.shell.main_window import MainWindow


def test_only_keys_in_the_grid_are_chunks(window: MainWindow, opened: Open, tmp_path: Path) -> None:
    array = {
        "zarr_format": 2, "shape": [4, 4], "chunks": [2, 2], "dtype": "|u1", "compressor": None,
        "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    keys = ("0.1", "1.1", "0.5", "5.0", "0.1.2", "x")
    refs = {"a/.zarray": json.dumps(array), **{f"a/{key}": ["data", 0, 4] for key in keys}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(refs))
    opened(path)
    found = {key: window.navigation.chunk_of_key(f"a/{key}") for key in keys}
    assert found == {
        "0.1": ("/a", (0, 1)),
        "1.1": ("/a", (1, 1)),
        "0.5": None,
        "5.0": None,
        "0.1.2": None,
        "x": None,
    }
    assert window.navigation.chunk_of_key("b/0.0") is None
