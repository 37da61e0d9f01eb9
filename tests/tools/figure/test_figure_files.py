"""Figures as files: how large they are, what is written in them, and the colours of the data."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from region_grids import GridDocument

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture
def steps(document: Callable[..., str]) -> str:
    """A document whose slices have 8 levels in 4 by 6 cells."""
    return document(np.arange(48, dtype="<f4").reshape(2, 4, 6))


def _text(pdf: Path) -> str:
    return subprocess.run(["pdftotext", pdf, "-"], capture_output=True, check=True, text=True).stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs poppler")
def test_words_of_a_pdf_are_text_and_its_page_is_exact(steps: str, tmp_path: Path) -> None:
    target = tmp_path / "f.pdf"
    refbrowser.figure(steps, "/t", target, "1", size="85mm")
    text = _text(target)
    assert "Temperature [K]" in text
    assert "made.json" in text
    assert "/t[1,:,:]" in text
    facts = subprocess.run(["pdfinfo", target], capture_output=True, check=True, text=True).stdout
    found = re.search(r"Page size:\s+([\d.]+) x ([\d.]+)", facts)
    assert found is not None
    assert float(found[1]) == pytest.approx(85 / 25.4 * 72, abs=1e-3)
    fonts = subprocess.run(["pdffonts", target], capture_output=True, check=True, text=True).stdout
    assert all(" yes " in line for line in fonts.splitlines()[2:])


def test_a_page_is_exactly_as_large_as_asked(steps: str, tmp_path: Path) -> None:
    target = tmp_path / "f.pdf"
    refbrowser.figure(steps, "/t", target, size="120x70mm")
    box = re.search(rb"/MediaBox \[([-0-9. ]+)\]", target.read_bytes())
    assert box is not None
    left, bottom, right, top = map(float, box[1].split())
    assert (right - left) / 72 * 25.4 == pytest.approx(120, abs=1e-3)
    assert (top - bottom) / 72 * 25.4 == pytest.approx(70, abs=1e-3)


def test_words_of_an_svg_are_text_and_it_is_xml(steps: str, tmp_path: Path) -> None:
    target = tmp_path / "f.svg"
    refbrowser.figure(steps, "/t", target, size="85x60mm", title="A <title> & more", caption="")
    root = ElementTree.fromstring(target.read_text("utf-8"))
    assert root.attrib["width"] == "85mm"
    assert root.attrib["height"] == "60mm"
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "A <title> & more" in texts
    assert not any("made.json" in text for text in texts)


def test_an_svg_is_xml_whatever_its_words_are(steps: str, tmp_path: Path) -> None:
    target = tmp_path / "f.svg"
    title = "a\x01\x1b</text><script>b"
    refbrowser.figure(steps, "/t", target, size="85x60mm", title=title, caption="\x07")
    root = ElementTree.fromstring(target.read_text("utf-8"))
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    assert "a··</text><script>b" in [element.text for element in root.iter()]


def test_a_step_is_refused_not_passed_over(steps: str, tmp_path: Path) -> None:
    for selection in ("0,0:4:2,:", "time@0,y@0:4:2"):
        with pytest.raises(RefbrowserError, match="a step of 2"):
            refbrowser.figure(steps, "/t", tmp_path / "f.svg", selection)


def test_cells_have_the_colours_of_the_map(steps: str, tmp_path: Path) -> None:
    from refbrowser.app.plot.palette import table

    target = tmp_path / "f.png"
    refbrowser.figure(steps, "/t", target, "0", size="600x400px", levels=(0, 23), colour_map="Magma")
    image = Image.open(target)
    assert image.size == (600, 400)
    pixels = {tuple(pixel[:3]) for pixel in np.asarray(image.convert("RGB")).reshape(-1, 3).tolist()}
    colours = table("Magma")
    for value in range(24):
        position = min(int(value / 23 * 255), 254)
        near = {
            tuple(colours[place][:3].tolist())
            for place in (position - 1, position, position + 1)
            if place >= 0
        }
        assert near & pixels, value


def test_lines_are_as_thick_at_any_density(steps: str, tmp_path: Path) -> None:
    shares = []
    for dpi in (96, 288):
        target = tmp_path / f"{dpi}.png"
        refbrowser.figure(steps, "/t", target, "1,2,:", size="170x100mm", dpi=dpi)
        pixels = np.asarray(Image.open(target).convert("RGB")).astype(int)
        accent = np.abs(pixels - (0x0F, 0x62, 0xAC)).max(axis=2) < 60
        shares.append(accent.mean())
    assert shares[1] == pytest.approx(shares[0], rel=0.35)


def test_it_is_the_slice_and_part_that_was_selected(document: Callable[..., str], tmp_path: Path) -> None:
    values = np.zeros((2, 4, 6), "<f4")
    values[1, 1:3, 2:4] = 1
    path, target = document(values), tmp_path / "f.png"
    refbrowser.figure(
        path, "/t", target, "1,1:3,2:4", size="300x200px", levels=(0, 1), labels=False, bar=False
    )
    pixels = np.asarray(Image.open(target).convert("RGB")).reshape(-1, 3)
    # Nothing of the zeros around is in sight.
    found = np.unique(pixels, axis=0).tolist()
    assert max(found, key=lambda colour: colour[0] - colour[2])[:2] == [253, 231]
    assert [68, 1, 84] not in found


def test_a_lost_chunk_is_marked_and_told(
    document: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = document(np.arange(48, dtype="<f4").reshape(2, 4, 6), lost=("1.0.0",))
    whole = [str(tmp_path / name) for name in ("a.svg", "b.svg")]
    assert main(["figure", path, "--compute", "/t[y@0]", "-o", whole[0]]) == 4
    assert "could not be read (" in capsys.readouterr().err
    assert "could not be read (" in Path(whole[0]).read_text("utf-8")
    assert main(["figure", path, "/t", "--select", "1", "-o", whole[1]]) == 4
    assert not Path(whole[1]).exists()
    assert main(["figure", path, "/t", "--select", "0", "-o", whole[1]]) == 0


@pytest.mark.parametrize("lost", ["time", "y"])
def test_lost_coordinates_are_told_where_indices_stand_for_them(
    lost: str, document: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(document(np.arange(48, dtype="<f4").reshape(2, 4, 6)))
    made = json.loads(path.read_text())
    sizes = {"time": 2, "y": 4}
    for name, size in sizes.items():
        about = json.loads(made["refs"]["t/.zarray"]) | {"shape": [size], "chunks": [size]}
        made["refs"] |= {
            f"{name}/.zarray": json.dumps(about),
            f"{name}/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": [name]}),
            f"{name}/0": "base64:" + base64.b64encode(np.arange(size, dtype="<f4").tobytes()).decode(),
        }
    path.write_text(json.dumps(made))
    command = ["figure", str(path), "/t", "--select", "0", "--force", "-o", str(tmp_path / "a.svg")]
    assert main(command) == 0
    made["refs"][f"{lost}/0"] = ["gone.bin"]
    path.write_text(json.dumps(made))
    capsys.readouterr()
    assert main(command) == 4
    assert f"{lost} shows indices: there is no such file" in capsys.readouterr().err
    film = ["figure", str(path), "/t", "--along", "time", "-o", str(tmp_path / "a.gif")]
    assert main(film) == 4
    assert f"{lost} shows indices: there is no such file" in capsys.readouterr().err


def test_a_target_that_is_there_stays(steps: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "f.png"
    target.write_text("mine")
    assert main(["figure", steps, "/t", "-o", str(target)]) == 7
    assert target.read_text() == "mine"
    assert main(["figure", steps, "/t", "-o", str(tmp_path / "f.xyz")]) == 2
    assert ".pdf" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["<b>bold</b>", "a\nb", "\u202eevil", "x" * 500, "]]>&amp;", "%s{{x}}", "\x1b[31mred"]
)
def test_hostile_names_are_words(document: Callable[..., str], tmp_path: Path, name: str) -> None:
    path = document(np.arange(48, dtype="<f4").reshape(2, 4, 6), long_name=name)
    target = tmp_path / "f.svg"
    report = refbrowser.figure(path, "/t", target, size="85mm")
    ElementTree.fromstring(target.read_text("utf-8"))
    assert "\n" not in report.title
    assert "\x1b" not in report.title


def test_what_is_no_picture_is_refused(document: Callable[..., str], tmp_path: Path) -> None:
    path = document(np.arange(48, dtype="<f4").reshape(2, 4, 6))
    with pytest.raises(RefbrowserError):
        refbrowser.figure(path, "/none", tmp_path / "f.png")
    with pytest.raises(RefbrowserError):
        refbrowser.figure(path, "/t", tmp_path / "f.png", size="5000x5000mm", dpi=1200)
    for said in (
        {"overlays": ["nonsense"]},
        {"overlays": ["coastlines"]},
        {"projection": "nonsense"},
        {"projection": "robinson"},
        {"colour_map": "nonsense"},
    ):
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.figure(path, "/t", tmp_path / "f.png", **said)
        assert caught.value.kind is ErrorKind.USAGE
    assert not (tmp_path / "f.png").exists()


def test_a_net_at_a_pole_of_a_map_without_poles_is_coarse(tmp_path: Path) -> None:
    grid = GridDocument()
    places = {"lat": np.full((3, 4), 90.0), "lon": np.tile(np.arange(0.0, 360, 90), (3, 1))}
    for (name, values), units in zip(places.items(), ("degrees_north", "degrees_east"), strict=True):
        grid.add(name, values, ["y", "x"], {"units": units})
    grid.add("t", np.arange(12.0).reshape(3, 4), ["y", "x"], {"coordinates": "lat lon"})
    path = tmp_path / "pole.json"
    path.write_text(json.dumps(grid.document))
    refbrowser.figure(path, "/t", tmp_path / "f.png", size="300x200px", projection="conformal")
    assert (tmp_path / "f.png").stat().st_size > 0
