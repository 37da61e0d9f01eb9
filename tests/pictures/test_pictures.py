"""Each main view and state looks as it did: drawn by the program, compared with pictures that were looked at.

Where a picture differs, what was drawn and where it differs lie beside each other in a folder that the
message names. ``python tests/pictures/draw.py --renew`` makes the expected pictures anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from compare import difference, marked
from draw import CHECKOUT, EXPECTED, NO_FONT, README, SETS, SHOWN, SIZES, SMALL, expected_size
from PySide6.QtGui import QColor, QImage, QPainter

#: Share of squares that may differ: numbers of ports, times that something took, what is read ahead.
ALLOWED = 0.008
ALLOWED_IN = {"loading": 0.02, "partial": 0.02}


def drawn(theme: str, scale: float, scenes: Sequence[str], folder: Path) -> Path:
    """Draw scenes in a process of its own: the scale belongs to one."""
    command = [sys.executable, str(Path(__file__).with_name("draw.py")), str(folder), *scenes]
    done = subprocess.run(
        [*command, "--theme", theme, "--scale", str(scale)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECKOUT), *sys.path])},
    )
    if done.returncode == NO_FONT:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", SETS)
def test_pictures(name: str, tmp_path: Path) -> None:
    folder = drawn(*SETS[name], tmp_path)
    found = {path.stem: path for path in folder.glob("*.png")}
    kept = {path.stem: path for path in (EXPECTED / name).glob("*.png")}
    assert set(found) == set(kept)
    small = json.loads((tmp_path / SIZES).read_text())
    assert {scene: size for scene, size in small.items() if size != list(SMALL)} == {}
    off = {}
    for scene, path in found.items():
        image, expected = expected_size(QImage(str(path))), QImage(str(kept[scene]))
        share = difference(image, expected)
        if share > ALLOWED_IN.get(scene, ALLOWED):
            off[scene] = round(share, 4)
            marked(image, expected).save(str(folder / f"{scene}-differs.png"))
    assert off == {}, f"the pictures are in {folder}"
    for shown, (of_set, scene) in SHOWN.items():
        if of_set == name:
            image, expected = (expected_size(QImage(str(path))) for path in (README / shown, found[scene]))
            assert difference(image, expected) <= ALLOWED, (
                f"the README's {shown} is not what the program draws"
            )


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("scale", [1.5, 2])
def test_every_state_is_small_at_other_scales(scale: float, tmp_path: Path) -> None:
    small = json.loads((drawn("light", scale, (), tmp_path) / SIZES).read_text())
    assert len(small) > 50
    assert {scene: size for scene, size in small.items() if size != list(SMALL)} == {}


def painted(width: int, *rectangles: tuple[int, int, int, int]) -> QImage:
    image = QImage(width, 400, QImage.Format.Format_RGB32)
    image.fill(QColor("#ffffff"))
    painter = QPainter(image)
    for rectangle in rectangles:
        painter.fillRect(*rectangle, QColor("#204060"))
    painter.end()
    return image


def test_what_counts_as_a_difference() -> None:
    plain, box = painted(640), painted(640, (100, 100, 200, 100))
    assert difference(box, box) == 0
    assert difference(plain, painted(320)) == 1
    assert difference(box, plain) == pytest.approx(0.08, abs=0.01)
    assert difference(box, painted(640, (108, 100, 200, 100))) > ALLOWED
    assert difference(box, painted(640, (100, 100, 200, 100), (600, 300, 3, 3))) <= ALLOWED
