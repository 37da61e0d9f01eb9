"""What TIFF compresses and predicts: as imagecodecs has it, and damaged."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import zstandard

from refbrowser.codecs import tiff_codes
from refbrowser.errors import ErrorKind, RefbrowserError

INTEGERS = np.arange(-15, 15, dtype="<i4").reshape(6, 5)
FLOATS = np.linspace(-3, 5, 30, dtype=">f4").reshape(2, 5, 3)
PREDICTED = {"axis": -2, "dist": 1, "shape": [2, 5, 3], "dtype": ">f4"}
#: Arrays, their codec, and what imagecodecs makes of them.
WRITTEN: list[tuple[Any, dict[str, Any], str]] = [
    (INTEGERS, {"id": "imagecodecs_lzw"},
     "803c5ff037940dfef3833d20cf5833da0cf7833e20cf9833ea0cfb833f20cfd833fa0d1f0048400019100a44039101244059101a44"
     "079102244099102a440b91032440d9103a450100"),
    (INTEGERS, {"id": "imagecodecs_packbits"},
     "00f1feff00f2feff00f3feff00f4feff00f5feff00f6feff00f7feff00f8feff00f9feff00fafeff00fbfeff00fcfeff00fdfeff00"
     "fefafffd000001fe000002fe000003fe000004fe000005fe000006fe000007fe000008fe000009fe00000afe00000bfe00000cfe00"
     "000dfe00000efe00"),
    (FLOATS, {"id": "imagecodecs_delta", **PREDICTED},
     "c0400000c02e5847c01cb08dffcb08d4ffc469eeffb2c235ffa11a7bff9611a8ff7b9612ff58469ffeee58467dc234f77f9a7b9680"
     "9ee585024f72c23f91a7b93fb4f72c3fd8469f0069ee59005a7b960048d3dd00372c230034f72c0034f72c0034f72c0034f72c002f"
     "72c200269ee6001dcb09001a7b96"),
    (FLOATS, {"id": "imagecodecs_floatpred", **PREDICTED},
     "c0c0c000ffffff000000ff7e7f810202efddcbc4b3a1967c58efc29a9f4f624254086ac21b11964659357ce5731b36ddd4ee357ba8"
     "129f46f79685c23f3f3f0001010100000000000000005174986a5b4937353535352f271e1b1960a6ef7bd42cf7f7f7f8739fcb7c61"
     "009f5996dd232c2c2c2cc2e60996"),
]  # fmt: skip


def images() -> dict[str, bytes]:
    """Return bytes that compress in different ways."""
    rng = np.random.default_rng(3)
    rows, columns = np.mgrid[:150, :150]
    return {
        "nothing": b"",
        "one": b"a",
        "noise": rng.integers(0, 256, 9000).astype("u1").tobytes(),
        "few": rng.integers(0, 2, 40_000).astype("u1").tobytes(),
        "zeros": bytes(100_000),
        "slopes": (np.sin(columns / 30) * 50 + rows // 7).astype("<i2").tobytes(),
    }


def test_what_imagecodecs_writes(pipeline: Any) -> None:
    for values, codec, written in WRITTEN:
        line = pipeline(values.dtype, [codec], values.shape)
        assert np.array_equal(line.decode(bytes.fromhex(written)), values), codec["id"]
        made = line.encode(values)
        # Nobody says how runs are to be divided.
        assert len(made) <= len(written) // 2
        assert np.array_equal(line.decode(made), values), codec["id"]


def test_zstandard_under_its_other_name(pipeline: Any) -> None:
    line = pipeline("<i4", [{"id": "imagecodecs_zstd", "level": None}], INTEGERS.shape)
    for packed in (
        zstandard.ZstdCompressor().compress(INTEGERS.tobytes()),
        # Writers of TIFF do not tell the size.
        zstandard.ZstdCompressor(write_content_size=False).compress(INTEGERS.tobytes()),
    ):
        assert np.array_equal(line.decode(packed), INTEGERS)


def test_each_kind_of_bytes_comes_back() -> None:
    others = {}
    if find_spec("imagecodecs"):
        import imagecodecs

        others = {"lzw": imagecodecs.lzw_decode, "packbits": imagecodecs.packbits_decode}
    for name in ("lzw", "packbits"):
        decoded, encoded = (getattr(tiff_codes, f"{name}_{what}") for what in ("decoded", "encoded"))
        for data in images().values():
            packed = encoded(data)
            assert decoded(packed, len(data) + 1).tobytes() == data
            assert decoded(packed, len(data) // 3).tobytes() == data[: len(data) // 3]
            if data and name in others:
                assert others[name](packed) == data


def test_a_table_that_is_full_goes_on_being_used() -> None:
    """Some writers clear the table late: all codes behind its end have 12 bits."""
    data = images()["noise"]
    codes = [256, *data[:3837], *data[3837:5000], 257]
    widths = [9, *tiff_codes._WIDTHS[:4095].tolist(), *([12] * (len(codes) - 4096))]
    bits = "".join(f"{code:0{width}b}" for code, width in zip(codes, widths, strict=True))
    packed = int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
    assert tiff_codes.lzw_decoded(packed, 10_000).tobytes() == data[:5000]


def test_damage_makes_errors_or_as_many_bytes_as_there_is_room_for() -> None:
    rng = np.random.default_rng(4)
    for name, data in images().items():
        for function in ("lzw", "packbits"):
            packed = getattr(tiff_codes, f"{function}_encoded")(data)
            for _ in range(10):
                damaged = bytearray(packed[: int(rng.integers(len(packed) + 1))])
                for at in rng.integers(0, max(len(damaged), 1), 3).tolist():
                    damaged[at : at + 1] = bytes([int(rng.integers(256))])
                try:
                    made = getattr(tiff_codes, f"{function}_decoded")(bytes(damaged), 50_000)
                except ValueError:
                    continue
                assert len(made) <= 50_000, name
    with pytest.raises(ValueError, match="reversed bits"):
        tiff_codes.lzw_decoded(b"\0\1\2\3", 10)


def test_wrong_settings_are_errors_of_metadata(pipeline: Any) -> None:
    for change in ({"shape": [2, 5]}, {"shape": None}, {"dist": 2}, {"axis": 3}, {"dtype": "|O"}):
        with pytest.raises(RefbrowserError) as caught:
            pipeline(">f4", [{"id": "imagecodecs_delta", **PREDICTED, **change}], (2, 5, 3))
        assert caught.value.kind is ErrorKind.META
    with pytest.raises(RefbrowserError):
        pipeline("<i4", [{"id": "imagecodecs_floatpred", **PREDICTED, "dtype": "<i4"}], (2, 5, 3))


def test_numbers_of_few_bits() -> None:
    rng = np.random.default_rng(5)
    for bits in (1, 2, 4, 5, 10, 12):
        values = rng.integers(0, 1 << bits, (4, 7))
        rows = ["".join(f"{each:0{bits}b}" for each in row) for row in values.tolist()]
        packed = b"".join(
            int(row.ljust(-(-len(row) // 8) * 8, "0"), 2).to_bytes(-(-len(row) // 8), "big") for row in rows
        )
        assert np.array_equal(tiff_codes.numbers_of_bits(packed, bits, 7, "<u2").reshape(4, 7), values)
