"""What TIFF does with bytes before and in compression: LZW, PackBits, predictors, numbers of few bits.

It imports nothing of ours: the process that reads TIFF with a library of others loads it by its path.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

# LZW (TIFF 6.0, section 13)

#: Codes that begin a new table and that end all; the first one that stands for several bytes.
_CLEAR, _END, _FIRST = 256, 257, 258
_SHORTEST, _WIDEST = 9, 12
#: Bytes of a code, on average, above which copying them is faster than following each back.
_LONG = 32
#: Codes to which the table grows.
_TABLE = 1 << _WIDEST
#: Of each code behind one that clears the table: its bits, and how many bits stand before it.
_WIDTHS = np.minimum(
    np.frexp(np.maximum(np.arange(_TABLE) + _FIRST, 1 << (_SHORTEST - 1)))[1].astype(np.int64), _WIDEST
)
_BEFORE = np.cumsum(_WIDTHS) - _WIDTHS


def lzw_decoded(data: Any, most: int) -> Bytes:
    """Return what was compressed by LZW: at most so many bytes.

    A code above 257 repeats bytes that were there: those of the code before the one that made it, and the one
    behind them. So each byte tells from which earlier one it comes, and all are followed back at once.

    Raises
    ------
    ValueError
        A code is named that was not told, or the bits are those of the first versions of libtiff.
    """
    packed = np.frombuffer(data, np.uint8)
    if len(packed) > 1 and packed[0] == 0 and packed[1] & 1:
        raise ValueError("LZW with reversed bits, as the first versions of libtiff wrote it")
    padded = np.concatenate([packed, np.zeros(4, np.uint8)]).astype(np.int64)
    windows = padded[:-2] << 16 | padded[1:-1] << 8 | padded[2:]
    codes, bases = _lzw_codes(windows, 8 * len(packed))
    places = np.arange(len(codes))
    from_table = codes >= _FIRST
    # The code that made an entry of the table, by its place.
    parents = np.where(from_table, codes - _FIRST + bases, -1)
    if (parents >= places).any():
        raise ValueError("LZW uses an undefined code")
    lengths = _depths(parents) + 1
    ends = np.cumsum(lengths)
    count = int(np.searchsorted(ends - lengths, most))
    total = min(int(ends[count - 1]) if count else 0, most)
    starts, lengths, parents = (ends - lengths)[:count], lengths[:count], parents[:count]
    if total > _LONG * count:
        return _copied(codes[:count].tolist(), starts.tolist(), lengths.tolist(), parents.tolist(), total)
    begins = np.where(parents >= 0, starts[parents], starts)
    kind = np.int32 if total < 1 << 31 else np.int64
    sources = np.arange(total, dtype=kind) - np.repeat((starts - begins).astype(kind), lengths)[:total]
    while True:
        before = sources[sources]
        if np.array_equal(before, sources):
            break
        sources = before
    literals = np.zeros(total, np.uint8)
    literals[starts[parents < 0]] = codes[:count][parents < 0]
    return literals[sources]


def _copied(codes: list[int], starts: list[int], lengths: list[int], parents: list[int], total: int) -> Bytes:
    """Return bytes that few codes stand for, which are copied code by code."""
    made = bytearray()
    for code, length, parent in zip(codes, lengths, parents, strict=True):
        if parent < 0:
            made.append(code)
            continue
        part = made[starts[parent] : starts[parent] + length]
        # The last byte may be the first one of what is copied.
        made += part if len(part) == length else part + part[:1]
    return np.frombuffer(made, np.uint8)[:total]


def _lzw_codes(windows: npt.NDArray[np.int64], bits: int) -> tuple[Any, Any]:
    """Return all codes that stand for bytes, and of each the place of the first one of its table."""
    found: list[Any] = []
    tables: list[tuple[int, int]] = []
    at = place = 0
    while at + _SHORTEST <= bits:
        codes = _lzw_run(windows, at, min(bits - at, int(_BEFORE[-1])), _BEFORE, _WIDTHS)
        stops = np.flatnonzero((codes == _CLEAR) | (codes == _END))
        if not len(stops) and len(codes) == _TABLE - 1:
            # The table is full, and goes on being used.
            left = (bits - at - int(_BEFORE[-1])) // _WIDEST
            widths = np.concatenate([_WIDTHS[:-1], np.full(left, _WIDEST)])
            before = np.cumsum(widths) - widths
            codes = _lzw_run(windows, at, bits - at, before, widths)
            stops = np.flatnonzero((codes == _CLEAR) | (codes == _END))
        else:
            before = _BEFORE
        count = int(stops[0]) if len(stops) else len(codes)
        found.append(codes[:count])
        tables.append((place, count))
        place += count
        if not len(stops) or codes[count] == _END:
            break
        at += int(before[count] + (_WIDTHS[count] if count < _TABLE else _WIDEST))
    firsts, counts = np.array(tables, np.int64).reshape(-1, 2).T
    bases = np.repeat(firsts, counts)
    return np.concatenate(found) if found else np.zeros(0, np.int64), bases


def _lzw_run(windows: Any, at: int, bits: int, before: Any, widths: Any) -> Any:
    """Return the codes in so many bits, as if none of them cleared the table."""
    count = int(np.searchsorted(before + widths, bits, "right"))
    begins = at + before[:count]
    return windows[begins >> 3] >> (24 - (begins & 7) - widths[:count]) & ((1 << widths[:count]) - 1)


def _depths(parents: Any) -> Any:
    """Return how many lie above each in a tree, given the parents of all; -1 where there is none."""
    depths = (parents >= 0).astype(np.int64)
    while (parents >= 0).any():
        has = np.flatnonzero(parents >= 0)
        above = parents[has]
        # Both are read before either is written.
        depths[has], parents = depths[has] + depths[above], _with(parents, has, parents[above])
    return depths


def _with(values: Any, at: Any, others: Any) -> Any:
    made = values.copy()
    made[at] = others
    return made


def lzw_encoded(data: Any) -> bytes:
    """Return bytes compressed by LZW."""
    table: dict[bytes, int] = {}
    codes, widths = [_CLEAR], [_SHORTEST]
    known = b""

    def add(code: int) -> None:
        codes.append(code)
        widths.append(int(_WIDTHS[len(table)]))

    singles = {bytes([each]): each for each in range(256)}
    for byte in bytes(data):
        longer = known + bytes([byte])
        if longer in table or longer in singles:
            known = longer
            continue
        add(table[known] if known in table else singles[known])
        table[longer] = _FIRST + len(table)
        if _FIRST + len(table) == _TABLE - 2:
            add(_CLEAR)
            table.clear()
        known = longer[-1:]
    if known:
        add(table[known] if known in table else singles[known])
        table[b""] = 0
    add(_END)
    shifts = np.arange(_WIDEST - 1, -1, -1)
    bits = (np.array(codes)[:, None] >> shifts & 1).astype(np.uint8)
    return np.packbits(bits[shifts < np.array(widths)[:, None]]).tobytes()


# PackBits (TIFF 6.0, section 9)


def packbits_decoded(data: Any, most: int) -> Bytes:
    """Return what was compressed by PackBits: at most so many bytes; raises as `lzw_decoded`."""
    packed = bytes(data)
    parts: list[bytes] = []
    at = size = 0
    while at < len(packed) and size < most:
        head = packed[at]
        if head < 128:
            part = packed[at + 1 : at + head + 2]
            at += head + 2
        else:
            # 128 stands for nothing.
            part = packed[at + 1 : at + 2] * (257 - head) if head > 128 else b""
            at += 2 if head > 128 else 1
        if at > len(packed):
            raise ValueError("PackBits ends within a run")
        parts.append(part)
        size += len(part)
    return np.frombuffer(b"".join(parts)[:most], np.uint8)


def packbits_encoded(data: Any) -> bytes:
    """Return bytes compressed by PackBits."""
    values = np.frombuffer(data, np.uint8)
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(values), 1), bool), values[1:] != values[:-1]]))
    ends = np.append(starts[1:], len(values))
    made, literal = bytearray(), bytearray()

    def flush() -> None:
        for at in range(0, len(literal), 128):
            run = literal[at : at + 128]
            made.extend((len(run) - 1, *run))
        literal.clear()

    for start, end in zip(starts, ends, strict=False):
        if end - start < 3:
            literal.extend(values[start:end].tobytes())
            continue
        flush()
        for at in range(start, end, 128):
            length = min(128, end - at)
            made.extend((257 - length if length > 1 else 0, values[start]))
    flush()
    return bytes(made)


# Predictors (TIFF 6.0, section 14; TIFF technical note 3)


def summed(values: Any, axis: int) -> Any:
    """Return elements of which the differences to those before them are given."""
    # The numbers of their bits: sums of floats are none of theirs.
    numbers = values.view(f"{values.dtype.str[0]}u{values.dtype.itemsize}")
    made = np.cumsum(numbers, axis, f"=u{values.dtype.itemsize}")
    return made.astype(numbers.dtype, copy=False).view(values.dtype)


def differences(values: Any, axis: int) -> Any:
    """Return the differences of elements to those before them."""
    numbers = values.view(f"{values.dtype.str[0]}u{values.dtype.itemsize}")
    return np.diff(numbers, axis=axis, prepend=numbers.dtype.type(0)).astype(numbers.dtype).view(values.dtype)


def floats_restored(values: Any, axis: int) -> Any:
    """Return floats of which each row has first the highest bytes of all, then the next ones, as differences.

    Parameters
    ----------
    axis
        From the last one: rows end there, what lies behind it are samples of one point.
    """
    size, samples = values.dtype.itemsize, prod(values.shape[values.ndim + axis + 1 :])
    width = values.shape[axis] * samples
    planes = summed(_flat(values).reshape(-1, size * width // samples, samples), -2)
    ordered = planes.reshape(-1, size, width).swapaxes(1, 2)[..., :: _order(values)]
    return np.ascontiguousarray(ordered).reshape(-1).view(values.dtype).reshape(values.shape)


def floats_prepared(values: Any, axis: int) -> Any:
    """Return floats as `floats_restored` takes them."""
    size, samples = values.dtype.itemsize, prod(values.shape[values.ndim + axis + 1 :])
    width = values.shape[axis] * samples
    ordered = _flat(values).reshape(-1, width, size)[..., :: _order(values)].swapaxes(1, 2)
    planes = np.ascontiguousarray(ordered).reshape(-1, size * width // samples, samples)
    return differences(planes, -2).reshape(-1).view(values.dtype).reshape(values.shape)


def _flat(values: Any) -> Bytes:
    made: Bytes = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    return made


def _order(values: Any) -> int:
    """Return the step with which the bytes of an element are gone through from the highest one."""
    return 1 if values.dtype.str[0] == ">" else -1


# Numbers of few bits


def numbers_of_bits(data: Any, bits: int, row: int, dtype: Any) -> Any:
    """Return unsigned numbers of so many bits, the highest first; after each row the next byte begins."""
    unpacked = np.unpackbits(np.frombuffer(data, np.uint8))
    row = row or len(unpacked) // bits
    padded = -(-row * bits // 8) * 8
    rows = unpacked[: len(unpacked) // padded * padded].reshape(-1, padded)[:, : row * bits]
    made = np.zeros((len(rows), row), dtype)
    for at in range(bits):
        made = made << 1 | rows[:, at::bits]
    return made.reshape(-1)
