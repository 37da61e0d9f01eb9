"""The image of the rows of a byte map: moved or made anew, it is the same; only what is new is painted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from deep import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from refbrowser.tools.bytes.report.byte_map import ByteMap
from refbrowser.tools.bytes.report.byte_pixels import ByteViewport
from refbrowser.tools.bytes.report.byte_runs import Runs
from refbrowser.tools.bytes.report.file_source import FoundRanges, OwnerKind, OwnerName
from refbrowser.tools.bytes.report.target_files import FileFacts
from refbrowser.tools.bytes.window import byte_image
from refbrowser.tools.bytes.window.byte_image import ByteImage, ByteSubject
from refbrowser.views.chunks.chunk_colouring import URL_STYLES, MapClass

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
pytestmark = pytest.mark.usefixtures("qapp")


def subject_of(count: int, seed: int) -> ByteSubject:
    """Return ranges of three arrays, some of which overlap, with some that a view needs."""
    rng = np.random.default_rng(seed)
    found = FoundRanges(owners={OwnerName(OwnerKind.ARRAY, f"/v{number}"): number for number in range(3)})
    found.keys.append(str)
    start = 700 + np.cumsum(rng.integers(0, 40, count))
    size = rng.integers(0, 36, count)
    found.add(rng.integers(0, 3, count).astype(np.int32), 0, np.arange(count), start, size)
    shown = ByteMap("x", found, FileFacts(int(start[-1]) + 900))
    # The third one has a pattern.
    styles = tuple(MapClass("url", each.label, 4 * at, URL_STYLES) for at, each in enumerate(shown.classes))
    used = Runs.of(start[10:40], start[10:40] + size[10:40])
    return ByteSubject(shown, styles, used, Runs.of(used.start[:1], used.stop[-1:]))


def pixels(image: ByteImage, subject: ByteSubject) -> list[Any]:
    found = image.image(subject)
    return np.frombuffer(found.constBits(), np.uint32).reshape(found.height(), found.width()).tolist()


moves = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-90, 90), st.sampled_from([1.0, 1.0, 1.0, 2.0, 0.5])),
    min_size=1, max_size=6,
)  # fmt: skip


class TestImage:
    @pytest.mark.slow
    @settings(phases=QUICK, max_examples=examples(60))
    @given(
        seed=st.integers(0, 99),
        scale=st.sampled_from([0.25, 1.0, 3.5, 64.0]),
        ratio=st.sampled_from([1.0, 2.0]),
        width=st.integers(20, 70),
        rows=st.integers(1, 5),
        moves=moves,
    )
    def test_moved_it_is_as_if_painted_anew(
        self, seed: int, scale: float, ratio: float, width: int, rows: int, moves: list[Any]
    ) -> None:
        subject = subject_of(200, seed)
        viewport = ByteViewport()
        viewport.resize(width, rows, ratio)
        viewport.set_size(subject.shown.end)
        viewport.scale, viewport.first = scale, 512.0
        image = ByteImage(viewport)
        image.image(subject)
        for down, across, factor in moves:
            viewport.scale *= factor
            viewport.first -= (down * width + across) * viewport.scale
            assert pixels(image, subject) == pixels(ByteImage(viewport), subject)

    def test_each_part_is_where_its_bytes_are(self) -> None:
        found = FoundRanges(owners={OwnerName(OwnerKind.ARRAY, "/v"): 0}, keys=[str])
        found.add(0, 0, np.arange(4), np.array([0, 100, 130, 135]), np.array([2, 10, 10, 9]))
        shown = ByteMap("x", found, FileFacts(300))
        runs = Runs.of(np.array([100]), np.array([108]))
        viewport = ByteViewport()
        viewport.resize(60, 5, 1.0)
        viewport.set_size(shown.end)
        image = ByteImage(viewport)
        subject = ByteSubject(shown, (MapClass("url", "/v", 0, URL_STYLES),), runs, runs)
        # One pixel has one byte; the second row begins with byte 60, and the third one with 120.
        row, below = np.array(pixels(image, subject)).reshape(5, 23, 60)[1:3]
        plain = row[:, 0]
        for height in (0, 18):
            assert np.flatnonzero(row[height] != plain[height]).tolist() == [*range(40, 48)]
        # Where a range begins there is a line.
        surface = row[22, 0]
        assert row[10, 40] == surface
        assert (row[10, 41:50] == row[10, 41]).all()
        assert row[10, 41] not in (surface, plain[10])
        assert row[10, 50] == plain[10]
        # Bytes 135 to 139 are held twice: red on both sides, over all of the row.
        strong = below[22, 14]
        assert np.flatnonzero(below[22] == strong).tolist() == [14, 20]
        assert np.flatnonzero(below[0] == strong).tolist() == [*range(14, 21)]

    def test_only_what_comes_into_sight_is_painted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[int] = []
        picture_of = byte_image.picture_of

        def counted(shown: ByteMap, low: Any, *others: Any) -> Any:
            asked.append(len(low))
            return picture_of(shown, low, *others)

        monkeypatch.setattr(byte_image, "picture_of", counted)
        subject = subject_of(2000, 1)
        viewport = ByteViewport()
        viewport.resize(100, 20, 1.0)
        viewport.set_size(subject.shown.end)
        viewport.zoom(3.0, 10, 50.0)
        image = ByteImage(viewport)
        image.image(subject)
        for down, across in ((0, 0), (1, 0), (-2, 0), (0, 7.25), (0, 0.25), (-1, -30.5)):
            viewport.pan(down, across)
            image.image(subject)
        # A line on either side of it is looked at, too.
        assert asked == [2002, 102, 202, 102, 202]
        image.image(subject._replace(used=None))
        assert asked[-1] == 2002

    def test_what_changes_is_painted(self, qapp: QApplication) -> None:
        from refbrowser.app.widgets import theme

        subject = subject_of(200, 2)
        viewport = ByteViewport()
        viewport.resize(60, 4, 1.0)
        viewport.set_size(subject.shown.end)
        image = ByteImage(viewport)
        light = pixels(image, subject)
        assert pixels(image, subject._replace(requested=None)) != light
        assert pixels(image, subject._replace(styles=subject.styles[::-1])) != light
        assert pixels(image, subject) == light
        try:
            theme.apply(qapp, theme.DARK)
            image.restyle()
            assert pixels(image, subject) != light
        finally:
            theme.apply(qapp, theme.LIGHT)
