"""Each main view and state looks as it did: drawn by the program, compared with pictures that were looked at.

The normal run draws each in one theme, a long one in both.

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
from deep import is_long
from draw import CHECKOUT, NO_FONT, README, SETS, SHOWN, SIZES, SMALL, THEMES, expected_size, kept_in
from PySide6.QtGui import QColor, QImage, QPainter

#: Share of squares that may differ: numbers of ports, times that something took, what is read ahead.
ALLOWED = 0.008
ALLOWED_IN = {"loading": 0.02, "partial": 0.02}


def drawn(scale: float, scenes: Sequence[str], folder: Path, *options: str) -> Path:
    """Draw scenes in a process of its own: the scale belongs to one."""
    command = [sys.executable, str(Path(__file__).with_name("draw.py")), str(folder), *scenes]
    done = subprocess.run(
        [*command, "--scale", str(scale), *options],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECKOUT), *sys.path])},
    )
    if done.returncode == NO_FONT:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def too_large(folder: Path) -> dict[str, list[int]]:
    """Return the scenes whose window could not be made small, with the size that it kept."""
    sizes = json.loads((folder / SIZES).read_text())
    return {scene: size for scene, size in sizes.items() if size != list(SMALL)}


def differing(folder: Path, scale: int) -> dict[tuple[str, str], float]:
    """Return by theme and scene how far pictures differ that do; each is saved with that marked."""
    off = {}
    for theme in THEMES:
        for path in (folder / theme).glob("*.png"):
            kept = QImage(str(kept_in(theme, scale) / path.name))
            image = QImage(str(path))
            share = difference(image, kept)
            if share > ALLOWED_IN.get(path.stem, ALLOWED):
                off[theme, path.stem] = round(share, 4)
                marked(image, kept).save(str(folder / f"{theme}-{path.stem}-differs.png"))
    return off


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("scale", [1, pytest.param(2, marks=pytest.mark.long)])
def test_pictures(scale: int, tmp_path: Path) -> None:
    folder = drawn(scale, SETS[scale], tmp_path / "first", *(() if is_long() else ("--one-theme",)))
    assert too_large(folder) == {}
    found = sorted(path.stem for path in folder.rglob("*.png"))
    expected = sorted(path.stem for path in kept_in(THEMES[0], scale).glob("*.png"))
    assert expected == sorted(path.stem for path in kept_in(THEMES[1], scale).glob("*.png"))
    assert found == (sorted(expected * 2) if is_long() else expected)
    off = differing(folder, scale)
    if off:
        # On a busy machine a picture may be taken a moment early. What is drawn otherwise is so each time.
        folder = drawn(scale, sorted({scene for _, scene in off}), tmp_path / "again")
        off = differing(folder, scale)
    assert off == {}, f"the pictures are in {folder}"


def test_the_readme_shows_what_the_program_draws() -> None:
    for shown, (theme, scene) in SHOWN.items():
        image, kept = expected_size(QImage(str(README / shown))), kept_in(theme, 1) / f"{scene}.png"
        assert difference(image, QImage(str(kept))) <= ALLOWED, shown


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("scale", [1.5, 2])
def test_every_state_is_small_at_other_scales(scale: float, tmp_path: Path) -> None:
    folder = drawn(scale, (), tmp_path)
    assert len(list((folder / THEMES[0]).iterdir())) > 50
    assert too_large(folder) == {}


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
