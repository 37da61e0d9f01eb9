"""How counts, sizes and times are written, everywhere."""

from __future__ import annotations

import pytest

from refbrowser.words import (
    binary_size_text,
    count_text,
    counted,
    counted_plain,
    counted_spaced,
    plural,
    rounded_time_text,
    short_time_text,
    size_text,
    time_text,
)


def test_a_noun_is_in_the_plural_unless_there_is_one() -> None:
    assert [plural(count, "chunk") for count in (0, 1, 2)] == ["chunks", "chunk", "chunks"]
    assert [plural(count, "entry", "entries") for count in (1, 2)] == ["entry", "entries"]


def test_counts_are_grouped_as_the_reader_is_used_to() -> None:
    assert (counted(1, "file"), counted(12_000, "file")) == ("1 file", "12,000 files")
    assert (counted_plain(1, "file"), counted_plain(12_000, "file")) == ("1 file", "12000 files")
    assert count_text(1_234_567) == "1\N{NARROW NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567"
    assert counted_spaced(12_000, "try", "tries") == "12\N{NARROW NO-BREAK SPACE}000 tries"


def test_sizes_are_decimal_in_the_window_and_binary_at_prompts() -> None:
    sizes = (0, 999, 1000, 12_400_000, 5 * 10**15)
    assert [size_text(size) for size in sizes] == ["0 B", "999 B", "1 kB", "12.4 MB", "5,000 TB"]
    assert size_text(None) == "unknown"
    assert size_text(10**31) == size_text(10**400) == "more than 10^18 TB"
    sizes = (0, 1023, 1024, 3_355_443, 5 * 2**50)
    assert [binary_size_text(size) for size in sizes] == ["0 B", "1023 B", "1.0 KiB", "3.2 MiB", "5120.0 TiB"]
    assert (binary_size_text(12, "bytes"), binary_size_text(2048, "bytes")) == ("12 bytes", "2.0 KiB")


@pytest.mark.parametrize(
    ("seconds", "short", "rounded", "units"),
    [
        (0.0000121, "12 µs", "less than a second", "0.0 s"),
        (0.0123, "12.3 ms", "less than a second", "0.0 s"),
        (4.56, "4.56 s", "5 s", "4.6 s"),
        (200, "200 s", "3 min", "3 min 20 s"),
        (9000, "9e+03 s", "2.5 h", "2 h 30 min"),
        (187_200, "1.87e+05 s", "52.0 h", "2 d 4 h"),
    ],
)
def test_times_are_written_for_how_they_are_known(
    seconds: float, short: str, rounded: str, units: str
) -> None:
    assert (short_time_text(seconds), rounded_time_text(seconds), time_text(seconds)) == (
        short,
        rounded,
        units,
    )
