"""Files of films: GIF, MP4, and a folder of pictures; each is there whole, or not at all."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError
from refbrowser.io.files.atomic import fill_atomically
from refbrowser.io.files.hidden_siblings import folder_beside
from refbrowser.loading import require
from refbrowser.views.figures.film_plan import GIF, MP4

#: Entries of a palette, and how many of them colours of the map may take: the rest is for letters and lines.
_PALETTE, _MAP_COLOURS = 256, 200
#: Colours that are looked at together; and which are taken for one, by the sum of what their bands differ.
_TOGETHER, _NEAR = 4096, 6
#: Pixels whose entries are looked up at once.
_AT_ONCE = 100_000
#: Quality of an MP4: 18 is what the eye takes for the original; and how long its program may take to end.
_QUALITY, _PATIENCE = "18", 120.0
#: Characters of what the program says of itself that are told.
_SAID = 300


class Frame(Protocol):
    """One picture of a film."""

    def rgb(self) -> npt.NDArray[np.uint8]:
        """Return its pixels, shape (height, width, 3)."""


def write_film(
    target: str,
    frames: Iterable[Frame],
    rate: float,
    count: int,
    colours: Sequence[Sequence[int]],
    title: str,
    control: JobControl,
) -> None:
    """Write a film; its suffix says as what, one without a suffix is a folder of pictures.

    Parameters
    ----------
    rate
        Frames per second.
    count
        Of the frames.
    colours
        Of the colour map, as (red, green, blue); none where there is none.
    title
        Kept in the file.

    Raises
    ------
    RefbrowserError
        A package is missing; the target is there or cannot be written.
    """
    followed = _followed(frames, count, control)
    suffix = suffix_of(target)
    if suffix == GIF:
        fill_atomically(target, lambda file: _write_gif(file, followed, rate, colours))
    elif suffix == MP4:
        _write_mp4(target, followed, rate, title, control)
    else:
        _write_folder(target, followed, count)


def suffix_of(target: str) -> str:
    """Return what a film is written as: ``.gif``, ``.mp4``, or empty for a folder of frames."""
    return os.path.splitext(target.rstrip("/\\"))[1].lower()


def check_target(target: str, *, force: bool) -> None:
    """Make sure that a film can be written, before it is drawn.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: nothing is written so. `E_IO`: it is there; a folder is never replaced.
    NotInstalledError
        What writes it is not installed; the advice tells how to install it.
    """
    suffix, place = suffix_of(target), Place(path=target)
    if suffix not in (GIF, MP4, ""):
        advice = "give .gif, .mp4, or a folder for pictures"
        raise RefbrowserError(ErrorKind.USAGE, f"a film cannot be written as {suffix}", place, advice)
    if suffix == GIF:
        require("PIL")
    elif suffix == MP4:
        require("imageio_ffmpeg")
    if os.path.lexists(target) and (not force or suffix == ""):
        advice = "give --force to replace it" if suffix else "give the name of a folder that is not there"
        raise TargetExistsError(ErrorKind.IO, "the target exists already", place, advice)


def _followed(frames: Iterable[Frame], count: int, control: JobControl) -> Iterable[Frame]:
    for number, frame in enumerate(frames):
        control.check()
        control.progress(number, count)
        yield frame
    control.check()
    control.progress(count, count)


# A folder of pictures


def _write_folder(target: str, frames: Iterable[Frame], count: int) -> None:
    path = Path(os.path.abspath(target))
    digits = max(4, len(str(count)))
    try:
        with folder_beside(path) as made:
            for number, frame in enumerate(frames, 1):
                (made / f"frame_{number:0{digits}}.png").write_bytes(_png(frame.rgb()))
            made.chmod(0o777 & ~_mask())
            os.rename(made, path)
            # What is removed at the end of the block is no longer there.
    except OSError as error:
        reason = error.strerror or str(error)
        raise RefbrowserError(ErrorKind.IO, f"cannot write: {reason}", Place(path=target)) from error


def _png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return pixels as a PNG file; other threads go on while it is packed, as they do not with Qt's."""
    rows = np.ascontiguousarray(pixels).reshape(len(pixels), -1)
    # Each row as what differs from the one above (the filter Up): maps have much that does not.
    lines = np.full((len(rows), rows.shape[1] + 1), 2, np.uint8)
    lines[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=lines[1:, 1:])
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.data, 6)), (b"IEND", b""))
    packed = (struct.pack(">I", len(data)) + kind + data + _sum(kind + data) for kind, data in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def _sum(data: bytes) -> bytes:
    return struct.pack(">I", zlib.crc32(data))


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# GIF


class _Palette:
    """The colours of a GIF: those of the map exactly, and those of letters and lines beside."""

    def __init__(self, first: npt.NDArray[np.uint8], colours: Sequence[Sequence[int]]) -> None:
        self.entries = np.zeros((_PALETTE, 3), np.uint8)
        taken = np.asarray(colours, np.uint8)[:, :3]
        if len(taken) > _MAP_COLOURS:
            taken = taken[np.linspace(0, len(taken) - 1, _MAP_COLOURS).round().astype(int)]
        others = _others(first, taken)
        self.entries[: len(taken)] = taken
        self.entries[len(taken) : len(taken) + len(others)] = others
        # Where there are fewer, the first one again: an entry of black would take what is nearly black.
        self.entries[len(taken) + len(others) :] = self.entries[0]
        #: The entry of each colour, and whether it is known yet.
        self._places = np.zeros(1 << 24, np.uint8)
        self._known = np.zeros(1 << 24, np.bool_)

    def indexed(self, pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Return the entry that is nearest to each pixel, shape (height, width)."""
        found = np.empty(pixels.shape[:2], np.uint8)
        # A few rows at a time: the window's thread waits for each.
        rows = max(1, _AT_ONCE // pixels.shape[1])
        for top in range(0, len(pixels), rows):
            keys = _keys(pixels[top : top + rows])
            self._learn(np.unique(keys[~self._known[keys]]))
            found[top : top + rows] = self._places[keys]
        return found

    def _learn(self, new: npt.NDArray[np.uint32]) -> None:
        """Find the entries of colours that were not seen yet."""
        entries = self.entries.astype(np.int32)
        for start in range(0, len(new), _TOGETHER):
            some = new[start : start + _TOGETHER]
            distances = (_bands(some)[:, None] - entries[None]) ** 2
            self._places[some] = distances.sum(axis=2).argmin(axis=1)
        self._known[new] = True


def _keys(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Return colours as numbers."""
    red, green, blue = (pixels[..., band].astype(np.uint32) for band in range(3))
    keys: npt.NDArray[np.uint32] = red * np.uint32(1 << 16) + green * np.uint32(1 << 8) + blue
    return keys


def _bands(keys: npt.NDArray[np.uint32]) -> npt.NDArray[np.int32]:
    """Return numbers as colours, shape (n, 3)."""
    return np.stack([keys >> 16, keys >> 8 & 0xFF, keys & 0xFF], axis=1).astype(np.int32)


def _others(first: npt.NDArray[np.uint8], taken: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the colours of a frame that are not those of the map, at most as many as there is room for."""
    from PIL import Image

    keys, counts = np.unique(_keys(first), return_counts=True)
    # Of many colours those that are seen most.
    seen = _bands(keys[np.argsort(counts)[::-1][:_TOGETHER]])
    distance = np.min(np.abs(seen[:, None] - taken[None].astype(np.int32)).sum(axis=2), axis=1)
    others = seen[distance > _NEAR].astype(np.uint8)
    room = _PALETTE - len(taken)
    if len(others) <= room:
        return others
    strip = Image.fromarray(np.ascontiguousarray(others[None]))
    reduced = strip.quantize(room, method=Image.Quantize.MAXCOVERAGE).getpalette() or []
    return np.asarray(reduced[: 3 * room], np.uint8).reshape(-1, 3)


def _write_gif(
    file: BinaryIO, frames: Iterable[Frame], rate: float, colours: Sequence[Sequence[int]]
) -> None:
    """Write frames one by one; of each only what differs from the one before."""
    from PIL import Image

    palette: _Palette | None = None
    mixed: Image.Image | None = None
    before: npt.NDArray[np.uint8] | None = None
    told = 0
    for number, frame in enumerate(frames, 1):
        pixels = np.ascontiguousarray(frame.rgb())
        if before is None:
            if len(colours):
                palette = _Palette(pixels, colours)
                entries = palette.entries.tobytes()
            else:
                mixed = Image.fromarray(pixels).quantize(_PALETTE, method=Image.Quantize.MEDIANCUT)
                entries = bytes(mixed.getpalette() or ())
            file.write(_gif_head(pixels.shape, entries))
        if palette is not None:
            now = palette.indexed(pixels)
        else:
            # A photograph has more colours than a palette: they are mixed of it.
            dither = Image.Dither.FLOYDSTEINBERG
            now = np.asarray(Image.fromarray(pixels).quantize(palette=mixed, dither=dither))
        # Hundredths of a second, which add up to what was asked for.
        until = round(number * 100 / rate)
        file.write(_gif_frame(now, _changed(before, now), until - told))
        before, told = now, until
    if before is None:
        raise RefbrowserError(ErrorKind.USAGE, "the film has no frames")
    file.write(b";")


def _gif_head(shape: tuple[int, ...], entries: bytes) -> bytes:
    table = entries.ljust(3 * _PALETTE, b"\0")[: 3 * _PALETTE]
    screen = struct.pack("<6sHHBBB", b"GIF89a", shape[1], shape[0], 0xF7, 0, 0)
    return screen + table + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"


def _gif_frame(now: npt.NDArray[np.uint8], box: tuple[int, int, int, int], hundredths: int) -> bytes:
    """Return a part of a frame, and how long it is seen."""
    from PIL import Image
    from PIL.GifImagePlugin import getdata

    left, top, right, bottom = box
    part = Image.fromarray(np.ascontiguousarray(now[top:bottom, left:right]))
    control = struct.pack("<4sHBB", b"\x21\xf9\x04\x04", min(65535, max(1, hundredths)), 0, 0)
    return control + b"".join(getdata(part, (left, top)))


def _changed(before: npt.NDArray[np.uint8] | None, now: npt.NDArray[np.uint8]) -> tuple[int, int, int, int]:
    """Return the box of what differs: left, top, right, bottom; one pixel where nothing does."""
    if before is None:
        return 0, 0, now.shape[1], now.shape[0]
    differs = before != now
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not len(rows):
        return 0, 0, 1, 1
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


# MP4


def _write_mp4(target: str, frames: Iterable[Frame], rate: float, title: str, control: JobControl) -> None:
    with folder_beside(Path(os.path.abspath(target))) as folder:
        made = folder / "film.mp4"
        _encode(made, frames, rate, title, control)
        try:
            fill_atomically(target, lambda file: _copy(made, file))
        except OSError as error:
            raise RefbrowserError(ErrorKind.IO, f"cannot write: {error}", Place(path=target)) from error


def _copy(path: Path, file: BinaryIO) -> None:
    with path.open("rb") as source:
        shutil.copyfileobj(source, file)


def _encode(made: Path, frames: Iterable[Frame], rate: float, title: str, control: JobControl) -> None:
    """Have ffmpeg make a file of frames, which it gets one by one."""
    from imageio_ffmpeg import get_ffmpeg_exe

    process: subprocess.Popen[bytes] | None = None
    with TemporaryFile() as said:
        try:
            for frame in frames:
                pixels = np.ascontiguousarray(frame.rgb())
                if process is None:
                    command = _command(get_ffmpeg_exe(), pixels.shape, rate, title, made)
                    process = subprocess.Popen(
                        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said
                    )
                assert process.stdin is not None
                process.stdin.write(pixels.data)
            if process is None or process.stdin is None:
                raise RefbrowserError(ErrorKind.USAGE, "the film has no frames")
            process.stdin.close()
            code = process.wait(_PATIENCE)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RefbrowserError(ErrorKind.IO, f"the film was not made: {_last(said) or error}") from error
        finally:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
            if process is not None and process.stdin is not None:
                _close(process.stdin.close)
        if code:
            raise RefbrowserError(ErrorKind.IO, f"the film was not made: {_last(said)}")


def _close(close: Callable[[], object]) -> None:
    try:
        close()
    except OSError:
        # What was to be written still has no reader any more.
        return


def _command(program: str, shape: tuple[int, ...], rate: float, title: str, made: Path) -> list[str]:
    source = [
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        f"{shape[1]}x{shape[0]}",
        "-r",
        f"{rate:g}",
        "-i",
        "-",
    ]
    # Sides are even numbers there; what is added is of the colour of the ground's edge.
    even = ["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv"]
    coded = ["-c:v", "libx264", "-crf", _QUALITY, "-pix_fmt", "yuv420p", "-colorspace", "bt709"]
    kept = ["-color_primaries", "bt709", "-color_trc", "bt709", "-movflags", "+faststart"]
    named = ["-metadata", f"title={title.replace(chr(0), '')}", "-f", "mp4", str(made)]
    return [program, "-nostdin", "-loglevel", "error", "-y", *source, "-an", *even, *coded, *kept, *named]


def _last(said: Any) -> str:
    said.seek(0)
    return said.read(65536).decode("utf-8", "replace").strip()[-_SAID:]
