"""``refbrowser.fix``: the fixes of findings, for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import refbrowser
from refbrowser.errors import RefbrowserError

ZARRAY = (
    '{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<i2","compressor":null,"filters":null,'
    '"fill_value":0,"order":"C"}'
)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A document with a key that is no chunk of its array."""
    (tmp_path / "x.bin").write_bytes(b"\1\0\2\0")
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({"a/.zarray": ZARRAY, "a/0": ["x.bin", 0, 4], "a/7": ["x.bin", 0, 4]}))
    return path


def test_what_a_check_finds_is_fixed(broken: Path) -> None:
    before = broken.read_bytes()
    fixed = refbrowser.fix(broken, refbrowser.check(broken))
    assert (len(fixed.titles), fixed.target) == (1, None)
    assert repr(fixed).startswith("1 fix, not written")
    assert fixed.after.refs.find_slot("a/7") is None
    assert broken.read_bytes() == before


def test_a_document_is_replaced_as_it_was_read(broken: Path) -> None:
    with refbrowser.open(broken) as dataset:
        findings = refbrowser.audit(dataset).findings
        with pytest.raises(FileExistsError):
            refbrowser.fix(dataset, findings, broken)
        changed = json.loads(broken.read_text()) | {"b/.zarray": ZARRAY}
        broken.write_text(json.dumps(changed))
        with pytest.raises(RefbrowserError, match="changed"):
            refbrowser.fix(dataset, findings, broken, force=True)
        assert json.loads(broken.read_text()) == changed
    with refbrowser.open(broken) as dataset:
        fixed = refbrowser.fix(dataset, refbrowser.audit(dataset).findings, broken, force=True)
    assert fixed.target == str(broken)
    assert set(json.loads(broken.read_text())) == {"a/.zarray", "a/0", "b/.zarray"}
    assert not refbrowser.fix(broken, refbrowser.check(broken), broken).titles
