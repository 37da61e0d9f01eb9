"""What the manual says of the draft of 2019 runs as it is written."""

import re
import zipfile
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "resources" / "manual" / "python.md"


def test_the_example(tmp_path, monkeypatch):
    text = PAGE.read_text("utf-8")
    (code,) = re.findall(r"```python\n(from refbrowser import zarr_draft\n.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    said = re.search(r'hierarchy\.children\("/"\)  # (\{.*\})', code)
    code = code.replace(said[0], 'children = hierarchy.children("/")')
    names = {}
    exec(code, names)
    assert repr(names["children"]) == said[1]
    with zipfile.ZipFile(tmp_path / "ocean.zip") as archive:
        names = archive.namelist()
    assert names[0] == "meta/ocean/temp.array.json"
    assert len(names) == 11
