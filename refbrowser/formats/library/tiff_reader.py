"""What knows TIFF, in the process of `worker`: it imports nothing of ours.

No other file is ever opened: the library is given bytes, neither a path nor a name.
"""

from __future__ import annotations

import base64
import contextlib
import io
import logging
import struct
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from math import gcd, prod
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from tifffile import TIFF


def _loaded(path: Path) -> Any:
    """Return a module that lies elsewhere and imports nothing of ours either."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_HERE = Path(__file__).parent
tiff_codes = _loaded(_HERE.parents[1] / "codecs" / "tiff_codes.py")
tiff_tags = _loaded(_HERE / "tiff_tags.py")

#: Data of one page without compression that has more bytes is divided into chunks of at most so many.
_LARGEST = 64 << 20
#: Values that were read whole are kept below so many bytes.
_KEPT = 256 << 20
#: Pages, series and problems that are told.
_PROBLEMS = 20
#: Pages of a file, at most.
_PAGES = 1 << 20
#: Parts of 1 MiB of a file elsewhere in which pages are looked for; a few more are kept.
_FAR = 48
#: Bytes that a tile or strip can have.
_MOST = 1 << 30
#: Says that a page tells which elements of another one count.
_MASK = 4
#: Compressions as which JPEG is told.
_JPEG = (6, 7, 34892, 33007)


class TiffReader:
    """Reads one file."""

    def open(self, place: Any) -> dict[str, Any]:
        """Open a file: its path, or an object that reads it."""
        is_far = hasattr(place, "readinto")
        # As long as the process.
        raw = _Nameless(place if is_far else open(place, "rb", buffering=0), is_far)  # noqa: SIM115
        self._problems: list[str] = []
        if raw.circle is not None:
            self._problems.append("its pages form a cycle: each is shown once")
        _complete()
        tifffile.TiffPage.subifds = tiff_tags.Below(self._problems)
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
        yield {"head": {"order": self._file.byteorder, "big": self._file.is_bigtiff}}
        for path, series, is_first in self._named():
            if len(self._images) >= request["objects"]:
                yield {"problem": f"only its first {len(self._images)} images are shown"}
                return
            try:
                self._images[path] = image = _Image(self._file, series)
                told, columns = image.told(request, is_first=is_first)
            except Exception as error:  # noqa: BLE001 - one of them alone
                yield {"array": path, "error": f"{type(error).__name__}: {error}"[:500]}
            else:
                yield ({"array": path, **told}, *columns)
        for each in self._problems[:_PROBLEMS]:
            yield {"problem": each[:500]}

    def _named(self) -> Iterator[tuple[str, Any, bool]]:
        """Yield paths of images and masks, what they are of, and whether it is in full size."""
        found = self._series()
        are_masks = [bool(getattr(each.keyframe, "subfiletype", 0) & _MASK) for each in found]
        count = len(found) - sum(are_masks)
        number, names = -1, set[str]()
        for series, is_mask in zip(found, are_masks, strict=True):
            is_mask = is_mask and number >= 0
            number += not is_mask
            above = f"/series_{number}" if count > 1 else ""
            for level, each in enumerate(getattr(series, "levels", None) or [series]):
                path = f"{above}{f'/overview_{level}' if level else ''}/{'mask' if is_mask else 'image'}"
                while path in names:
                    path += "_"
                names.add(path)
                yield path, each, not level

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
        try:
            values = self._box(request["path"], [tuple(each) for each in request["box"]])
        except MemoryError:
            raise ValueError("it takes more memory than the reading process may use") from None
        yield {}, _flat(values)

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
        if image.is_of_three and (image.why_whole or image.runs):
            raise ValueError("its numbers of 24 bits are not laid out along its axes")
        if image.why_whole or image.in_one_piece or image.runs:
            if self._whole[0] != path:
                values = np.asarray(image.series.asarray(maxworkers=1)).reshape(image.shape)
                self._whole = (path if values.nbytes <= _KEPT else "", values)
            values = self._whole[1]
            if not self._whole[0]:
                self._whole = ("", None)
            return values[tuple(slice(*each) for each in box)].astype(image.dtype, copy=False)
        made = np.full([stop - start for start, stop in box], image.missing, image.dtype)
        for page, at in image.pages_of(box):
            if page is None:
                continue
            for index, origin in image.numbers_of(box):
                offset, size = image.place(page, index)
                if not offset or not size:
                    continue
                tables = {}
                if image.key.compression in _JPEG:
                    tables = {"jpegtables": page.jpegtables, "jpegheader": image.key.jpegheader}
                data = self._read(offset, size)
                if image.is_of_three:
                    values, sides = image.of_three_bytes(data)
                else:
                    values, _, sides = image.key.decode(data, index, **tables)
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
    """Return what was compressed by LZW."""
    made: bytes = tiff_codes.lzw_decoded(data, out if isinstance(out, int) else _MOST).tobytes()
    return made


def _floats(data: Any, axis: int = -1, dist: int = 1, *, out: Any = None) -> Any:
    """Return floats that were prepared for compression."""
    if dist != 1:
        raise ValueError("only imagecodecs reads floats whose bytes are interleaved by two or four")
    return tiff_codes.floats_restored(data, axis)


def _numbers(data: Any, dtype: Any, bitspersample: int, runlen: int = 0, *, out: Any = None) -> Any:
    """Return numbers of few bits."""
    if bitspersample in (8, 16, 32, 64):
        return np.frombuffer(data, dtype)
    return tiff_codes.numbers_of_bits(data, bitspersample, runlen, dtype)


def _zstd(data: Any, *, out: Any = None) -> bytes:
    """Return what was compressed by Zstandard."""
    from refbrowser.zstd import ZstdDecompressor

    return ZstdDecompressor().decompress(data)


def _complete() -> None:
    """Give the library the codecs that it has from imagecodecs alone, where that is not installed."""
    codecs: Any = tifffile.tifffile.imagecodecs
    if codecs.__name__ == "imagecodecs":
        return
    codecs.lzw_decode, codecs.zstd_decode = _lzw, _zstd
    codecs.floatpred_decode, codecs.packints_decode = _floats, _numbers


class _Nameless(io.RawIOBase):
    """A file of which the library knows no name, so that it looks for none beside it.

    Parameters
    ----------
    is_far
        Each part of it costs a request: pages are looked for in as many as are kept.

    Attributes
    ----------
    circle
        Where the page before a page that was there already is told: zeros are read instead. The library
        would follow some circles for ever.
    """

    def __init__(self, raw: Any, is_far: bool) -> None:
        self._raw = raw
        self._most = _FAR if is_far else _PAGES
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
        at, seen, parts = self._width, set[int](), set[int]()
        while True:
            (page,) = struct.unpack(order + of_page, self._read(at, self._width))
            if page in seen or len(seen) > _PAGES:
                return at
            parts.add(page >> 20)
            if not page or len(parts) > self._most:
                return None
            seen.add(page)
            width = struct.calcsize(of_count)
            (count,) = struct.unpack(order + of_count, self._read(page, width))
            at = page + width + entry * count

    def _read(self, at: int, length: int) -> bytes:
        self._raw.seek(at)
        data: bytes = self._raw.read(length)
        return data

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        return int(self._raw.seek(offset, whence))

    def tell(self) -> int:
        """Return where the next byte is read."""
        return int(self._raw.tell())

    def readinto(self, buffer: Any) -> int:
        """Read bytes from here on."""
        begin = self._raw.tell()
        count = int(self._raw.readinto(buffer))
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
        # What elements that are missing hold is read here.
        if "GDAL_NODATA" not in text and len(self._problems) < _PROBLEMS and text not in self._problems:
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
        What GDAL says that missing elements hold; None where it says nothing that they can.
    missing
        What elements of tiles hold that are not stored.
    short
        Of compressed strips of which the last one is shorter: the axis, its rows, and those of the others.
    """

    def __init__(self, file: Any, series: Any) -> None:
        self.series = series
        self.key = key = series.keyframe
        self.shape = tuple(int(each) for each in series.shape)
        self.axes = series.axes
        self.order = file.byteorder
        if not key.shape:
            raise ValueError("it has no width or no length")
        #: Whether its numbers have three bytes: the library knows neither signs nor the order of these.
        self.is_of_three = key.bitspersample == 24 and int(key.sampleformat) in (1, 2)
        if key.dtype is None and not self.is_of_three:
            raise ValueError(
                f"its numbers have {key.bitspersample} bits (sample format {int(key.sampleformat)}), "
                "which cannot be read"
            )
        kind = ("i4" if int(key.sampleformat) == 2 else "u4") if self.is_of_three else series.dtype
        self.dtype = np.dtype(kind).newbyteorder(self.order)
        self.nodata, self.missing = tiff_tags.nodata_of(key.tags.valueof(42113), self.dtype)
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
        self.short: tuple[int, ...] = ()
        self.in_one_piece = series.dataoffset is not None and not same and not self.is_of_three
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
            "attributes": list(tiff_tags.attributes_of(self, request["attribute"], is_first)),
            "said_nodata": key.tags.valueof(42113),
            "nodata": self.nodata,
            "settings": self._settings(),
            "geo": tiff_tags.geo_of(self, request["attribute"]),
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
        told["sides"], told["short"] = sides, self.short
        if isinstance(columns, str):
            return {**told, "why": columns}, []
        coords, offsets, sizes = columns
        stored = (offsets > 0) & (sizes > 0)
        if not stored.all():
            told["unstored"] = self.missing
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
            return f"its numbers of {key.bitspersample} bits have no numpy type"
        if int(key.fillorder) != 1:
            return "its bits are stored in reverse order"
        if key.is_subsampled and key.compression not in _JPEG:
            return "its colours are stored with fewer points than its brightness"
        if int(key.sampleformat) == 5:
            return "its numbers are complex integers"
        if key.compression in _JPEG and any(
            each is not None and each.jpegtables != key.jpegtables for each in self.pages
        ):
            return "its pages have separate compression tables"
        return ""

    def _settings(self) -> dict[str, Any]:
        """Return what imagecodecs must know to decode what is stored."""
        key = self.key
        if key.compression == 50001 and key.samplesperpixel == 4:
            return {"hasalpha": True}
        if key.compression not in _JPEG:
            return {}
        spaces = tifffile.tifffile.jpeg_decode_colorspace(
            key.photometric, key.planarconfig, key.extrasamples, key.is_jfif
        )
        packed = [
            None if each is None else base64.b64encode(each).decode()
            for each in (key.jpegtables, key.jpegheader)
        ]
        numbers = [None if each is None else int(each) for each in spaces]
        return {
            "tables": packed[0],
            "header": packed[1],
            "bitspersample": key.bitspersample,
            "colorspace_jpeg": numbers[0],
            "colorspace_data": numbers[1],
        }

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
                return sides, f"its table has {there} of {number} tiles or strips"
            # A table of single bytes is told as text.
            offsets[at] = np.array(list(page.dataoffsets[:number]), np.uint64).astype(np.int64)
            sizes[at] = np.array(list(page.databytecounts[:number]), np.uint64).astype(np.int64)
        if (offsets < 0).any() or (sizes < 0).any():
            raise ValueError("its tiles are at impossible offsets")
        coords = np.stack(np.unravel_index(np.arange(number), counts), axis=1)
        short = not key.is_tiled and key.shape[rows] % sides[rows]
        if short and not plain:
            self.short = self.of_page[self.in_page.index(rows)], int(short), sides[rows]
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
        if index < len(page.dataoffsets) and index >= len(page.databytecounts) and self.key.compression == 1:
            return int(page.dataoffsets[index]), self._length(index)
        if index >= len(page.dataoffsets) or index >= len(page.databytecounts):
            raise ValueError(f"its table does not give the offset of tile or strip {index}")
        return int(page.dataoffsets[index]), int(page.databytecounts[index])

    def _length(self, index: int) -> int:
        """Return the bytes of a tile or strip without compression of which the table tells no length."""
        key, sides = self.key, list(self.sides)
        if not key.is_tiled:
            rows = key.axes.index("Y")
            first = int(np.unravel_index(index, self.counts)[rows]) * sides[rows]
            sides[rows] = min(sides[rows], key.shape[rows] - first)
        return prod(sides) * key.bitspersample // 8

    def of_three_bytes(self, data: bytes) -> tuple[Any, tuple[int, ...]]:
        """Return the numbers of 24 bits of a tile or strip, and its sides."""
        key = self.key
        if key.predictor != 1:
            raise ValueError("numbers of 24 bits that were prepared for compression cannot be read")
        if key.compression != 1:
            data = TIFF.DECOMPRESSORS[key.compression](data)
        width = int(key.tilewidth if key.is_tiled else key.imagewidth)
        samples = int(key.samplesperpixel) if key.planarconfig == 1 else 1
        length = len(data) // (3 * width * samples)
        wide = np.zeros((length * width * samples, 4), np.uint8)
        at = 1 if self.order == "<" else 0
        wide[:, at : at + 3] = np.frombuffer(data, np.uint8, 3 * len(wide)).reshape(-1, 3)
        # The sign is kept: it stands in the highest byte.
        values = wide.view(self.dtype).reshape(-1) >> 8
        return values.reshape(1, length, width, samples), (1, length, width, samples)

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
        # Some writers leave out what tiles have behind the edges of the image; `sides` are of whole ones.
        depth, length, width, samples = map(min, sides, values.shape)
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
