"""Coasts and borders that come with the program, and where lines are cut."""

from __future__ import annotations

import numpy as np
import pytest

from refbrowser.views.maps.earth_lines import EarthLines, earth_lines, is_fine, net_lines, net_names, net_step
from refbrowser.views.maps.layouts import EarthPart

#: Points of coasts that everybody knows: longitude, latitude.
KNOWN = {
    "Gibraltar": (-5.35, 36.1),
    "Cape of Good Hope": (18.47, -34.36),
    "Cape Horn": (-67.3, -55.98),
    "Cape Comorin": (77.55, 8.08),
    "North Cape": (25.8, 71.15),
    "Cape York": (142.5, -10.7),
}


@pytest.mark.parametrize("name", KNOWN)
def test_coasts_are_where_they_are(name: str) -> None:
    lines = earth_lines("coasts", is_fine=True)
    longitude, latitude = KNOWN[name]
    apart = np.hypot(
        (lines.longitudes - longitude) * np.cos(np.radians(latitude)), lines.latitudes - latitude
    )
    assert apart.min() < 0.35


def test_a_border_runs_along_a_parallel() -> None:
    lines = earth_lines("borders", is_fine=False)
    along = (np.abs(lines.latitudes - 49.0) < 0.05) & (lines.longitudes > -123) & (lines.longitudes < -96)
    # A parallel is no straight line on most maps: it has points on its way.
    assert np.count_nonzero(along) >= 25


@pytest.mark.parametrize("kind", ["coasts", "borders"])
def test_finer_lines_have_more_points_and_none_leaps(kind: str) -> None:
    coarse, fine = (earth_lines(kind, is_fine=fine) for fine in (False, True))
    assert len(fine.longitudes) > 4 * len(coarse.longitudes)
    for lines in (coarse, fine):
        across = (np.diff(lines.longitudes) + 180.0) % 360.0 - 180.0
        steps = np.hypot(across, np.diff(lines.latitudes))[lines.joined[:-1]]
        assert steps.max() < 2.0
        assert not lines.joined[-1]


def test_the_sheet_of_the_source_is_no_coast() -> None:
    lines = earth_lines("coasts", is_fine=True)
    assert lines.latitudes.min() > -89.0
    side = np.abs(lines.longitudes) > 179.99
    assert not (side[1:] & side[:-1] & lines.joined[:-1]).any()


def test_lines_are_cut_at_a_meridian() -> None:
    lines = EarthLines(
        np.array([170.0, 190.0, 200.0]), np.array([0.0, 20.0, 20.0]), np.array([True, True, False])
    )
    cut = lines.cut_at(180.0)
    assert len(cut.longitudes) == 5
    assert list(cut.joined) == [True, False, True, True, False]
    assert cut.longitudes[1] == pytest.approx(180.0)
    assert cut.latitudes[1:3] == pytest.approx([10.0, 10.0])
    assert cut.longitudes[1] < 180.0 < cut.longitudes[2]
    # Westwards the other way about.
    back = EarthLines(lines.longitudes[::-1], lines.latitudes[::-1], lines.joined).cut_at(180.0)
    assert back.longitudes[2] > 180.0 > back.longitudes[3]
    assert lines.cut_at(0.0) is lines


def test_a_net_has_round_lines() -> None:
    assert net_step(360.0) == 30.0
    assert net_step(3.0) == 0.5
    lines = net_lines(30.0)
    assert set(np.unique(lines.latitudes[np.abs(lines.longitudes) == 180.0])) >= {-60.0, 0.0, 60.0}
    near = net_lines(1.0, (10.0, 15.0), (40.0, 44.0))
    assert (near.longitudes.min(), near.longitudes.max()) == (10.0, 15.0)


def test_finer_lines_are_for_nearer_views() -> None:
    assert not is_fine(0.5)
    assert is_fine(0.1)


def test_lines_of_a_net_are_named_beside_each_other() -> None:
    names = net_names(30.0, EarthPart())
    texts = [text for _east, _north, text in names]
    assert texts.count("0°") == 2
    assert {"180°W", "150°E", "60°N", "30°S"} <= set(texts)
    assert "90°N" not in texts
    near = net_names(5.0, EarthPart((355.0, 372.0), (41.0, 52.0)))
    assert [text for _east, _north, text in near] == ["5°W", "0°", "5°E", "10°E", "45°N", "50°N"]
    assert {north for _east, north, text in near if text[-1] in "EW"} == {47.5}
