"""What knows TIFF, in the process of `worker`: it imports nothing of ours.

No other file is ever opened: the library is given bytes, neither a path nor a name.
"""

from __future__ import annotations

import contextlib
import io
import logging
import struct
from collections.abc import Iterator
from enum import Enum
from itertools import product
from math import gcd, prod
from typing import Any

import numpy as np
import tifffile
from tifffile import TIFF

#: Data of one page without compression that has more bytes is divided into chunks of at most so many.
_LARGEST = 64 << 20
#: Values that were read whole are kept below so many bytes.
_KEPT = 256 << 20
#: Pages, series and problems that are told.
_PROBLEMS = 20
#: Tags that say where and how elements are stored.
_LAYOUT = {
    *range(255, 260), 266, 273, 277, 278, 279, 284, 288, 289, 317, 322, 323, 324, 325, 330, 338, 339,
    347, 512, 513, 514, 519, 520, 521, 530, 531, 532, 32997, 32998, 33432, 34377, 34665, 34675,
}  # fmt: skip
#: Tags that are told in other words: those of GeoTIFF and GDAL.
_TOLD = {33550, 33920, 33922, 34264, 34735, 34736, 34737, 42112, 42113, 50844}
_RATIONAL = (5, 10)
#: Pages of a file, at most.
_PAGES = 1 << 20
#: Codes of LZW, and the bits of the longest.
_CLEAR, _END, _WIDEST = 256, 257, 12


class TiffReader:
    """Reads one file."""

    def open(self, place: Any) -> dict[str, Any]:
        """Open a file: its path, or an object that reads it."""
        raw = place if hasattr(place, "readinto") else _Nameless(place)
        self._problems: list[str] = []
        if isinstance(raw, _Nameless) and raw.circle is not None:
            self._problems.append("its pages lead in a circle: each is shown once")
        _complete()
        logger = tifffile.logger()
        logger.addHandler(_Gathered(self._problems))
        logger.propagate = False
        self._bytes = io.BufferedReader(raw, 1 << 16)
        self._file = tifffile.TiffFile(self._bytes, name="file", _multifile=False)
        self._images: dict[str, _Image] = {}
        self._whole: tuple[str, Any] = ("", None)
        return {}

    # What there is

    def do_describe(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell series of pages as arrays, with all that is known of them but their values."""
        most = request["objects"]
        yield {"head": {"order": self._file.byteorder, "big": self._file.is_bigtiff}}
        found = self._series()
        for number, series in enumerate(found):
            above = f"/series_{number}" if len(found) > 1 else ""
            levels = getattr(series, "levels", None) or [series]
            for level, each in enumerate(levels):
                group = f"{above}/overview_{level}" if level else above
                if len(self._images) >= most:
                    yield {"problem": f"only its first {most} images are shown"}
                    return
                path = f"{group}/image"
                try:
                    self._images[path] = image = _Image(self._file, each)
                    told, columns = image.told(request, is_first=not level)
                except Exception as error:  # noqa: BLE001 - one of them alone
                    yield {"array": path, "error": f"{type(error).__name__}: {error}"[:500]}
                else:
                    yield ({"array": path, **told}, *columns)
        for each in self._problems[:_PROBLEMS]:
            yield {"problem": each[:500]}

    def _series(self) -> list[Any]:
        """Return the series of pages: where the library knows none each page that can be read."""
        try:
            found = [each for each in self._file.series if prod(each.shape)]
        except Exception as error:  # noqa: BLE001 - of foreign files
            self._problems.append(f"its pages are shown one by one: {type(error).__name__}: {error}")
            found = []
        if found:
            return found
        pages = self._file.pages
        for number in range(len(pages)):
            try:
                page = pages[number]
                if prod(page.shape):
                    found.append(tifffile.TiffPageSeries([page], page.shape, page.dtype, page.axes))
            except Exception as error:  # noqa: BLE001 - one page alone
                self._problems.append(f"page {number} cannot be read: {type(error).__name__}: {error}")
        return found

    # Values

    def do_read(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the values of a box of an array."""
        yield {}, _flat(self._box(request["path"], [tuple(each) for each in request["box"]]))

    def do_chunk(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the stored bytes of a chunk, and those of its elements where they lie in the array."""
        image = self._image(request["path"])
        begins, counts = request["start"], request["count"]
        box = [(start, start + count) for start, count in zip(begins, counts, strict=True)]
        ((page, _),) = image.pages_of(box)
        ((index, _),) = image.numbers_of(box)
        offset, size = image.place(page, index)
        yield {}, self._read(offset, size)
        yield {}, _flat(self._box(request["path"], box))

    def _image(self, path: str) -> _Image:
        if path not in self._images:
            # Another process had it described.
            for _ in self.do_describe({"objects": 1_000_000, "attribute": 0, "chunks": 0}):
                pass
        return self._images[path]

    def _box(self, path: str, box: list[tuple[int, int]]) -> Any:
        image = self._image(path)
        if image.why_whole or image.in_one_piece or image.runs:
            if self._whole[0] != path:
                values = np.asarray(image.series.asarray(maxworkers=1)).reshape(image.shape)
                self._whole = (path if values.nbytes <= _KEPT else "", values)
            values = self._whole[1]
            if not self._whole[0]:
                self._whole = ("", None)
            return values[tuple(slice(*each) for each in box)].astype(image.dtype, copy=False)
        made = np.full([stop - start for start, stop in box], image.nodata, image.dtype)
        for page, at in image.pages_of(box):
            if page is None:
                continue
            for index, origin in image.numbers_of(box):
                offset, size = image.place(page, index)
                if not offset or not size:
                    continue
                tables = {}
                if image.key.compression in (6, 7, 34892, 33007):
                    tables = {"jpegtables": page.jpegtables, "jpegheader": image.key.jpegheader}
                values, _, sides = image.key.decode(self._read(offset, size), index, **tables)
                if values is not None:
                    image.put(made, at, box, origin, values, sides)
        return made

    def _read(self, offset: int, size: int) -> bytes:
        self._bytes.seek(offset)
        data = self._bytes.read(size)
        if len(data) != size:
            raise OSError(f"the file ends before byte {offset + size}")
        return data


#: What the process asks.
Reader = TiffReader


def _lzw(data: Any, *, out: Any = None) -> bytes:
    """Return what was compressed by LZW (TIFF 6.0, section 13)."""
    most = out if isinstance(out, int) else None
    first = [bytes([each]) for each in range(256)] + [b"", b""]
    table, width, before = list(first), 9, b""
    held = bits = size = 0
    parts = []
    for byte in bytes(data):
        held, bits = held << 8 | byte, bits + 8
        if bits < width:
            continue
        bits -= width
        code, held = held >> bits, held & (1 << bits) - 1
        if code == _CLEAR:
            table, width, before = list(first), 9, b""
            continue
        if code == _END or (most is not None and size >= most):
            break
        if not before:
            entry = table[code]
        elif code <= len(table):
            entry = table[code] if code < len(table) else before + before[:1]
            table.append(before + entry[:1])
        else:
            raise ValueError("LZW names what it has not told")
        parts.append(entry)
        size += len(entry)
        before = entry
        if len(table) >= (1 << width) - 1 and width < _WIDEST:
            width += 1
    return b"".join(parts)


def _zstd(data: Any, *, out: Any = None) -> bytes:
    """Return what was compressed by Zstandard."""
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj().decompress(bytes(data))


def _complete() -> None:
    """Give the library the codecs that it has from imagecodecs alone, where that is not installed."""
    codecs = tifffile.tifffile.imagecodecs
    if codecs.__name__ == "imagecodecs":
        return
    codecs.lzw_decode, codecs.zstd_decode = _lzw, _zstd


class _Nameless(io.RawIOBase):
    """A file of this machine of which the library knows no name, so that it looks for none beside it.

    Attributes
    ----------
    circle
        Where the page before a page that was there already is told: zeros are read instead. The library
        would follow some circles for ever.
    """

    def __init__(self, path: str) -> None:
        self._raw = open(path, "rb", buffering=0)  # noqa: SIM115 - as long as the process
        self.circle: int | None = None
        self._width = 4
        with contextlib.suppress(OSError, struct.error, OverflowError):
            self.circle = self._find_circle()
        self._raw.seek(0)

    def _find_circle(self) -> int | None:
        """Return where the first page is named that was named before."""
        head = self._read(0, 4)
        order, is_big = "<" if head[:2] == b"II" else ">", head[2:] in (b"+\0", b"\0+")
        of_count, of_page, entry = ("Q", "Q", 20) if is_big else ("H", "I", 12)
        self._width = struct.calcsize(of_page)
        at, seen = self._width, set[int]()
        while True:
            (page,) = struct.unpack(order + of_page, self._read(at, self._width))
            if page in seen or len(seen) > _PAGES:
                return at
            if not page:
                return None
            seen.add(page)
            width = struct.calcsize(of_count)
            (count,) = struct.unpack(order + of_count, self._read(page, width))
            at = page + width + entry * count

    def _read(self, at: int, length: int) -> bytes:
        self._raw.seek(at)
        return self._raw.read(length)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        """Return where the next byte is read."""
        return self._raw.tell()

    def readinto(self, buffer: Any) -> int | None:
        """Read bytes from here on."""
        begin = self._raw.tell()
        count = self._raw.readinto(buffer)
        if self.circle is not None:
            room = memoryview(buffer).cast("B")
            for at in range(self.circle - begin, self.circle - begin + self._width):
                if 0 <= at < count:
                    room[at] = 0
        return count


class _Gathered(logging.Handler):
    """Keeps what the library complains of."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._problems = problems

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one complaint, once."""
        text = record.getMessage()
        if len(self._problems) < _PROBLEMS and text not in self._problems:
            self._problems.append(text)


class _Image:
    """One level of a series of pages: an array.

    Attributes
    ----------
    shape, axes
        As the library tells them.
    why_whole
        Why the library must read all of it at once; empty where its pages and chunks are known.
    of_page, in_page
        Its axes that are those of a page, and these, without what has the length 1.
    of_pages
        Its axes that number pages.
    runs
        Its pages follow each other; only the first is told.
    in_one_piece
        It has other axes than its page, which lies in one piece.
    dtype
        Of its elements as they are stored.
    nodata
        What missing elements hold.
    """

    def __init__(self, file: Any, series: Any) -> None:
        self.series = series
        self.key = key = series.keyframe
        self.shape = tuple(int(each) for each in series.shape)
        self.axes = series.axes
        if series.dtype is None:
            raise ValueError(f"elements of {key.bitspersample} bits of format {int(key.sampleformat)}")
        self.dtype = np.dtype(series.dtype).newbyteorder(file.byteorder)
        self.nodata = key.nodata or 0
        self.pages = list(series.pages)
        kept = [at for at, side in enumerate(self.shape) if side != 1 or self.axes[at] in "YX"]
        inner = [at for at, side in enumerate(key.shape) if side != 1 or key.axes[at] in "YX"]
        self.of_page, self.in_page = kept[len(kept) - len(inner) :], inner
        self.of_pages = kept[: len(kept) - len(inner)]
        count = prod(self.shape[at] for at in self.of_pages)
        same = [self.shape[at] for at in self.of_page] == [key.shape[at] for at in inner]
        # One page is told of several that follow each other without a table of their own.
        self.runs = len(self.pages) == 1 and count > 1 and series.dataoffset is not None
        self.why_whole = ""
        self.in_one_piece = series.dataoffset is not None and not same
        if series.transform is not None:
            self.why_whole = "its elements are computed from those that are stored"
        elif self.in_one_piece:
            return
        elif not same or (len(self.pages) != count and not self.runs):
            self.why_whole = "its pages are not laid out along its axes"
        elif len(key.chunked) != len(key.shape):
            self.why_whole = "its tiles are not laid out along its axes"
        if not self.why_whole:
            rank = len(key.shape)
            self.sides = [1] * (rank - len(key.chunks)) + [int(each) for each in key.chunks]
            if not key.is_tiled:
                length = key.axes.index("Y")
                self.sides[length] = min(self.sides[length], key.shape[length])
            self.counts = [int(each) for each in key.chunked]

    # Description

    def told(self, request: dict[str, Any], *, is_first: bool) -> tuple[dict[str, Any], list[Any]]:
        """Return what is told of it, and its chunks as columns."""
        key = self.key
        told: dict[str, Any] = {
            "shape": self.shape,
            "axes": self.axes,
            "dtype": self.dtype.str,
            "compression": int(key.compression),
            "compression_name": getattr(key.compression, "name", str(key.compression)),
            "predictor": int(key.predictor),
            "attributes": list(self._attributes(request["attribute"], is_first)),
            "nodata": key.tags.valueof(42113),
            "geo": self._geo(request["attribute"]),
            "missing": self._missing(),
            "why": self._why(),
        }
        if told["why"]:
            told["sides"] = None if self.why_whole else self._spread(self.sides)
            return told, []
        if self.in_one_piece:
            sides = list(self.shape)
            begin, length = [self.series.dataoffset], prod(sides) * self.dtype.itemsize
            columns: Any = np.zeros((1, len(sides)), np.int64), np.array(begin), np.array([length])
        else:
            sides, columns = self._chunks(request["chunks"])
            sides = self._spread(sides)
        told["sides"] = sides
        if isinstance(columns, str):
            return {**told, "why": columns}, []
        coords, offsets, sizes = columns
        stored = (offsets > 0) & (sizes > 0)
        told["sparse"] = not bool(stored.all())
        columns = [coords[stored], offsets[stored], sizes[stored], np.zeros(int(stored.sum()), np.uint32)]
        return told, [_flat(each) for each in columns]

    def _missing(self) -> str:
        """Return which codec is missing that the library needs."""
        key = self.key
        for table, number in ((TIFF.DECOMPRESSORS, key.compression), (TIFF.UNPREDICTORS, key.predictor)):
            try:
                if number != 1:
                    table[number]
            except Exception:  # noqa: BLE001 - it is told as an error of a key
                return getattr(number, "name", str(number))
        return ""

    def _why(self) -> str:
        """Return why no bytes of the file are its elements, whatever codec reads them."""
        key = self.key
        if self.why_whole:
            return self.why_whole
        if key.bitspersample != 8 * self.dtype.itemsize or self.dtype.kind == "b":
            return f"its numbers of {key.bitspersample} bits are not stored as numpy holds any"
        if int(key.fillorder) != 1:
            return "its bits are stored in reverse order"
        if key.is_subsampled:
            return "its colours are stored with fewer points than its brightness"
        if int(key.sampleformat) == 5:
            return "its numbers are complex integers"
        return ""

    def _spread(self, of_page: list[int]) -> list[int]:
        """Return sides of a chunk of a page as those of the array."""
        sides = [1] * len(self.shape)
        for at, inside in zip(self.of_page, self.in_page, strict=True):
            sides[at] = of_page[inside]
        return sides

    def _chunks(self, most: int) -> tuple[list[int], Any]:
        """Return the sides of a chunk of a page, and all chunks as columns, or why there are none."""
        key, size = self.key, self.dtype.itemsize
        if key.is_final:
            return self._divided()
        sides, counts = list(self.sides), list(self.counts)
        plain = key.compression == 1 and key.predictor == 1
        rows = key.axes.index("Y")
        tables, number = self.pages, prod(counts)
        if len(tables) * number > most:
            return sides, f"it has more than {most} tiles"
        offsets = np.zeros((len(tables), number), np.int64)
        sizes = np.zeros_like(offsets)
        for at, page in enumerate(tables):
            if page is None:
                continue
            there = min(len(page.dataoffsets), len(page.databytecounts))
            if there < number:
                raise ValueError(f"its table has {there} of {number} tiles or strips")
            offsets[at] = np.array(page.dataoffsets[:number], np.uint64).astype(np.int64)
            sizes[at] = np.array(page.databytecounts[:number], np.uint64).astype(np.int64)
        if (offsets < 0).any() or (sizes < 0).any():
            raise ValueError("its tiles lie at places that no file has")
        coords = np.stack(np.unravel_index(np.arange(number), counts), axis=1)
        short = not key.is_tiled and key.shape[rows] % sides[rows]
        if short and not plain:
            why = f"its last strip has {short} rows, the others {sides[rows]}"
            return sides, f"{why}: chunks of Zarr are all alike"
        if plain:
            coords, offsets, sizes, sides = self._of_rows(coords, offsets, sizes, short or 0)
            expected = prod(sides) * size
            stored = sizes[offsets > 0]
            if ((stored < expected) & (stored > 0)).any():
                return sides, f"some of its tiles have fewer than {expected} bytes"
            sizes = np.minimum(sizes, expected)
        return sides, self._columns(coords, offsets, sizes)

    def _of_rows(self, coords: Any, offsets: Any, sizes: Any, short: int) -> tuple[Any, Any, Any, list[int]]:
        """Return strips without compression divided so that the last one is as long as the others."""
        rows = self.key.axes.index("Y")
        sides = list(self.sides)
        if not short:
            return coords, offsets, sizes, sides
        each = gcd(sides[rows], short)
        times, length = sides[rows] // each, prod(sides) // sides[rows] * each * self.dtype.itemsize
        sides[rows] = each
        inner = np.arange(times)
        coords = np.repeat(coords, times, axis=0)
        coords[:, rows] = coords[:, rows] * times + np.tile(inner, len(coords) // times)
        begins = np.where(offsets[..., None] > 0, offsets[..., None] + inner * length, 0)
        left = np.clip(sizes[..., None] - inner * length, 0, length)
        inside = coords[:, rows] * each < self.key.shape[rows]
        flat = (len(offsets), -1)
        return coords[inside], begins.reshape(flat)[:, inside], left.reshape(flat)[:, inside], sides

    def _divided(self) -> tuple[list[int], Any]:
        """Return the chunks of pages that lie in one piece."""
        key, size = self.key, self.dtype.itemsize
        sides = list(key.shape)
        first = next((at for at, side in enumerate(sides) if side > 1), 0)
        whole = prod(sides) * size
        if whole > _LARGEST:
            row = whole // sides[first]
            wanted = max(_LARGEST // row, 1)
            side = next(each for each in range(wanted, 0, -1) if sides[first] % each == 0)
            if side * row >= _LARGEST // 64:
                sides[first] = side
        number = key.shape[first] // sides[first]
        length = prod(sides) * size
        if self.runs:
            count = prod(self.shape[at] for at in self.of_pages)
            begins = self.series.dataoffset + np.arange(count, dtype=np.int64) * whole
        else:
            begins = np.array([0 if each is None else each.dataoffsets[0] for each in self.pages], np.int64)
        coords = np.zeros((number, len(sides)), np.int64)
        coords[:, first] = np.arange(number)
        offsets = np.where(begins[:, None] > 0, begins[:, None] + np.arange(number) * length, 0)
        return sides, self._columns(coords, offsets, np.full(offsets.shape, length))

    def _columns(self, coords: Any, offsets: Any, sizes: Any) -> tuple[Any, Any, Any]:
        """Return chunks of each page as those of the array."""
        count = len(offsets)
        made = np.zeros((count, len(coords), len(self.shape)), np.int64)
        if self.of_pages:
            sides = [self.shape[at] for at in self.of_pages]
            numbers = np.stack(np.unravel_index(np.arange(count), sides), axis=1)
            made[:, :, self.of_pages] = numbers[:, None, :]
        made[:, :, self.of_page] = coords[:, self.in_page]
        return made.reshape(-1, len(self.shape)), offsets.reshape(-1), sizes.reshape(-1).astype(np.int64)

    # Attributes

    def _attributes(self, most: int, is_first: bool) -> Iterator[tuple[str, Any, str]]:
        """Yield names, values, and why there is none."""
        key = self.key
        told = set()
        for tag in key.tags:
            if tag.code in _LAYOUT or tag.code in _TOLD:
                continue
            try:
                value = _plain(tag)
            except Exception as error:  # noqa: BLE001 - one tag alone
                yield tag.name, None, f"{type(error).__name__}: {error}"[:200]
                continue
            if value is None:
                continue
            if tag.name in told or len(str(value)) > most:
                yield tag.name, None, "it is too large" if tag.name not in told else "it is there twice"
                continue
            told.add(tag.name)
            yield tag.name, value, ""
        name = getattr(self.series, "name", "")
        if is_first and name and getattr(self.series, "kind", "") == "ome":
            yield "long_name", name, ""
        for name, value in (self._gdal() if is_first else {}).items():
            if name not in told:
                yield name, value, ""

    def _gdal(self) -> dict[str, str]:
        """Return what GDAL says of the file and its bands."""
        found: dict[str, str] = {}
        text = self.key.tags.valueof(42112)
        if not isinstance(text, str):
            return found
        from xml.etree import ElementTree

        try:
            items = ElementTree.fromstring(text).findall("Item")
        except ElementTree.ParseError:
            return {"GDAL_METADATA": text}
        for item in items:
            band = item.get("sample")
            where = "" if band is None else f"band_{band}_"
            domain = item.get("domain")
            name = f"{where}{f'{domain}_' if domain else ''}{item.get('name', 'item')}"
            found.setdefault(name, item.text or "")
        return found

    def _geo(self, most: int) -> dict[str, Any]:
        try:
            found = self.key.geotiff_tags or {}
        except Exception:  # noqa: BLE001 - of foreign tags
            return {}
        return {
            str(name): plain
            for name, value in found.items()
            if not isinstance(value, dict)
            and (plain := _value(value)) is not None
            and len(str(plain)) <= most
        }

    # Pages and their chunks

    def pages_of(self, box: list[tuple[int, int]]) -> Iterator[tuple[Any, tuple[int, ...]]]:
        """Yield the pages that a box lies in, and where in the box."""
        if self.runs:
            raise ValueError("its pages are read by ranges")
        sides = [self.shape[at] for at in self.of_pages]
        for at in product(*(range(*box[axis]) for axis in self.of_pages)):
            number = int(np.ravel_multi_index(at, sides)) if at else 0
            inside = tuple(each - box[axis][0] for each, axis in zip(at, self.of_pages, strict=True))
            yield self.pages[number], inside

    def numbers_of(self, box: list[tuple[int, int]]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the tiles or strips that a box lies in: their numbers, and where they begin in a page."""
        inside = dict(zip(self.in_page, self.of_page, strict=True))
        ranges = []
        for axis, side in enumerate(self.sides):
            start, stop = box[inside[axis]] if axis in inside else (0, 1)
            ranges.append(range(start // side, -(-stop // side)))
        for at in product(*ranges):
            origin = tuple(number * side for number, side in zip(at, self.sides, strict=True))
            yield int(np.ravel_multi_index(at, self.counts)), origin

    def place(self, page: Any, index: int) -> tuple[int, int]:
        """Return where a tile or strip is."""
        if index >= len(page.dataoffsets) or index >= len(page.databytecounts):
            raise ValueError(f"there is no tile or strip {index}")
        return int(page.dataoffsets[index]), int(page.databytecounts[index])

    def put(
        self,
        made: Any,
        at: tuple[int, ...],
        box: list[tuple[int, int]],
        origin: tuple[int, ...],
        values: Any,
        sides: tuple[int, ...],
    ) -> None:
        """Put the elements of a tile or strip where they lie in a box."""
        key = self.key
        depth, length, width, samples = sides
        values = values[:depth, :length, :width, :samples]
        shape = [length, width]
        if key.imagedepth > 1:
            shape = [depth, *shape]
        if key.samplesperpixel > 1:
            shape = [*shape, samples] if key.planarconfig == 1 else [1, *shape]
        values = values.reshape(shape)
        of: list[Any] = [0] * len(self.sides)
        to: list[Any] = [0] * len(self.shape)
        for axis, where in zip(self.of_pages, at, strict=True):
            to[axis] = where
        for inside, axis in zip(self.in_page, self.of_page, strict=True):
            start, stop = box[axis]
            if shape[inside] < min(self.sides[inside], key.shape[inside] - origin[inside]):
                raise ValueError(f"the tile or strip at {origin} has too few elements")
            first, last = max(origin[inside], start), min(origin[inside] + shape[inside], stop)
            if first >= last:
                return
            of[inside] = slice(first - origin[inside], last - origin[inside])
            to[axis] = slice(first - start, last - start)
        made[tuple(to)] = values[tuple(of)]


def _flat(values: Any) -> Any:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)


def _plain(tag: Any) -> Any:
    """Return the value of a tag as an attribute; None of what is none."""
    value = tag.value
    if int(tag.dtype) in _RATIONAL and isinstance(value, tuple):
        found = [top / bottom if bottom else 0.0 for top, bottom in zip(value[::2], value[1::2], strict=True)]
        return found[0] if len(found) == 1 else found
    return _value(value)


def _value(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        try:
            return value.rstrip(b"\0").decode("ascii") or None
        except UnicodeDecodeError:
            return None
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        found = [_value(each) for each in value]
        if any(isinstance(each, list) for each in found):
            found = [part for each in found for part in (each if isinstance(each, list) else [each])]
        numbers = all(isinstance(each, int | float) for each in found)
        return found if found and (numbers or all(isinstance(each, str) for each in found)) else None
    return value if isinstance(value, str | int | float) and value != "" else None
