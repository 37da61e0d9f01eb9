"""What knows FITS, in the process of `worker`: it imports nothing of ours.

Astropy reads headers, tiles that are compressed and tables of text; rows of binary tables are cut here, so
that a table is never read whole.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
import warnings
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from astropy.io import fits
from astropy.utils.exceptions import AstropyWarning

_FAILURES = (
    OSError, RuntimeError, ValueError, LookupError, TypeError, MemoryError, ArithmeticError, AttributeError,
    AssertionError, fits.VerifyError,
)  # fmt: skip
_DTYPES = {8: ">u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}
#: Elements of rows whose lengths are their own; bits come as bytes.
_ELEMENTS = {
    "L": "S1", "X": "u1", "B": "u1", "I": ">i2", "J": ">i4", "K": ">i8", "E": ">f4", "D": ">f8",
    "C": ">c8", "M": ">c16", "A": "S1",
}  # fmt: skip
_ROWS = re.compile(r"\s*[01]?([PQ])([LXBIJKEDCMA])")
#: How often a column has an element in a row, and which (FITS standard 4.0, 7.3.1).
_FORM = re.compile(r"\s*(\d*)\s*([LXBIJKEDCMAPQ])")
_WIDTHS = {"L": 1, "B": 1, "A": 1, "I": 2, "J": 4, "E": 4, "K": 8, "D": 8, "C": 8, "P": 8, "M": 16, "Q": 16}
#: What is no value in a column of whole numbers of a table of text.
_NO_VALUE = -(2**63)
#: What only says how the data lies.
_STRUCTURE = re.compile(r"SIMPLE|XTENSION|BITPIX|NAXIS\d*|EXTEND|PCOUNT|GCOUNT|GROUPS|END")
_BLOCK = 2880
#: The sum of data, and that of a whole unit as text (FITS standard 4.0, 4.4.2.7), in cards of a header.
_DATASUM = re.compile(rb"DATASUM = *'? *(\d{1,10}) *['/ ]")
_CHECKSUM = re.compile(rb"CHECKSUM= *'[0-9A-Za-z]{16}'")
#: Bytes of a header, and of data at a time, that are summed.
_HEADER, _SUMMED = 8 << 20, 8 << 20
_GZIP = b"\x1f\x8b"
#: Bytes that a packed file may have unpacked, and that are unpacked at a time.
_UNPACKED, _PORTION = 512 << 20, 1 << 20
_TEXTS = ("COMMENT", "HISTORY", "")
#: Things that are wrong and told one by one, of a file.
_NAMED = 100


class FitsReader:
    """Reads one file."""

    def open(self, place: Any) -> dict[str, Any]:
        """Open a file: its path, or an object that reads it."""
        # Given a path, astropy would unpack what is compressed.
        self._place: Any = io.FileIO(place) if isinstance(place, str) else place
        self._place = io.BufferedReader(self._place)
        self._problems: list[str] = []
        self._is_packed = self._place.peek(2)[:2] == _GZIP
        if self._is_packed:
            self._place = self._unpacked()
        self._size = self._place.seek(0, io.SEEK_END)
        self._place.seek(0)
        with self._noting():
            self._hdus = fits.open(
                self._place, memmap=False, do_not_scale_image_data=True, lazy_load_hdus=True
            )
        self._paths: dict[str, tuple[Any, int]] = {}
        return {}

    def _unpacked(self) -> io.BytesIO:
        """Return what is in a file that is packed by gzip."""
        made, stream = io.BytesIO(), zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            while (
                rest := stream.unconsumed_tail
                or stream.unused_data.lstrip(b"\0")
                or self._place.read(_PORTION)
            ):
                if stream.eof:
                    # Members follow each other.
                    stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
                made.write(stream.decompress(rest, _PORTION))
                if made.tell() > _UNPACKED:
                    raise ValueError(f"unpacked it has more than {_UNPACKED} bytes")
        except (OSError, zlib.error) as error:
            self._problems.append(f"it cannot be unpacked to its end: {error}")
        else:
            if not stream.eof:
                self._problems.append("it cannot be unpacked to its end: it was cut")
        return made

    def do_describe(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the units of the file, and where their data is."""
        self._left = request["attributes"]
        for number, (hdu, name) in enumerate(self._units()):
            if number >= request["objects"]:
                yield {"problem": f"only the first {number} units of it are shown"}
                break
            told: dict[str, Any] = {"unit": name, "number": number}
            try:
                with self._noting():
                    told |= self._described(hdu, name, number)
                if self._is_packed:
                    told.setdefault("why", "the file is compressed by gzip: nothing in it is stored as is")
                told["cards"], told["structure"] = self._cards(hdu, request["attribute"])
            except _FAILURES as error:
                told["error"] = f"{type(error).__name__}: {error}"[:500]
            yield told
        for each in self._problems[:_NAMED]:
            yield {"problem": each}

    def do_read(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the values of a box of an array, packed as their type says."""
        hdu, column = self._found(request["path"])
        box = tuple(slice(*each) for each in request["box"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not hasattr(hdu, "fileinfo"):
                offset = _place_of(hdu)["datLoc"]
                yield {}, self._bytes(offset + box[0].start, box[0].stop - box[0].start)
            elif isinstance(hdu, fits.TableHDU):
                columns = list(self._text_rows(hdu, box[0]))
                yield ({}, *(columns if column < 0 else [columns[column]]))
            elif column >= 0:
                yield ({}, *self._column(hdu, column, box))
            elif isinstance(hdu, fits.BinTableHDU | fits.GroupsHDU) and not isinstance(
                hdu, fits.CompImageHDU
            ):
                rows = self._rows(hdu, box[0])
                yield ({}, *(np.ascontiguousarray(rows[name]) for name in rows.dtype.names))
            else:
                yield {}, np.ascontiguousarray(_plain(hdu.section[box], hdu.header))

    def _noting(self) -> Any:
        return _Noting(self._problems)

    def _units(self) -> Iterator[tuple[Any, str]]:
        """Yield header-data units with names that no other has."""
        number = 0
        names: set[str] = set()
        while True:
            try:
                with self._noting():
                    hdu = self._hdus[number]
            except IndexError:
                return
            except _FAILURES as error:
                self._problems.append(f"what follows cannot be read: {type(error).__name__}: {error}"[:500])
                return
            name = _name_of(hdu, number)
            if name in names:
                name = f"{name}_{getattr(hdu, 'ver', number)}"
            while name in names:
                name = f"{name}_{number}"
            names.add(name)
            self._paths.setdefault(f"/{name}", (hdu, -1))
            if isinstance(hdu, fits.BinTableHDU) and not isinstance(hdu, fits.CompImageHDU):
                # What is wrong with them is told of the table.
                with contextlib.suppress(*_FAILURES):
                    for index, column in enumerate(_columns(hdu)):
                        self._paths.setdefault(f"/{name}.{column['name']}", (hdu, index))
            if isinstance(hdu, fits.TableHDU):
                with contextlib.suppress(*_FAILURES):
                    for index, column in _null_columns(hdu):
                        self._paths.setdefault(f"/{name}.{column['name']}", (hdu, index))
            yield hdu, name
            number += 1

    def _described(self, hdu: Any, name: str, number: int) -> dict[str, Any]:
        header = hdu.header
        place = _place_of(hdu)
        offset, span = place.get("datLoc", 0), place.get("datSpan", 0)
        told: dict[str, Any] = {"offset": offset}
        if not hasattr(hdu, "fileinfo"):
            # Of what departs from the standard only the header is known; bytes follow it.
            return told | {"kind": "image", "dtype": "u1", "shape": [max(self._size - offset, 0)]}
        # The size of an image that is compressed is not that of its tiles; the last block may be short.
        size = max(span - _BLOCK + 1, 0) if isinstance(hdu, fits.CompImageHDU) else hdu.size
        if offset + size > self._size:
            told["cut"] = [self._size, offset + size]
        else:
            told |= self._sums(place, size)
        if isinstance(hdu, fits.CompImageHDU):
            return (
                told
                | _image(header)
                | {"kind": "image", "why": "its tiles are compressed in a way that only FITS uses"}
            )
        if isinstance(hdu, fits.GroupsHDU):
            fields = _fields(hdu.columns.dtype)
            return told | {"kind": "table", "fields": fields, "rows": header["GCOUNT"], "columns": []}
        if isinstance(hdu, fits.TableHDU):
            return told | {
                "kind": "table",
                "fields": _text_fields(hdu),
                "rows": header["NAXIS2"],
                "columns": [special for _, special in _null_columns(hdu)],
                "why": "its numbers are stored as text",
            }
        if isinstance(hdu, fits.BinTableHDU):
            columns = _columns(hdu)
            fields = [[each["name"], each["dtype"], each["shape"]] for each in columns if each["size"]]
            width = sum(each["size"] for each in columns)
            if width != header["NAXIS1"]:
                raise ValueError(f"its columns have {width} bytes, its rows {header['NAXIS1']}")
            special = [
                {key: each[key] for key in ("name", "why", "type", "units", "fill")}
                | {"shape": [] if each["rows"] else each["shape"]}
                for each in columns
                if each["why"]
            ]
            return told | {"kind": "table", "fields": fields, "rows": header["NAXIS2"], "columns": special}
        if not hdu.is_image:
            return told | {"kind": "image", "dtype": "u1", "shape": [min(hdu.size or span, self._size)]}
        return told | _image(header) | {"kind": "image" if header["NAXIS"] else "nothing"}

    def _sums(self, place: dict[str, Any], size: int) -> dict[str, Any]:
        """Return the sum that a unit has to have, and what is known of it without its data."""
        begin, offset, span = place["hdrLoc"], place["datLoc"], place["datSpan"]
        if not 0 < offset - begin <= _HEADER:
            return {}
        header = self._bytes(begin, offset - begin)
        cards = [header[at : at + 80] for at in range(0, len(header), 80)]
        said = next((found for found in map(_DATASUM.match, cards) if found), None)
        if said is None:
            return {}
        told: dict[str, Any] = {"datasum": int(said[1]), "span": span}
        if any(map(_CHECKSUM.match, cards)):
            told["is_header_wrong"] = _summed([_sum_of(header), told["datasum"]]) != 0xFFFFFFFF
        rest = span - size
        if 0 <= rest <= _BLOCK and offset + span <= self._size:
            told["rest"] = _sum_of(self._bytes(offset + size, rest), size)
        return told

    def do_sum(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the sum of the data of a unit."""
        hdu, _ = self._found(request["path"])
        place = _place_of(hdu)
        offset, span = place["datLoc"], place["datSpan"]
        parts = (_sum_of(self._bytes(offset + at, min(_SUMMED, span - at))) for at in range(0, span, _SUMMED))
        yield {"sum": _summed(parts)}

    def _found(self, path: str) -> tuple[Any, int]:
        """Return the unit at a path, and the number of the column; -1 where it is the unit itself."""
        for _ in self._units():
            if path in self._paths:
                break
        return self._paths[path]

    def _cards(self, hdu: Any, most: int) -> tuple[list[Any], list[Any]]:
        """Return the cards of a header as attributes, and those that tell how its data lies."""
        shown: dict[str, Any] = {}
        inner: dict[str, Any] = {}
        texts: dict[str, list[str]] = {}
        for card in hdu.header.cards:
            try:
                name, value = card.keyword, card.value
            except _FAILURES as error:
                self._problems.append(f"a card cannot be read: {error}"[:300])
                continue
            if isinstance(value, fits.card.Undefined):
                value = ""
            elif not _is_plain(value):
                value = str(value)
            self._left -= len(name) + (len(value) if isinstance(value, str) else 8)
            if self._left < 0:
                self._problems.append("its cards are more than are shown")
                break
            if name in _TEXTS:
                texts.setdefault(name or "COMMENT", []).append(str(value))
            else:
                (inner if _STRUCTURE.fullmatch(name) else shown).setdefault(name, value)
        for name, lines in texts.items():
            text = "\n".join(lines).rstrip()
            if text:
                shown[name] = text[:most]
        return list(shown.items()), list(inner.items())

    def _rows(self, hdu: Any, rows: slice) -> Any:
        """Return rows of a table as they are told."""
        fields = _fields(hdu.columns.dtype)
        if isinstance(hdu, fits.BinTableHDU):
            fields = [[each["name"], each["dtype"], each["shape"]] for each in _columns(hdu) if each["size"]]
        dtype = np.dtype([(name, code, tuple(shape)) for name, code, shape in fields])
        offset = _place_of(hdu)["datLoc"] + rows.start * dtype.itemsize
        return np.frombuffer(self._bytes(offset, (rows.stop - rows.start) * dtype.itemsize), dtype)

    def _raw_rows(self, hdu: Any, rows: slice) -> bytes:
        """Return rows of a table as they are stored."""
        width = hdu.header["NAXIS1"]
        return self._bytes(_place_of(hdu)["datLoc"] + rows.start * width, (rows.stop - rows.start) * width)

    def _bytes(self, offset: int, length: int) -> bytes:
        if offset < 0 or length < 0 or offset + length > self._size:
            raise ValueError(f"bytes {offset} to {offset + length} are not in the file")
        self._place.seek(offset)
        data: bytes = self._place.read(length)
        if len(data) != length:
            raise OSError("the file ends early")
        return data

    def _column(self, hdu: Any, index: int, box: tuple[slice, ...]) -> Iterator[Any]:
        """Yield rows of one column as they are meant."""
        columns = _columns(hdu)
        column = columns[index]
        start = sum(each["size"] for each in columns[:index])
        data = np.frombuffer(self._raw_rows(hdu, box[0]), np.uint8).reshape(-1, hdu.header["NAXIS1"])
        if not column["size"]:
            # Texts without letters have lengths; of other elements there are none.
            yield np.zeros(len(data) if column["type"]["kind"] == "string" else 0, np.uint32)
            return
        stored = np.ascontiguousarray(data[:, start : start + column["size"]])
        values = stored.view(column["dtype"]).reshape(len(stored), *column["shape"])
        if not column["rows"]:
            yield np.ascontiguousarray(_scaled(values, column)[(slice(None), *box[1:])])
            return
        element = np.dtype(_ELEMENTS[column["rows"]])
        first = _place_of(hdu)["datLoc"] + hdu.header.get(
            "THEAP", hdu.header["NAXIS1"] * hdu.header["NAXIS2"]
        )
        end = _place_of(hdu)["datLoc"] + hdu.size
        found: list[Any] = []
        for count, offset in values.tolist():
            length = (-(-count // 8) if column["rows"] == "X" else count) * element.itemsize
            if count < 0 or offset < 0 or first + offset + length > end:
                raise ValueError(f"a row of {count} elements is outside the heap of the table")
            found.append(np.frombuffer(self._bytes(first + offset, length) if length else b"", element))
        if column["rows"] == "A":
            texts = [each.tobytes().rstrip(b"\0 ") for each in found]
            yield np.array([len(each) for each in texts], np.uint32)
            yield b"".join(texts)
            return
        yield np.array([len(each) for each in found], np.uint32)
        for each in found:
            yield np.ascontiguousarray(_scaled(each, column))

    def _text_rows(self, hdu: Any, rows: slice) -> Iterator[Any]:
        """Yield the columns of rows of a table of text."""
        header = hdu.header.copy()
        header["NAXIS2"], header["PCOUNT"] = rows.stop - rows.start, 0
        data = self._raw_rows(hdu, rows)
        table = fits.TableHDU.fromstring(
            header.tostring().encode("ascii") + data + b" " * (-len(data) % _BLOCK)
        )
        raw = np.frombuffer(data, np.uint8).reshape(-1, header["NAXIS1"])
        for number, (_, dtype, _) in enumerate(_text_fields(hdu)):
            values = np.asarray(table.data.field(number)).astype(dtype)
            column = hdu.columns[number]
            if column.null is not None and values.dtype.kind in "if":
                # The library takes them for zeros.
                begin, width = column.start - 1, hdu.columns._spans[number]
                cells = np.ascontiguousarray(raw[:, begin : begin + width]).view(f"S{width}")[:, 0]
                is_none = np.char.strip(cells) == str(column.null).strip().encode("ascii")
                values[is_none] = np.nan if values.dtype.kind == "f" else _NO_VALUE
            yield np.ascontiguousarray(
                np.char.rstrip(values).astype(dtype) if values.dtype.kind == "S" else values
            )


#: As the process calls it.
Reader = FitsReader


class _Noting:
    """Notes what astropy warns of."""

    def __init__(self, problems: list[str]) -> None:
        self._problems = problems
        self._catch = warnings.catch_warnings(record=True)

    def __enter__(self) -> None:
        self._found: Any = self._catch.__enter__()
        warnings.simplefilter("always")

    def __exit__(self, *exception: Any) -> None:
        self._catch.__exit__(*exception)
        said = [" ".join(str(each.message).split())[:300] for each in self._found or ()
                if issubclass(each.category, AstropyWarning)]  # fmt: skip
        self._problems += [each for each in said if each not in self._problems][:_NAMED]


def _is_plain(value: Any) -> bool:
    """Tell whether the value of a card can be told as it is."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (str, bool)) or (isinstance(value, int) and -(2**63) <= value < 2**64)


def _place_of(hdu: Any) -> dict[str, Any]:
    """Return where the header and the data of a unit are."""
    if hasattr(hdu, "fileinfo"):
        return hdu.fileinfo() or {}
    return {"hdrLoc": hdu._header_offset, "datLoc": hdu._data_offset, "datSpan": 0}


def _sum_of(data: bytes, at: int = 0) -> int:
    """Return the ones' complement sum of bytes that begin so far from the beginning of what is summed."""
    before = at % 4
    filled = bytes(before) + data + bytes(-(before + len(data)) % 4)
    return _summed([int(np.frombuffer(filled, ">u4").sum(dtype=np.uint64))])


def _summed(parts: Iterable[int]) -> int:
    """Return the ones' complement sum of sums."""
    total = sum(parts)
    while total >> 32:
        total = (total & 0xFFFFFFFF) + (total >> 32)
    return total


def _size_of(form: str, otherwise: int) -> int:
    """Return the bytes that a column has in a row."""
    found = _FORM.match(form)
    if found is None:
        return otherwise
    count = int(found[1]) if found[1] else 1
    return -(-count // 8) if found[2] == "X" else count * _WIDTHS[found[2]]


def _name_of(hdu: Any, number: int) -> str:
    name = str(getattr(hdu, "name", "") or "").strip().replace("/", "_")
    return name or ("PRIMARY" if not number else f"HDU{number}")


def _image(header: Any) -> dict[str, Any]:
    """Return what is to be known of an image: what its numbers are, and what they mean."""
    shape = [header[f"NAXIS{axis}"] for axis in range(header["NAXIS"], 0, -1)]
    found: dict[str, Any] = {"shape": shape, "dtype": _DTYPES[header["BITPIX"]]}
    scale, zero = _number(header, "BSCALE", 1), _number(header, "BZERO", 0)
    dtype = np.dtype(found["dtype"])
    unsigned = _unsigned(dtype, scale, zero)
    if unsigned:
        found |= {"unsigned": unsigned, "zero": int(zero)}
    elif scale != 1 or zero != 0:
        found["scale"] = [scale, zero]
    blank = header.get("BLANK")
    if dtype.kind in "iu" and isinstance(blank, int) and not isinstance(blank, bool):
        info = np.iinfo(dtype)
        if info.min <= blank <= info.max:
            found["blank"] = blank + (int(zero) if unsigned else 0)
    units = header.get("BUNIT")
    return found | ({"units": units} if isinstance(units, str) and units.strip() else {})


def _number(header: Any, name: str, otherwise: float) -> float:
    value = header.get(name, otherwise)
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_one else otherwise


def _unsigned(dtype: Any, scale: float, zero: float) -> str:
    """Return the type of numbers that are stored with an offset, which is how FITS has unsigned ones."""
    if scale != 1 or dtype.kind not in "iu":
        return ""
    if dtype.itemsize == 1:
        return "i1" if zero == -128 else ""
    return f"<u{dtype.itemsize}" if zero == 2 ** (8 * dtype.itemsize - 1) else ""


def _plain(values: Any, header: Any) -> Any:
    """Return elements as their type is told."""
    said = _image(header)
    if "unsigned" not in said:
        return np.asarray(values).astype(said["dtype"], copy=False)
    return _shifted(np.asarray(values), said["unsigned"])


def _shifted(values: Any, dtype: str) -> Any:
    """Return unsigned elements of signed ones, or the other way round: their highest bit is the other."""
    wide = np.dtype(dtype)
    held = values.astype(f"u{wide.itemsize}")
    return (held ^ held.dtype.type(1 << (8 * wide.itemsize - 1))).astype(wide)


def _fields(dtype: Any) -> list[Any]:
    """Return the members of rows as they are stored."""
    found = []
    for name in dtype.names or ():
        base, shape = dtype[name].base, dtype[name].shape
        found.append([name, base.newbyteorder(">").str, list(shape)])
    return found


def _columns(hdu: Any) -> list[dict[str, Any]]:
    """Return what is to be known of the columns of a binary table."""
    found: list[dict[str, Any]] = []
    names: set[str] = set()
    header = hdu.header
    dtype = hdu.columns.dtype
    for number, (column, key) in enumerate(zip(hdu.columns, dtype.names or (), strict=True), 1):
        name = str(column.name).strip().replace("/", "_") or f"column{number}"
        while name in names:
            name = f"{name}_{number}"
        names.add(name)
        form = str(header.get(f"TFORM{number}", ""))
        base, shape = dtype[key].base.newbyteorder(">"), list(dtype[key].shape)
        size = _size_of(form, dtype[key].itemsize)
        if size != dtype[key].itemsize and base.itemsize and base.kind != "S":
            # A column of bits has a shape of bits, but is stored in bytes.
            shape = [size // base.itemsize]
        elif size != dtype[key].itemsize:
            base, shape = np.dtype(f"S{size}"), []
        if form.lstrip(" 0123456789")[:1] == "L":
            base = np.dtype("S1")
        rows = _ROWS.match(form)
        element = np.dtype(_ELEMENTS[rows[2]]) if rows else base
        scale, zero = _number(header, f"TSCAL{number}", 1), _number(header, f"TZERO{number}", 0)
        is_number = element.kind in "iufc" and form.lstrip(" 0123456789")[:1] != "X"
        told: dict[str, Any] = {
            "name": name,
            "dtype": base.str,
            "shape": shape,
            "size": size,
            "rows": rows[2] if rows else "",
            "why": "",
            "scale": scale,
            "zero": zero,
            "units": str(column.unit or ""),
            "meant": element.str,
            "null": _null(header.get(f"TNULL{number}"), element) if is_number else None,
            "fill": None,
            "is_scaled": False,
        }
        is_scaled = is_number and (scale != 1 or zero != 0)
        if is_scaled:
            told["meant"] = _unsigned(element, scale, zero) or (">c16" if element.kind == "c" else ">f8")
            told["why"] = "its numbers are stored with a scale or offset"
        if told["null"] is not None:
            told["why"] = told["why"] or "a structure cannot have a fill value for one column"
            is_float = np.dtype(told["meant"]).kind == "f"
            told["fill"] = math.nan if is_float else told["null"] + int(zero)
        told["is_scaled"] = is_scaled
        told["type"] = {"kind": "plain", "dtype": told["meant"], "exact": True}
        if not size:
            told["why"] = "its rows have no bytes of it"
            told |= {"type": {"kind": "string"}, "shape": []} if base.kind == "S" else {"shape": [0]}
        if rows:
            told["why"] = "its rows have variable length, and are stored elsewhere in the file"
            told["type"] = {"kind": "string"} if rows[2] == "A" else {"kind": "rows", "of": told["type"]}
        found.append(told)
    return found


def _scaled(values: Any, column: dict[str, Any]) -> Any:
    meant = np.dtype(column["meant"])
    if not column["is_scaled"]:
        return values
    if meant.kind in "iu":
        return _shifted(values, meant.str)
    made = (values.astype(meant) * column["scale"] + column["zero"]).astype(meant)
    if column["null"] is not None:
        made[values == column["null"]] = np.nan
    return made


def _null(said: Any, dtype: Any) -> int | None:
    """Return the number that stands for no value in a column (FITS standard 4.0, 7.3.2)."""
    if dtype.kind not in "iu" or not isinstance(said, int) or isinstance(said, bool):
        return None
    info = np.iinfo(dtype)
    return said if info.min <= said <= info.max else None


def _text_fields(hdu: Any) -> list[Any]:
    """Return the members of rows of a table of text, as they are read."""
    found: list[Any] = []
    names: set[str] = set()
    for number, column in enumerate(hdu.columns, 1):
        name = str(column.name).strip().replace("/", "_") or f"column{number}"
        while name in names:
            name = f"{name}_{number}"
        names.add(name)
        form = str(column.format).strip()
        if form[:1] == "A":
            dtype = f"S{int(form[1:] or 1)}"
        else:
            is_scaled = column.bscale not in (None, 1, "") or column.bzero not in (None, 0, "")
            is_whole = form[:1] == "I" and not is_scaled
            dtype = "<i8" if is_whole else "<f8"
        found.append([name, dtype, []])
    return found


def _null_columns(hdu: Any) -> list[tuple[int, dict[str, Any]]]:
    """Return the columns of whole numbers of a table of text that may have no value, with their numbers."""
    found = []
    for number, (column, (name, dtype, _)) in enumerate(zip(hdu.columns, _text_fields(hdu), strict=True)):
        if column.null is not None and dtype == "<i8":
            told = {"name": name, "why": "its numbers are stored as text", "units": str(column.unit or "")}
            type = {"kind": "plain", "dtype": dtype, "exact": True}
            found.append((number, {**told, "type": type, "fill": _NO_VALUE, "shape": []}))
    return found
