"""What `info` and the attributes pane say of images in several resolutions."""

from __future__ import annotations

from pathlib import Path

import pytest
import zarr
from multiscale_nodes import array, hierarchy, ome, ome_level
from multiscale_stores import write_geozarr, write_ome

import refbrowser
from refbrowser.model.multiscales.conventions import multiscale_of
from refbrowser.views.attributes import image_sections


def test_rows_of_an_image_lead_to_its_levels() -> None:
    levels = ome_level("0", (0.5, 0.25)), ome_level("1", (1.0, 0.5))
    full = array("/0", (8, 6))
    found = hierarchy({"multiscales": [ome(*levels, name="cells")]}, full, array("/1", (4, 3)))
    (section,) = image_sections(multiscale_of(found, full))
    assert section.title == "Image"
    assert [(row.name, row.value, row.link) for row in section.rows] == [
        ("Name", "cells", ""),
        ("Convention", "OME-Zarr 0.4", ""),
        ("/0", "8 × 6   y 0.5 micrometer, x 0.25 micrometer", "/0"),
        ("/1", "4 × 3   y 1 micrometer, x 0.5 micrometer", "/1"),
    ]
    assert image_sections(None) == []


@pytest.mark.slow
def test_info_of_ome_zarr(tmp_path: Path) -> None:
    found = refbrowser.info(write_ome(tmp_path / "cells.zarr", size=128, count=2))
    assert "  image cells (OME-Zarr 0.4): 2 levels" in found.text
    assert "      /1  2 × 64 × 64  y 0.5 micrometer, x 0.5 micrometer" in found.text
    (image,) = found["groups"]["/"]["images"]
    assert image["levels"][1] == {
        "path": "/1",
        "shape": [2, 64, 64],
        "step": [1.0, 0.5, 0.5],
        "origin": [0.0, 0.125, 0.125],
    }
    assert refbrowser.check(tmp_path / "cells.zarr") == []


@pytest.mark.slow
def test_levels_share_dimensions_of_other_sizes_and_others_do_not(tmp_path: Path) -> None:
    path = write_ome(tmp_path / "cells.zarr", "0.5", size=128, count=2)
    assert refbrowser.check(path) == []
    zarr.open_group(path).create_array("mask", shape=(5,), dtype="u1", dimension_names=["x"])
    (finding,) = refbrowser.check(path)
    assert "dimension 'x' of array '/mask' has 5 elements" in finding.message


@pytest.mark.slow
def test_info_of_geozarr(tmp_path: Path) -> None:
    found = refbrowser.info(write_geozarr(tmp_path / "scene.zarr", size=128, count=2))
    assert "  image red (GeoZarr): 2 levels, EPSG:32633" in found.text
    assert "      /r20m/red  64 × 64  y 20 m, x 20 m" in found.text
    assert [image["name"] for image in found["groups"]["/"]["images"]] == ["nir", "red"]
    assert found["groups"]["/"]["images"][0]["crs"] == "EPSG:32633"
    assert "images" not in found["groups"]["/r20m"]
    assert refbrowser.check(tmp_path / "scene.zarr") == []
