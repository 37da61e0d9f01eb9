"""Films: their frames, levels and times, what is marked in them, and what is left of one that ends early."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

import refbrowser
from refbrowser.cli.program import main
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, NotInstalledError, RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.tools.figure.film_files import write_film
from refbrowser.views.figures.film_plan import FilmPlan, indices_of

pytestmark = pytest.mark.usefixtures("qapp")

YELLOW, VIOLET = (253, 231), (68, 1, 84)


class Plain:
    """A frame of one colour."""

    def __init__(self, colour: tuple[int, int, int], size: tuple[int, int] = (40, 30)) -> None:
        self._pixels = np.full((size[1], size[0], 3), colour, np.uint8)

    def rgb(self) -> npt.NDArray[np.uint8]:
        return self._pixels


def frames_of(path: Path) -> list[Image.Image]:
    with Image.open(path) as film:
        found = []
        for number in range(getattr(film, "n_frames", 1)):
            film.seek(number)
            found.append(film.convert("RGB"))
        return found


def has(frame: Image.Image, colour: tuple[int, ...]) -> bool:
    pixels = np.asarray(frame).reshape(-1, 3)[:, : len(colour)].astype(int)
    return bool((np.abs(pixels - colour).max(axis=1) <= 3).sum() > 20)


@pytest.fixture
def rising(document: Callable[..., str]) -> Callable[..., str]:
    """Make a document of three slices, each of one value: 0, 1 and 2."""

    def make(lost: tuple[str, ...] = ()) -> str:
        values = np.repeat(np.arange(3, dtype="<f4"), 24).reshape(3, 4, 6)
        return document(values, lost=lost)

    return make


SMALL = {"size": "300x220px", "dpi": 72}


@pytest.mark.slow
def test_a_film_has_a_frame_for_each_step(rising: Callable[..., str], tmp_path: Path) -> None:
    target = tmp_path / "f.gif"
    report = refbrowser.figure(rising(), "/t", target, along="time", rate=4, levels=(0, 2), **SMALL)
    frames = frames_of(target)
    assert len(frames) == report.frames == 3
    assert frames[0].size == (300, 220)
    assert has(frames[0], VIOLET)
    assert not has(frames[0], YELLOW) or has(frames[0], VIOLET)
    pixels = [np.asarray(frame)[80:110, 100:140].reshape(-1, 3).mean(axis=0) for frame in frames]
    assert pixels[0].sum() < pixels[1].sum() < pixels[2].sum()
    with Image.open(target) as film:
        assert film.info["duration"] == 250


@pytest.mark.slow
def test_frames_say_which_time_they_are_of(rising: Callable[..., str], tmp_path: Path) -> None:
    from refbrowser.tools.figure.window import figure_drawing

    seen = []
    original = figure_drawing.FigureDrawing.blank

    def blank(drawing: figure_drawing.FigureDrawing, scale: float | None = None) -> object:
        seen.append(drawing.title)
        return original(drawing, scale)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figure_drawing.FigureDrawing, "blank", blank)
        refbrowser.figure(rising(), "/t", tmp_path / "f", along="time", frames="::2", **SMALL)
    assert [title.rsplit(" ", 1)[1] for title in seen] == ["0", "2"]
    assert sorted(path.name for path in (tmp_path / "f").iterdir()) == ["frame_0001.png", "frame_0002.png"]


@pytest.mark.slow
def test_levels_of_all_frames_are_the_same_and_hold_all(rising: Callable[..., str], tmp_path: Path) -> None:
    path = rising()
    refbrowser.figure(path, "/t", tmp_path / "all", along="time", levels_of="all", extremes=True, **SMALL)
    first, _second, last = (Image.open(file).convert("RGB") for file in sorted((tmp_path / "all").iterdir()))
    inside = (120, 100)
    assert first.getpixel(inside) != last.getpixel(inside)
    refbrowser.figure(path, "/t", tmp_path / "each", along="time", levels_of="each", **SMALL)
    own = [Image.open(file).convert("RGB").getpixel(inside) for file in sorted((tmp_path / "each").iterdir())]
    assert own[0] == own[2]


@pytest.mark.slow
def test_a_frame_that_failed_is_marked_and_told(
    rising: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, target = rising(("1.0.0",)), tmp_path / "f"
    command = ["figure", path, "/t", "--along", "time", "-o", str(target), "--size", "300x220", "--dpi", "72"]
    assert main(command) == 4
    assert "marked as incomplete: frames 1" in capsys.readouterr().err
    first, second, third = (Image.open(file).convert("RGB") for file in sorted(target.iterdir()))
    # Neither the one before nor the one after is shown again in its place.
    assert second.tobytes() not in (first.tobytes(), third.tobytes())
    fault = (179, 38, 30)
    assert has(second, fault)
    assert not has(first, fault)


@pytest.mark.slow
def test_an_mp4_has_its_frames_and_length(rising: Callable[..., str], tmp_path: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    target = tmp_path / "f.mp4"
    refbrowser.figure(rising(), "/t", target, along="time", rate=5, size="301x221px", dpi=72)
    frames, seconds = ffmpeg.count_frames_and_secs(str(target))
    assert frames == 3
    assert seconds == pytest.approx(0.6, abs=0.05)


def test_one_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    token = CancelToken()

    def frames() -> Iterator[Plain]:
        for number in range(10):
            if number == 3:
                token.cancel()
            yield Plain((number, 0, 0))

    for name in ("a.gif", "b"):
        token = CancelToken()
        with pytest.raises(Cancelled):
            write_film(str(tmp_path / name), frames(), 10, 10, [], "", JobControl(token))
    assert list(tmp_path.iterdir()) == []


def test_an_old_film_stays_where_a_new_one_fails(tmp_path: Path) -> None:
    target = tmp_path / "a.gif"
    target.write_bytes(b"old")

    def frames() -> Iterator[Plain]:
        yield Plain((0, 0, 0))
        raise RefbrowserError(ErrorKind.SOURCE, "gone")

    with pytest.raises(RefbrowserError):
        write_film(str(target), frames(), 10, 2, [], "", JobControl())
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.gif"]


def test_colours_of_the_map_are_kept_in_a_gif(tmp_path: Path) -> None:
    colours = [(value, 255 - value, 40) for value in range(0, 200)]
    target = tmp_path / "a.gif"
    wanted = [colours[0], colours[77], colours[199], (255, 255, 255)]
    write_film(str(target), map(Plain, wanted), 10, 4, colours, "", JobControl())
    found = [frame.getpixel((5, 5)) for frame in frames_of(target)]
    assert found[:3] == wanted[:3]


def test_times_of_frames_add_up(tmp_path: Path) -> None:
    target = tmp_path / "a.gif"
    write_film(str(target), (Plain((n, n, n)) for n in range(30)), 30, 30, [], "", JobControl())
    total = 0
    with Image.open(target) as film:
        for number in range(film.n_frames):
            film.seek(number)
            total += film.info["duration"]
    assert total == 1000


@pytest.mark.parametrize(("name", "package"), [("a.mp4", "imageio_ffmpeg"), ("a.gif", "PIL")])
def test_what_is_not_installed_is_told_before_anything_is_drawn(
    rising: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    package: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(NotInstalledError) as caught:
        refbrowser.figure(rising(), "/t", tmp_path / name, along="time")
    named = "pillow" if package == "PIL" else "imageio"
    assert named in str(caught.value)
    assert "install" in caught.value.advice


def test_a_folder_that_is_there_is_not_replaced(rising: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    command = ["figure", rising(), "/t", "--along", "time", "--force", "-o", str(tmp_path / "f")]
    assert main(command) == 7


@pytest.mark.parametrize(
    "arguments", [("--along", "z"), ("--along", "time", "--frames", "9:"), ("--along", "x")]
)
def test_what_cannot_be_played_is_refused(
    rising: Callable[..., str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    assert main(["figure", rising(), "/t", *arguments, "-o", str(tmp_path / "f.gif")]) == 2
    assert not (tmp_path / "f.gif").exists()


def test_frames_are_a_slice() -> None:
    assert indices_of("", 4) == range(4)
    assert indices_of("-2:", 4) == range(2, 4)
    assert indices_of("::3", 10) == range(0, 10, 3)
    for text in ("1", "a:b", "::0", "1:2:3:4"):
        with pytest.raises(RefbrowserError):
            indices_of(text, 4)


def test_a_film_has_its_limits() -> None:
    with pytest.raises(RefbrowserError) as caught:
        FilmPlan(0, range(10**6))
    assert caught.value.kind is ErrorKind.BUDGET
    for plan in ((range(0), 10.0), (range(3), 1e9)):
        with pytest.raises(RefbrowserError):
            FilmPlan(0, *plan)
