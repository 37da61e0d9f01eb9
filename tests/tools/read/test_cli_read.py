"""``info``, ``read``, ``cat`` and ``plan``."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from refbrowser.cli import main
from refbrowser.model.json_values import duration_text, json_values
from refbrowser.tools.read.value_files import npy_portions


@pytest.fixture
def era(shared_data: Path) -> str:
    return str(shared_data / "real" / "eraint_uvz.refs.json")


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str):
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))


def test_info_describes_everything(era: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = run_json(capsys, "info", era)
    assert set(shown) == {"format", "flavour", "age", "groups", "arrays", "problems"}
    assert shown["format"] == "refs-v1"
    assert shown["groups"]["/"]["dimensions"]["latitude"] == {"size": 241, "unlimited": False}
    z = shown["arrays"]["/z"]
    assert z["shape"] == [2, 3, 241, 480]
    assert z["dtype"] == ">i2"
    assert z["dimensions"] == ["month", "level", "latitude", "longitude"]
    assert z["chunks"] == [1, 1, 241, 480]
    assert (z["order"], z["codecs"], z["fill_value"], z["error"]) == ("C", [], None, None)
    assert (z["stored_chunks"], z["missing_chunks"]) == (6, 0)
    assert z["attributes"]["units"] == "m**2 s**-2"
    assert main(["info", era]) == 0
    text = capsys.readouterr().out
    for word in ("/z", ">i2", "Geopotential", "refs-v1"):
        assert word in text


def test_info_of_codecs_missing_chunks_and_nan(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = run_json(capsys, "info", str(shared_data / "real" / "cth.refs.json"))
    assert shown["arrays"]["/HT"]["codecs"][-1] == {"name": "zlib", "configuration": {"level": 1}}
    missing = [path for path, array in shown["arrays"].items() if array["missing_chunks"]]
    assert len(missing) == 5
    grib = run_json(capsys, "info", str(shared_data / "references" / "hrrr_grib_combined.json"))
    assert not [array["error"] for array in grib["arrays"].values() if array["error"]]
    assert grib["arrays"]["/t2m"]["codecs"] == [
        {"name": "grib", "configuration": {"var": "t2m", "dtype": "float64"}}
    ]


@pytest.mark.parametrize("select", ["", "0,0,:3,:2", "-1,:,0,0", "...,5", "1,2,3,4", "::-1,0,10:20:5,-1"])
def test_read_gives_what_numpy_takes(era: str, select: str, capsysbinary) -> None:
    import refbrowser

    with refbrowser.open(era) as dataset:
        wanted = dataset["/z"][eval(f"np.s_[{select}]")] if select else dataset["/z"][...]
    if np.size(wanted) < 1000:
        assert main(["read", era, "/z", "--select", select, "--json"]) == 0
        assert json.loads(capsysbinary.readouterr().out) == np.asarray(wanted).tolist()
    assert main(["read", era, "z", "--select", select]) == 0
    loaded = np.load(io.BytesIO(capsysbinary.readouterr().out), allow_pickle=False)
    np.testing.assert_array_equal(loaded, wanted)
    assert loaded.dtype == ">i2"


def test_read_to_a_file(era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "z.npy"
    assert main(["read", era, "/z", "-o", str(target)]) == 0
    assert np.load(target).shape == (2, 3, 241, 480)
    assert main(["read", era, "/level", "--json", "-o", str(tmp_path / "l.json")]) == 0
    assert json.loads((tmp_path / "l.json").read_text()) == [200, 500, 850]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["read", "ERA", "/nothing"], 2, "E_USAGE"),
        (["read", "ERA", "/"], 2, "E_USAGE"),
        (["read", "ERA", "/z", "--select", "7"], 2, "E_USAGE"),
        (["read", "ERA", "/z", "--select", "x"], 2, "E_USAGE"),
        (["read", "absent.json", "/z"], 6, "E_IO"),
        (["cat", "ERA", "z/9.9.9.9"], 2, "E_USAGE"),
        (["read", "ERA", "/z", "-o", "absent-folder/x.npy"], 4, "E_IO"),
    ],
)
def test_failures(era: str, arguments: list[str], code: int, kind: str, capsys) -> None:
    assert main([era if argument == "ERA" else argument for argument in arguments]) == code
    captured = capsys.readouterr()
    assert captured.err.startswith(f"refbrowser: error[{kind}]: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_info_says_what_metadata_elsewhere_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d").mkdir()
    document = tmp_path / "d" / "d.json"
    document.write_text(json.dumps({"version": 1, "refs": {"a/.zarray": ["../zarray.json"]}}))
    assert main(["info", str(document)]) == 0
    assert (
        f"allow it with --allow {tmp_path}, in Python with allow=['{tmp_path}'] (" in capsys.readouterr().out
    )


def test_a_blocked_read_is_3_and_says_what_to_allow(
    era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "moved.json"
    text = json.loads(Path(era).read_text())
    text["templates"]["u"] = str(Path(era).parent / "eraint_uvz.nc")
    document.write_text(json.dumps(text))
    command = ["read", str(document), "/level", "--json"]
    assert main(command) == 3
    shown = json.loads(capsys.readouterr().err)["error"]
    assert (shown["kind"], shown["exit_code"], shown["word"]) == ("E_BLOCKED", 3, "permission")
    assert f"--allow {Path(era).resolve().parent}" in shown["advice"]
    assert shown["place"]["key"] == "level/0"
    assert main(command[:-1]) == 3
    told = capsys.readouterr().err
    assert told.startswith("refbrowser: error[E_BLOCKED]: ")
    assert f"--allow {Path(era).resolve().parent}" in told
    assert "level/0" in told
    assert main([*command, "--allow", str(Path(era).parent)]) == 0
    assert json.loads(capsys.readouterr().out) == [200, 500, 850]
    assert main([*command, "--allow", "ftp://x"]) == 2


def test_templates_of_the_command_line(era: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "copy.json"
    document.write_bytes(Path(era).read_bytes())
    (tmp_path / "other.nc").write_bytes(Path(era).with_name("eraint_uvz.nc").read_bytes())
    assert run_json(capsys, "read", str(document), "/level", "--template", "u=other.nc") == [200, 500, 850]
    assert main(["read", str(document), "/level", "--json"]) == 4


def test_cat_gives_stored_bytes(era: str, capsysbinary) -> None:
    assert main(["cat", era, "level/0"]) == 0
    assert capsysbinary.readouterr().out == np.array([200, 500, 850], ">i4").tobytes()
    assert main(["cat", era, ".zgroup"]) == 0
    assert json.loads(capsysbinary.readouterr().out) == {"zarr_format": 2}
    assert main(["cat", era, "level/0", "--json"]) == 0
    shown = json.loads(capsysbinary.readouterr().out)
    assert shown == {"key": "level/0", "size": 12, "bytes": {"hex": "000000c8000001f400000352"}}


def test_plan_reads_nothing(era: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shown = run_json(capsys, "plan", era, "/z")
    assert shown == {
        "requests": [["eraint_uvz.nc", 4492, 4492 + 6 * 231360]],
        "useful_bytes": 6 * 231360,
        "wasted_bytes": 0,
        "chunks": 6,
        "missing_chunks": 0,
    }
    part = run_json(capsys, "plan", era, "/z", "--select", "1,2,5")
    assert part["requests"] == [["eraint_uvz.nc", 4492 + 5 * 231360 + 5 * 960, 4492 + 5 * 231360 + 6 * 960]]
    assert (part["useful_bytes"], part["chunks"]) == (960, 1)
    alone = tmp_path / "alone.json"
    alone.write_bytes(Path(era).read_bytes())
    assert run_json(capsys, "plan", str(alone), "/z") == shown, "the data need not be there"
    assert main(["plan", era, "/z"]) == 0
    assert "1 request," in capsys.readouterr().out


def test_plan_of_a_whole_file_and_missing_chunks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zarray = {
        "zarr_format": 2,
        "shape": [30],
        "chunks": [10],
        "dtype": "<i4",
        "compressor": {"id": "zlib"},
        "filters": None,
        "fill_value": 0,
        "order": "C",
    }
    document = tmp_path / "d.json"
    document.write_text(
        json.dumps({"a/.zarray": json.dumps(zarray), "a/0": ["https://host.example/x"], "a/2": "text"})
    )
    shown = run_json(capsys, "plan", str(document), "a")
    assert shown == {
        "requests": [["https://host.example/x", 0, None]],
        "useful_bytes": 0,
        "wasted_bytes": 0,
        "chunks": 3,
        "missing_chunks": 1,
    }


def test_a_large_chunk_is_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zarray = {
        "zarr_format": 2,
        "shape": [2**30],
        "chunks": [2**28],
        "dtype": "|u1",
        "compressor": {"id": "zlib"},
        "filters": None,
        "fill_value": 5,
        "order": "C",
    }
    document = tmp_path / "d.json"
    document.write_text(json.dumps({"a/.zarray": json.dumps(zarray)}))
    command = ["read", str(document), "a", "--select", "7:9", "--json"]
    assert main(command) == 2
    shown = capsys.readouterr().err
    assert "E_BUDGET" in shown
    assert "--yes" in shown
    assert main([*command, "--yes"]) == 0
    assert capsys.readouterr().out == "[5, 5]\n"


def test_text_cannot_be_npy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zarray = {
        "zarr_format": 2,
        "shape": [2],
        "chunks": [2],
        "dtype": "|O",
        "compressor": None,
        "filters": [{"id": "vlen-utf8"}],
        "fill_value": "ü",
        "order": "C",
    }
    document = tmp_path / "d.json"
    document.write_text(json.dumps({"a/.zarray": json.dumps(zarray)}))
    assert main(["read", str(document), "a", "-o", str(tmp_path / "x.npy")]) == 2
    assert "--json" in capsys.readouterr().err
    assert not (tmp_path / "x.npy").exists()
    assert run_json(capsys, "read", str(document), "a") == ["ü", "ü"]


def test_text_of_nczarr_is_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store"
    values = {
        "names": (np.array(["é".encode(), b"bb", b"", b"\xff", b"a\0b"], "S4"), "|S4"),
        "letters": (np.array([[b"a", b""], [b"\xc3", b"z"]], "S1"), ">S1"),
    }
    for name, (array, dtype) in values.items():
        make_nczarr_array(store, name, array, dtype)
    (store / ".zgroup").write_text('{"zarr_format": 2}')
    (store / ".zattrs").write_text('{"_nczarr_superblock": {"version": "2.0.0"}}')
    assert run_json(capsys, "read", str(store), "names") == ["é", "bb", "", {"hex": "ff"}, "a"]
    assert run_json(capsys, "read", str(store), "names", "--select", "0") == "é"
    assert run_json(capsys, "read", str(store), "letters") == [["a", ""], [{"hex": "c3"}, "z"]]
    plain = run_json(capsys, "read", str(store), "names", "--as", "zarr-v2")
    assert plain[1] == {"hex": "6262"}


def make_nczarr_array(store: Path, name: str, values: np.ndarray, dtype: str) -> None:
    """Write one array of NCZarr in one chunk."""
    (store / name).mkdir(parents=True)
    shape = list(values.shape)
    zarray = {"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": dtype, "order": "C"}
    zarray |= {"compressor": None, "filters": None, "fill_value": ""}
    (store / name / ".zarray").write_text(json.dumps(zarray))
    (store / name / ".zattrs").write_text(json.dumps({"_nczarr_array": {"dimension_references": shape}}))
    (store / name / ".".join("0" * values.ndim)).write_bytes(values.tobytes())


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (np.array([1.5, np.nan, np.inf, -np.inf]), [1.5, "NaN", "Infinity", "-Infinity"]),
        (np.array([[1, 2], [3, 4]], ">i2"), [[1, 2], [3, 4]]),
        (np.array(2**63, "u8"), 2**63),
        (np.array([True, False]), [True, False]),
        (np.array([1 + 2j, complex(np.nan, np.inf)]), [[1.0, 2.0], ["NaN", "Infinity"]]),
        (np.array([b"a\xff", b""]), [{"hex": "61ff"}, {"hex": ""}]),
        (np.array(["ß", "\x1b"]), ["ß", "\x1b"]),
        (np.array(["2001-02-03", "NaT"], "M8[D]"), ["2001-02-03", "NaT"]),
        (np.array([90, "NaT"], "m8[s]"), ["PT90S", "NaT"]),
        (
            np.array([(1, np.nan, [2, 3])], [("a", "i4"), ("b", "f4"), ("c", "u1", 2)]),
            [{"a": 1, "b": "NaN", "c": [2, 3]}],
        ),
        (np.array([np.arange(2), None, "x", b"y"], object), [[0, 1], None, "x", {"hex": "79"}]),
        (np.zeros((0, 3)), []),
        (np.float16([0.1]), [float(np.float16(0.1))]),
    ],
)
def test_values_as_json(values: np.ndarray, wanted) -> None:
    found = json_values(values)
    assert found == wanted
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.timedelta64(3, "D"), "P3D"),
        (np.timedelta64(-5, "h"), "PT-5H"),
        (np.timedelta64(1500, "ms"), "PT1.500S"),
        (np.timedelta64(-1, "ns"), "PT-0.000000001S"),
        (np.timedelta64(7, "2W"), "P14W"),
    ],
)
def test_durations(value: np.timedelta64, text: str) -> None:
    assert duration_text(value) == text


def test_npy_bytes_are_those_of_numpy() -> None:
    box = np.arange(24).reshape(2, 3, 4)
    long = [(f"field{number:050}", "<f4") for number in range(2000)]
    for values in (
        box,
        box.T,
        np.asfortranarray(box),
        box[:, ::-1, 1:],
        np.array(3.5),
        np.zeros((0, 4)),
        np.zeros((2, 2), "S0"),
        np.array(["a", "bcd"]),
        np.array(["2020-01-01"], "M8[ns]"),
        np.zeros(3, [("a", "<f4"), ("b", ">i2", (2,))]),
        np.arange(1 << 18, dtype=">i8"),
        np.zeros(2, long),
    ):
        wanted = io.BytesIO()
        with warnings.catch_warnings():
            # Of a header that needs a later version of the format.
            warnings.simplefilter("ignore")
            np.lib.format.write_array(wanted, values, allow_pickle=False)
        assert b"".join(npy_portions(values)) == wanted.getvalue(), values.dtype
