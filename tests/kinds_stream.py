"""A stream with a variable of each kind that the window shows in a way of its own; it can grow."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import stream_encoder as enc

STEPS, HEIGHT, WIDTH = 3, 24, 36
PROFILES = 40
STATIONS = ("Hamburg", "Zugspitze", "Århus")
WEATHER = {0: "clear", 1: "fog", 2: "rain", 7: "thunderstorm"}


def profile(number: int) -> list[float]:
    """Return the values of one ragged row."""
    return [round(15 - 0.4 * level + 3 * math.sin(number / 5), 3) for level in range(3 + (number * 7) % 11)]


def kinds_header(steps: int = STEPS) -> bytes:
    """Return the header, with a variable of each kind."""
    time = enc.dimension("time", steps, unlimited=True)
    y, x = enc.dimension("y", HEIGHT), enc.dimension("x", WIDTH)
    station, profiles = enc.dimension("station", len(STATIONS)), enc.dimension("profile", PROFILES)
    members = [
        enc.variable("day", enc.BYTE),
        enc.variable("height", enc.SHORT, attributes=[enc.text_attribute("units", "m")]),
        enc.variable("temperature", enc.FLOAT),
        enc.variable("name", enc.STRING),
        enc.variable("wind", enc.FLOAT, [enc.dimension("uv", 2, private=True)]),
    ]
    counts = [enc.variable("number", enc.INT), enc.variable("value", enc.DOUBLE)]
    root = enc.group(
        dimensions=[time, y, x, station, profiles],
        variables=[
            enc.variable("field", enc.FLOAT, [time, y, x], [enc.text_attribute("units", "K")]),
            enc.variable("sounding", enc.FLOAT, [profiles, enc.VLEN], [enc.text_attribute("units", "degC")]),
            enc.variable("weather", enc.ENUM1, [y, x], enum="weather_t"),
            enc.variable("title", enc.STRING, [station]),
            enc.variable("blob", enc.OPAQUE, [station]),
        ],
        structures=[
            enc.structure("obs", enc.STRUCTURE, [station], variables=members),
            enc.structure("lightning", enc.SEQUENCE, [enc.VLEN], variables=counts),
        ],
        enums=[enc.enumeration("weather_t", WEATHER)],
        attributes=[enc.text_attribute("title", "Each kind of variable")],
    )
    return enc.header(root)


def step_message(step: int) -> bytes:
    """Return the data message of one step of the image."""
    values = [
        280 + 8 * math.sin((row + 2 * step) / 4) + 5 * math.cos(column / 6)
        for row in range(HEIGHT)
        for column in range(WIDTH)
    ]
    ranges = [(step, 1, None), (0, HEIGHT, None), (0, WIDTH, None)]
    body = enc.data_body("field", enc.FLOAT, ranges, bigend=True)
    return enc.data(body, enc.regular(enc.numbers("f", values)))


def kinds_messages(steps: int = STEPS) -> list[bytes]:
    """Return the data messages of every variable."""
    weather = bytes(
        (0, 1, 2, 7)[(row // 6 + column // 9) % 4] for row in range(HEIGHT) for column in range(WIDTH)
    )
    rows = b"".join(
        struct.pack(">bhfIff", day, height, temperature, number, *wind)
        for number, (day, height, temperature, wind) in enumerate(
            [(15, 8, 11.5, (3.0, -1.5)), (16, 2962, -7.25, (12.0, 4.0)), (20, 32, 9.0, (-2.0, 0.5))]
        )
    )
    flashes = [
        enc.structure_body(struct.pack(">id", number, 10 / (number + 1)), count=1, row_length=12)
        for number in range(25)
    ]
    sections = enc.data_body("sounding", enc.FLOAT, enc.whole([PROFILES]), bigend=True, vdata=True)
    return [
        *map(step_message, range(steps)),
        enc.data(sections, enc.objects([enc.numbers("f", profile(each)) for each in range(PROFILES)])),
        enc.data(enc.data_body("weather", enc.ENUM1, enc.whole([HEIGHT, WIDTH])), enc.regular(weather)),
        enc.data(enc.data_body("title", enc.STRING, enc.whole([3])), enc.objects(STATIONS)),
        enc.data(
            enc.data_body("blob", enc.OPAQUE, enc.whole([3])), enc.objects([b"\x00\xff", b"", bytes(80)])
        ),
        enc.data(
            enc.data_body("obs", enc.STRUCTURE, enc.whole([3]), bigend=True),
            enc.regular(
                enc.structure_body(
                    rows, heap=[[name] for name in STATIONS], count=3, row_length=len(rows) // 3
                )
            ),
        ),
        enc.data(enc.data_body("lightning", enc.SEQUENCE, bigend=True), enc.sequence(flashes)),
    ]


def write_kinds(path: Path) -> Path:
    """Write the stream of every kind."""
    path.write_bytes(enc.stream(kinds_header(), *kinds_messages()))
    return path


def write_growing(path: Path, steps: int) -> Path:
    """Write the stream with so many steps of the image, a header before each further one, and without END."""
    messages = [kinds_header(), *kinds_messages()]
    for step in range(STEPS, steps):
        messages += [kinds_header(step + 1), step_message(step)]
    path.write_bytes(enc.MAGIC_START + b"".join(messages))
    return path
