"""Streams of messages that tests of the window open: tiles, corrections, holes, headers, faults."""

from __future__ import annotations

import math
import zlib
from pathlib import Path

import stream_encoder as enc

#: Shape of ``/temp``: time, lat, lon.
SHAPE = (3, 24, 36)


def temperature(time: int, row: int, column: int) -> float:
    """Return a value of ``/temp``."""
    return 280 + 12 * math.sin(row / 5) + 6 * math.cos(column / 6) + time


def block(time: int, rows: range, columns: range, more: float = 0.0) -> list[float]:
    return [temperature(time, row, column) + more for row in rows for column in columns]


def temp_message(
    time: int, rows: range, columns: range, *, more: float = 0.0, deflate: bool = False, crc: bool = False
) -> bytes:
    """Return a message that gives a part of ``/temp``."""
    payload = enc.numbers("f", block(time, rows, columns, more))
    stored = zlib.compress(payload) if deflate else payload
    ranges = [(time, 1, None), (rows.start, len(rows), None), (columns.start, len(columns), None)]
    body = enc.data_body(
        "temp",
        enc.FLOAT,
        ranges,
        bigend=True,
        version=1,
        compress=enc.DEFLATE if deflate else None,
        crc32=enc.crc32_of(stored) if crc else None,
    )
    return enc.data(body, enc.regular(stored))


def ocean_header(title: str = "first") -> bytes:
    """Return the header: a coordinate with immediate data, ``/temp``, ``/salt``."""
    time, lat, lon = (
        enc.dimension(name, size) for name, size in zip(("time", "lat", "lon"), SHAPE, strict=True)
    )
    latitudes = enc.numbers("f", [60 - 5 * row for row in range(SHAPE[1])])
    longitudes = enc.numbers("f", [10 * column for column in range(SHAPE[2])])
    root = enc.group(
        dimensions=[time, lat, lon],
        variables=[
            enc.variable(
                "lat",
                enc.FLOAT,
                [lat],
                attributes=[enc.text_attribute("units", "degrees_north")],
                immediate=latitudes,
            ),
            enc.variable(
                "lon",
                enc.FLOAT,
                [lon],
                attributes=[enc.text_attribute("units", "degrees_east")],
                immediate=longitudes,
            ),
            enc.variable("temp", enc.FLOAT, [time, lat, lon], attributes=[enc.text_attribute("units", "K")]),
            enc.variable("salt", enc.SHORT, [lat, lon]),
        ],
        attributes=[enc.text_attribute("title", title)],
    )
    return enc.header(root)


def ocean_messages() -> list[bytes]:
    """Return the messages: 0 header, 1 to 4 tiles, 5 a correction, 6 the next time, 7 salt, 8 a header."""
    rows, columns = range(SHAPE[1]), range(SHAPE[2])
    top, bottom, left, right = rows[:12], rows[12:], columns[:18], columns[18:]
    salt = enc.numbers("h", [300 + row for row in rows for _ in columns])
    salt_ranges = [(0, SHAPE[1], None), (0, SHAPE[2], None)]
    return [
        ocean_header(),
        temp_message(0, top, left),
        temp_message(0, top, right, deflate=True),
        temp_message(0, bottom, left, crc=True),
        temp_message(0, rows[12:20], right),
        temp_message(0, rows[6:16], columns[9:27], more=5),
        temp_message(1, rows, columns),
        enc.data(enc.data_body("salt", enc.SHORT, salt_ranges, bigend=True), enc.regular(salt)),
        ocean_header("second"),
    ]


def write_ocean(folder: Path) -> Path:
    """Write the stream; its third time is never sent, nor is a corner of the first."""
    path = folder / "ocean.ncs"
    path.write_bytes(enc.stream(*ocean_messages()))
    return path


def write_doubtful(folder: Path, *, little: bool = False) -> Path:
    """Write a stream that says little endian in version 3, as servers do; with `little` it is true."""
    n = enc.dimension("n", 400)
    values = [280 + 10 * math.sin(at / 20) for at in range(400)]
    root = enc.group(
        dimensions=[n], variables=[enc.variable("t", enc.DOUBLE, [n]), enc.variable("c", enc.BYTE, [n])]
    )
    body = enc.data_body("t", enc.DOUBLE, [(0, 400, None)], bigend=False, version=3)
    payload = enc.numbers("d", values, "<" if little else ">")
    path = folder / "doubtful.ncs"
    path.write_bytes(enc.stream(enc.header(root), enc.data(body, enc.regular(payload))))
    return path
