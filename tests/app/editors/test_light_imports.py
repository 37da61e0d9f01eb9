"""The editors' widgets can be imported before numpy and jinja2 are: those come when an editor is shown."""

from __future__ import annotations

import subprocess
import sys

import pytest

MODULES = ("gen_editor", "templates_editor", "reference_editor", "preview_view")


@pytest.mark.slow
def test_nothing_heavy_comes_with_the_editors() -> None:
    imports = ", ".join(f"refbrowser.app.editors.{name}" for name in MODULES)
    code = f"import sys, {imports}; print(sorted({{'numpy', 'jinja2', 'zarr', 'fsspec'}} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
