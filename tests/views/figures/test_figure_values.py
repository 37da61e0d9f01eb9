"""Sizes, forms and words of figures."""

from __future__ import annotations

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.views.figures.figure_form import FigureForm, caption_of, title_of
from refbrowser.views.figures.figure_size import FigureSize, check_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("85mm", FigureSize(85)),
        ("170x120mm", FigureSize(170, 120)),
        ("170mm x 120mm", FigureSize(170, 120)),
        ("7.5x5in", FigureSize(7.5, 5, "in")),
        ("1920x1080", FigureSize(1920, 1080, "px")),
        ("640px", FigureSize(640, None, "px")),
        ("Slide", FigureSize(1920, 1080, "px")),
        ("a4", FigureSize(297, 210)),
    ],
)
def test_a_size_is_read(text: str, size: FigureSize) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "mm", "85cm", "1x2x3", "-5mm", "x20", "1e9mm", "85 mm; rm", "9" * 400, "٣mm"]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        parse_size(text)
    assert caught.value.kind is ErrorKind.USAGE


def test_a_size_is_written_as_it_is_read() -> None:
    for size in (FigureSize(85), FigureSize(170.5, 120), FigureSize(1920, 1080, "px")):
        assert parse_size(str(size)) == size


def test_pixels_are_as_many_as_there_are_in_an_inch() -> None:
    assert FigureSize(600, unit="px").inches(600, 300) == 2.0
    assert FigureSize(25.4).inches(25.4, 300) == 1.0


@pytest.mark.parametrize(
    ("sides", "dpi", "frames", "kind"),
    [
        ((0.1, 3.0), 300, 1, ErrorKind.USAGE),
        ((3.0, 500.0), 300, 1, ErrorKind.USAGE),
        ((3.0, 3.0), 5, 1, ErrorKind.USAGE),
        ((100.0, 100.0), 2400, 1, ErrorKind.BUDGET),
        ((10.0, 10.0), 300, 20_000, ErrorKind.BUDGET),
    ],
)
def test_what_is_too_large_is_refused(
    sides: tuple[float, float], dpi: int, frames: int, kind: ErrorKind
) -> None:
    with pytest.raises(RefbrowserError) as caught:
        check_size(*sides, dpi, frames)
    assert caught.value.kind is kind


def test_a_form_is_kept_and_comes_back() -> None:
    form = FigureForm(size=FigureSize(90, 60), dpi=600, points=7.5, scheme="dark", caption=False)
    assert FigureForm.from_json(form.as_json()) == form


@pytest.mark.parametrize(
    "kept", [None, [], "x", {"size": "1e9", "dpi": "300", "points": 900.0, "scheme": "pink", "title": 1}]
)
def test_of_a_form_that_is_none_the_usual_one_is_left(kept: object) -> None:
    form = FigureForm.from_json(kept)
    assert form.scheme == "light"
    assert form.size == FigureForm().size
    assert form.points <= 48


def test_words_of_foreign_names_are_one_line_each() -> None:
    assert "\n" not in title_of("a\nb\x1b[31m", ["time\n2024"])
    assert len(caption_of("x" * 9999, "/a", "", ())) <= 2000
    assert caption_of("a.nc", "/t", "0,:", ("time 2024",)) == "a.nc  ·  /t[0,:]  ·  time 2024"
