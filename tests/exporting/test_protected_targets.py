"""What is write-protected is never replaced, whatever it is written as."""

from __future__ import annotations

import os
from pathlib import Path

import awkward as ak
import pytest
from nested_datasets import nested_dataset

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ExportRequest
from refbrowser.formats.registry import written


# References and DMR++ are made of a file: their own tests look.
@pytest.mark.parametrize("format", [each for each in written() if not each.startswith(("refs", "dmrpp"))])
def test_with_force_too(tmp_path: Path, format: str) -> None:
    dataset = nested_dataset(tmp_path, {"a": ak.Array([[1], [2, 3]])})
    request = ExportRequest(str(tmp_path / "target.awkd"), format, force=True)
    target = Path(request.target)
    run_export(dataset, request)
    target.chmod(target.stat().st_mode & 0o555)
    before = target.stat().st_ino
    with pytest.raises(RefbrowserError, match="write-protected") as caught:
        run_export(dataset, request)
    assert caught.value.kind is ErrorKind.IO
    assert target.stat().st_ino == before
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".target")]
    target.chmod(target.stat().st_mode | 0o200)
    run_export(dataset, request)
