"""Exports of Awkward 0: values that are no arrays, columns that cannot be read, names, long doubles."""

import json
import re
import zipfile
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pyarrow.parquet
import pytest
import zarr
from zarr_versions import put

import refbrowser
from refbrowser.cli.program import main
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.request import ArrayChoice, ExportRequest
from refbrowser.wings.awkward0.writing.awkward0_writing import Awkward0Writing

INTEGERS, FLOATS = np.arange(3), np.array([0.5, 1.5, 2.5])


def basic(blob, id, dtype="int64", count=3):
    call = ["awkward0", "numpy", "frombuffer"]
    return {"call": call, "args": [{"read": blob}, {"dtype": dtype}, {"json": count}], "id": id}


def table(*columns):
    pairs = {"pairs": [list(column) for column in columns]}
    return {"call": ["awkward0", "Table", "frompairs"], "args": [pairs, {"json": 0}], "id": 0}


def archive(folder, blobs=None, **schemas):
    """Write an archive of arrays by name, each of which has the blobs."""
    path = folder / "source.awkd"
    with zipfile.ZipFile(path, "w") as file:
        for name, schema in schemas.items():
            for blob, data in (blobs or {}).items():
                file.writestr(f"{name}-{blob}", data)
            facts = {"awkward0": "0.15.5", "prefix": f"{name}-", "schema": schema}
            file.writestr(f"{name}.json", json.dumps(facts))
    return path


def schema_in(path, name):
    with zipfile.ZipFile(path) as file:
        return json.loads(file.read(f"{name}.json"))["schema"]


def exported(path, target, format, **options):
    with refbrowser.open(path) as dataset:
        if chosen := options.pop("chosen", None):
            options["arrays"] = tuple(ArrayChoice.of(dataset, each) for each in chosen)
        return run_export(dataset, ExportRequest(str(target), format, **options))


def test_values_that_are_no_arrays_are_written(tmp_path):
    roots = {
        "null": {"json": None, "id": 0},
        "items": {"json": [1, "a", None], "id": 0},
        "parts": {"list": [{"json": 1, "id": 1}, {"json": 2, "id": 2}], "id": 0},
        "named": {"dict": {"x": {"json": 1, "id": 1}}, "id": 0},
    }
    numbers = {"0.raw": INTEGERS.tobytes()}
    path = archive(tmp_path, numbers, **roots, numbers=basic("0.raw", 0))
    report = exported(path, tmp_path / "again.awkd", "awkward0")
    assert report.arrays == 5
    assert not report.losses
    for name, root in roots.items():
        assert schema_in(tmp_path / "again.awkd", name) == root
    # Columns hold no such values: they are kept beside them.
    exported(path, tmp_path / "columns", "parquet")
    told = json.loads(pyarrow.parquet.read_schema(tmp_path / "columns").metadata[b"refbrowser"])
    assert told["groups"]["/items"]["awkward0_value"] == [1, "a", None]
    assert told["groups"]["/null"] == {"awkward0_value": None}


@pytest.mark.parametrize("format", ["awkward0", "parquet", "feather", "zarr-v3"])
def test_a_column_that_cannot_be_read_is_left_out_and_the_others_stay(tmp_path, format):
    blobs = {"0.raw": INTEGERS.tobytes(), "1.raw": FLOATS.tobytes()}
    path = archive(tmp_path, blobs, a=table(("x", basic("0.raw", 1)), ("y", basic("1.raw", 2, "float64"))))
    data = bytearray(path.read_bytes())
    data[data.find(FLOATS.tobytes()) + 3] ^= 1
    path.write_bytes(data)
    target = tmp_path / "target.awkd"
    with pytest.raises(refbrowser.RefbrowserError, match="CRC-32"):
        exported(path, target, format)
    report = exported(path, target, format, skip_bad=True, force=True)
    assert [(error.place.path, "CRC-32" in error.message) for error in report.skipped] == [("/a/y", True)]
    if format == "parquet":
        rows = pyarrow.parquet.read_table(target)["a"].to_pylist()
        assert rows == [{"x": number, "y": None} for number in range(3)]
    if format == "awkward0":
        with refbrowser.open(target) as again:
            assert again["/a"][...].tolist() == [{"x": number, "y": None} for number in range(3)]


def test_structures_that_become_tables_are_told(tmp_path):
    dtype = [["p", "<i4"], ["q", "<f8"]]
    values = np.zeros(2, [("p", "<i4"), ("q", "<f8")])
    path = archive(tmp_path, {"0.raw": values.tobytes()}, a=basic("0.raw", 0, dtype, 2))
    copied = exported(path, tmp_path / "copied.awkd", "awkward0")
    assert not copied.losses
    group = zarr.open_group(tmp_path / "source.zarr", mode="w", zarr_format=2)
    put(group, "s", values)
    made = Awkward0Writing(codec=("zlib",))
    for source, name in ((path, "a"), (tmp_path / "source.zarr", "s")):
        with refbrowser.open(source) as dataset:
            request = ExportRequest(str(tmp_path / f"{name}.awkd"), "awkward0", options=made)
            told = [loss for loss in estimate_export(dataset, request).losses if "table" in loss.what]
            assert [loss.path for loss in told] == [f"/{name}"]
            assert told[0] in run_export(dataset, replace(request)).losses


def test_foreign_generators_and_circles_are_findings_and_told(tmp_path):
    content, function = basic("0.raw", 1), {"function": ["mymodule", "Made"]}
    objects = {"call": ["awkward0", "ObjectArray"], "args": [content, function], "id": 0}
    path = archive(tmp_path, {"0.raw": INTEGERS.tobytes()}, objects=objects, circle={"ref": 0, "id": 0})
    with refbrowser.open(path) as dataset:
        found = {note.place.path: note for note in dataset.document.notes}
        assert found["/objects"].severity == "warning"
        assert "'mymodule.Made' is not known" in found["/objects"].message
        assert found["/circle"].severity == "fault"
        assert "contains itself" in found["/circle"].message
        with pytest.raises(refbrowser.RefbrowserError, match="contains itself"):
            run_export(dataset, ExportRequest(str(tmp_path / "x.awkd"), "awkward0"))
        request = ExportRequest(str(tmp_path / "x"), "parquet", skip_bad=True)
        report = run_export(dataset, request)
        assert any(loss.path == "/objects" and "mymodule.Made" in loss.what for loss in report.losses)
        assert [error.place.path for error in report.skipped] == ["/circle"]


def test_known_generators_are_no_finding(tmp_path):
    content, function = basic("0.raw", 1), {"function": ["awkward0", "JaggedArray"]}
    objects = {"call": ["awkward0", "ObjectArray"], "args": [content, function], "id": 0}
    path = archive(tmp_path, {"0.raw": INTEGERS.tobytes()}, objects=objects)
    with refbrowser.open(path) as dataset:
        assert not dataset.document.notes


def test_names_are_those_of_the_source_in_columns_and_members(tmp_path):
    names = ("x%25/y", "a.b")
    blobs = {"0.raw": INTEGERS.tobytes(), "1.raw": FLOATS.tobytes()}
    columns = ((names[0], basic("0.raw", 1)), (names[1], basic("1.raw", 2, "float64")))
    path = archive(tmp_path, blobs, a=table(*columns))
    chosen = ["/a/x%2525%2Fy", "/a/a.b"]
    exported(path, tmp_path / "columns", "parquet", chosen=chosen)
    assert pyarrow.parquet.read_schema(tmp_path / "columns").names == [f"a/{name}" for name in names]
    report = exported(path, tmp_path / "out.ncs", "ncstream")
    assert any("'x%25/y' is written as 'x%25%2Fy'" in loss.what for loss in report.losses)
    with refbrowser.open(tmp_path / "out.ncs") as again:
        assert again["/a"][...]["x%25%2Fy"].tolist() == INTEGERS.tolist()


@pytest.mark.slow
def test_names_are_escaped_once_in_every_target(tmp_path):
    names = ["a/b", "50%", "a%2Fb", "two words", "größe", "v1.2", ".hidden", "x:y", "tail.", ".zattrs", ""]
    blobs = {f"{number}.raw": (INTEGERS + number).tobytes() for number in range(len(names))}
    columns = [(name, basic(f"{number}.raw", number + 1)) for number, name in enumerate(names)]
    path = archive(tmp_path, blobs, **{"of%2Fall": table(*columns)})
    with refbrowser.open(path) as dataset:
        rows = dataset["/of%252Fall"].node.nested
        assert list(rows.type.fields) == names
        whole = [array for array in dataset.arrays if "node" not in array]
        fields = [path for path in whole if path.count("/") > 1]
    assert len(fields) == len(names)
    for format in ("zarr-v2", "zarr-v3", "nczarr", "ncstream", "zarr-v3-draft", "awkward0"):
        target = tmp_path / f"{format}{'.awkd' if format == 'awkward0' else ''}"
        # No member of an archive has an empty name in it.
        taken = fields if format != "awkward0" else [each for each in fields if not each.endswith("/%")]
        exported(path, target, format, chosen=taken)
        with refbrowser.open(target) as again:
            read = {path: again[path][...].tolist() for path in again.arrays if "node" not in path}
        # Names of netCDF begin with a letter, a digit or a line below.
        prefix = "/of%252Fall/" if format != "zarr-v3-draft" else "/of_u25_2Fall/"
        held = {unquote(path.removeprefix(prefix)): values for path, values in read.items()}
        wanted = {name: (INTEGERS + number).tolist() for number, name in enumerate(names)}
        if format == "zarr-v3-draft":
            odd = re.compile("[^A-Za-z0-9._-]")
            wanted = {
                odd.sub(lambda at: f"_u{ord(at[0]):x}_", name) or "_": each for name, each in wanted.items()
            }
        elif format == "nczarr":
            marked = {".hidden": "_.hidden", ".zattrs": "_.zattrs", "": "_%"}
            wanted = {marked.get(name, name): each for name, each in wanted.items()}
        else:
            held = {"" if name == "%" else name: each for name, each in held.items()}
        if format == "awkward0":
            del wanted[""]
        assert held == wanted, format


@pytest.mark.skipif(np.dtype("longdouble").itemsize != 16, reason="this machine has no such numbers")
def test_long_doubles_are_numbers(tmp_path):
    values = np.array([1.5, -2.0], "longdouble")
    path = archive(tmp_path, {"0.raw": values.tobytes()}, a=basic("0.raw", 0, "float128", 2))
    with refbrowser.open(path) as dataset:
        assert dataset["/a"].dtype == values.dtype
        assert dataset["/a"][...].tolist() == values.tolist()
        for format in ("zarr-v2", "zarr-v3", "nczarr", "parquet", "ncstream", "awkward0"):
            target = tmp_path / f"{format}{'.awkd' if format == 'awkward0' else ''}"
            losses = run_export(dataset, ExportRequest(str(target), format)).losses
            assert any("double" in loss.what or "float64" in loss.what for loss in losses) == (
                format != "awkward0"
            )
            if format == "parquet":
                assert pyarrow.parquet.read_table(target)["a"].to_pylist() == [1.5, -2.0]
            else:
                with refbrowser.open(target) as again:
                    assert again["/a"][...].tolist() == [1.5, -2.0]


@pytest.mark.slow
@pytest.mark.skipif(np.dtype("longdouble").itemsize != 16, reason="this machine has no such numbers")
def test_numbers_beyond_doubles_never_become_infinite(tmp_path, capsys):
    values = np.array([np.longdouble("1e400"), 1.5, -np.inf], "longdouble")
    plain, complex_ = tmp_path / "plain", tmp_path / "complex"
    plain.mkdir()
    complex_.mkdir()
    numbers = basic("0.raw", 1, "float128", 3)
    path = archive(plain, {"0.raw": values.tobytes()}, a=numbers, t=table(("x", numbers)))
    pairs = np.zeros(2, "clongdouble")
    pairs.imag = values[:2]
    other = archive(complex_, {"0.raw": pairs.tobytes()}, a=basic("0.raw", 0, "complex256", 2))
    for source, array in ((path, "/a"), (path, "/t"), (other, "/a")):
        assert main(["read", str(source), array, "--json"]) == 0
        said = capsys.readouterr().out
        assert '"1e+400"' in said
        assert ('"-Infinity"' in said) == (source is path)
        for format in ("zarr-v2", "zarr-v3", "zarr-v3-draft", "nczarr", "parquet", "feather", "ncstream"):
            if source is other and format == "nczarr":
                # It has no complex numbers.
                continue
            target = tmp_path / format
            with pytest.raises(refbrowser.RefbrowserError, match=r"1e\+400 does not fit"):
                exported(source, target, format, chosen=[array], force=True)
    report = exported(path, tmp_path / "left.zarr", "zarr-v2", chosen=["/a"], skip_bad=True)
    assert ["1e+400" in error.message for error in report.skipped] == [True]
    exported(path, tmp_path / "kept.awkd", "awkward0")
    with refbrowser.open(tmp_path / "kept.awkd") as again:
        assert again["/a"][...].tolist() == values.tolist()
