"""Copied lines of Python run as they are, and give what the window shows."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from documents_of_values import CUBE, FLAGS, NAMES, STATIONS, ValueDocument, value_document
from servers.http_server import HttpServer
from stores_made import packed, store_in

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.formats.registry import facet
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot import snippet_store
from refbrowser.views.plot.slicing import SliceState, dimension_names
from refbrowser.views.plot.snippet_store import source_of
from refbrowser.views.plot.snippets import SnippetView, file_snippet, xarray_snippet, zarr_snippet

SAMPLE = Path(__file__).resolve().parents[3] / "resources" / "sample" / "sea_surface.json"
#: Runs pieces of code, each for itself in its folder, and keeps what they leave in ``values`` and ``dates``.
RUNNER = """
import os, sys, traceback
import numpy as np
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for path in map(str.strip, sys.stdin):
    space = {"__name__": "__main__"}
    os.chdir(os.path.dirname(path))
    try:
        exec(compile(open(path, encoding="utf-8").read(), path, "exec"), space)
        found = np.asarray(space["values"])
        found = found.astype(str) if found.dtype.kind in "OT" else found
    except Exception:
        found = np.array("failed: " + traceback.format_exc())
    np.save(path + ".npy", found)
    if "dates" in space:
        np.save(path + ".dates.npy", np.asarray(space["dates"]).astype(str))
    print("done", file=answers, flush=True)
"""


@pytest.fixture(scope="module", autouse=True)
def _needs_zarr() -> None:
    pytest.importorskip("zarr")
    pytest.importorskip("fsspec")


def view(
    dataset: Dataset, name: str, x: int = 0, y: int | None = None, *indices: int, **more: object
) -> SnippetView:
    """Return what the window would show of an array."""
    node = dataset.hierarchy.find(name)
    assert isinstance(node, ArrayNode)
    indices = indices or (0,) * len(node.shape)
    state = SliceState(node.shape, dimension_names(node), x, y, indices)
    ranges = more.pop("ranges", None) or tuple(range(node.shape[axis]) for axis in state.axes)
    return SnippetView(node, state, ranges, more.pop("decoded", True), **more)  # type: ignore[arg-type]


def urls(dataset: Dataset) -> list[str]:
    return list(dataset.document.urls.texts)


Run = Callable[[list[str]], list[np.ndarray]]


@pytest.fixture(scope="module")
def runner() -> Iterator[subprocess.Popen[str]]:
    """Another interpreter, for the tests of this file: most of a piece's time are its imports."""
    command = [sys.executable, "-c", RUNNER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


@pytest.fixture
def run(tmp_path: Path, runner: subprocess.Popen[str]) -> Run:
    """Run pieces of code in another interpreter, in a folder that is not the document's."""
    assert runner.stdin is not None
    assert runner.stdout is not None
    ask, answers = runner.stdin, runner.stdout

    def run_all(codes: list[str]) -> list[np.ndarray]:
        folder = tmp_path / "elsewhere"
        folder.mkdir(exist_ok=True)
        paths = []
        for number, code in enumerate(codes):
            paths.append(folder / f"code{number}.py")
            paths[-1].write_text(code, "utf-8")
            ask.write(f"{paths[-1]}\n")
            ask.flush()
            assert answers.readline() == "done\n"
        found = [np.load(f"{path}.npy") for path in paths]
        for value in found:
            assert not str(value).startswith("failed"), str(value)
        return found

    return run_all


DECODED = np.where(CUBE[1, 2] == 7, np.nan, CUBE[1, 2] * 0.1 + 5.0)


def expected_views(dataset: Dataset) -> list[tuple[SnippetView, np.ndarray]]:
    flags = FLAGS.copy()
    flags[2:, 2:] = 0
    first = np.where(CUBE[0, 0] == 7, np.nan, CUBE[0, 0] * 0.1 + 5.0)
    return [
        (view(dataset, "scalar"), np.float64(3.14159265358979)),
        (view(dataset, "names"), NAMES),
        (view(dataset, "stations"), STATIONS),
        (view(dataset, "flags", 1, 0, missing=True), flags),
        (view(dataset, "cube", 3, 2, 1, 2, 0, 0), DECODED),
        (view(dataset, "cube", 2, 3, 1, 2, 0, 0), DECODED.T),
        (view(dataset, "cube", 3, 2, 1, 2, 0, 0, decoded=False), CUBE[1, 2]),
        (view(dataset, "cube", 1, None, 1, 0, 3, 4), CUBE[1, :, 3, 4] * 0.1 + 5.0),
        (view(dataset, "cube", 3, 2, ranges=(range(0, 2), range(0, 5, 2))), first[:2, ::2]),
        (view(dataset, "waves"), np.array([1 + 2j, 3 - 1j])),
        (view(dataset, "bits"), np.array([True, False, True])),
    ]


def test_zarr_gives_what_is_shown(tmp_path: Path, run: Run) -> None:
    path = value_document(tmp_path).write()
    with refbrowser.open(path) as dataset:
        wanted = expected_views(dataset)
        codes = [zarr_snippet(source_of(dataset, urls(dataset)), each) for each, _values in wanted]
    for (each, values), found in zip(wanted, run(codes), strict=True):
        np.testing.assert_array_equal(found, values, err_msg=each.node.path)
    assert "fill value" in codes[3]
    assert "fill value" not in codes[4]


def test_xarray_gives_what_is_shown(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("xarray")
    path = value_document(tmp_path).write()
    with refbrowser.open(path) as dataset:
        # It takes no structures.
        wanted = [each for each in expected_views(dataset) if each[0].node.name != "stations"]
        source = source_of(dataset, urls(dataset))
        codes = [xarray_snippet(source, dataset.hierarchy, each) for each, _values in wanted]
    for (each, values), found in zip(wanted, run(codes), strict=True):
        if values.dtype.kind == "f":
            np.testing.assert_allclose(found, values, rtol=1e-6, err_msg=each.node.path)
        else:
            np.testing.assert_array_equal(found, values, err_msg=each.node.path)


def test_dates(tmp_path: Path, run: Run) -> None:
    path = value_document(tmp_path).write()
    with refbrowser.open(path) as dataset:
        source = source_of(dataset, urls(dataset))
        codes = [zarr_snippet(source, view(dataset, name)) for name in ("times", "days")]
    times, days = run(codes)
    assert times.tolist() == [0, 6, 12, 18, 24]
    assert days.tolist() == [58, 59, 60]
    found = [np.load(tmp_path / "elsewhere" / f"code{number}.py.dates.npy") for number in range(2)]
    assert found[0][1] == "2020-01-01 06:00:00"
    assert found[1].tolist() == ["2020-02-28 00:00:00", "2020-03-01 00:00:00", "2020-03-02 00:00:00"]


def test_templates_and_rules_of_the_sample(run: Run) -> None:
    pytest.importorskip("xarray")
    with refbrowser.open(SAMPLE) as dataset:
        month = view(dataset, "/ocean/sst", 2, 1, 6, 0, 0)
        source = source_of(dataset, ["data/x.dat"])
        codes = [zarr_snippet(source, month), xarray_snippet(source, dataset.hierarchy, month)]
        stored = dataset["/ocean/sst"][6, :, :]
    wanted = np.where(stored == -32768, np.nan, stored * 0.002 + 15.0)
    for found in run(codes):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_real_files_with_bounds_and_unsigned_numbers(shared_data: Path, run: Run) -> None:
    pytest.importorskip("xarray")
    with refbrowser.open(shared_data / "real" / "cth.refs.json") as dataset:
        shown = view(dataset, "/HT", 1, 0)
        source = source_of(dataset, urls(dataset))
        codes = [zarr_snippet(source, shown), xarray_snippet(source, dataset.hierarchy, shown)]
        stored = dataset["/HT"][:, :]
    wanted = shown.packing.decode(stored)
    assert np.isnan(wanted).any()
    for found in run(codes):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_arrays_that_xarray_cannot_read_are_left_out(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("xarray")
    made = value_document(tmp_path)
    made.add("nameless", np.arange(3.0), None)
    made.add("other", np.arange(3.0), ["lon"])
    path = made.write()
    with refbrowser.open(path) as dataset:
        source = source_of(dataset, urls(dataset))
        codes = [
            xarray_snippet(source, dataset.hierarchy, view(dataset, "cube", 3, 2, 1, 2, 0, 0)),
            xarray_snippet(source, dataset.hierarchy, view(dataset, "nameless")),
        ]
    cube, nameless = run(codes)
    np.testing.assert_allclose(cube, DECODED)
    assert nameless.tolist() == [0, 1, 2]
    assert 'drop_variables=["other"]' in codes[0]


def test_a_document_and_data_behind_a_url(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("aiohttp")
    made = ValueDocument(tmp_path)
    made.add("line", np.arange(4.0), ["x"])
    text = made.write().read_bytes()
    with HttpServer({"/d/values.json": text, "/d/line.bin": (tmp_path / "line.bin").read_bytes()}) as server:
        url = server.url("/d/values.json")
        with refbrowser.open(url, allow=[server.origin]) as dataset:
            source = source_of(dataset, urls(dataset))
            codes = [zarr_snippet(source, view(dataset, "line"))]
        (found,) = run(codes)
    assert found.tolist() == [0, 1, 2, 3]


def test_edits_that_are_not_saved_are_told(tmp_path: Path) -> None:
    path = value_document(tmp_path).write()
    with refbrowser.open(path) as dataset:
        source = source_of(dataset, urls(dataset), is_edited=True)
        code = zarr_snippet(source, view(dataset, "line"))
        plain = zarr_snippet(source_of(dataset, urls(dataset)), view(dataset, "line"))
    assert "# The document has edits that are not saved" in code
    assert "not saved" not in plain


@pytest.mark.parametrize("name", ['quo"te', "new\nline", "back\\slash", "it's", "{{ x }}", "Ærø"])
def test_names_of_a_document_are_never_code(tmp_path: Path, name: str) -> None:
    made = ValueDocument(tmp_path)
    made.add("line", np.arange(4.0), None)
    made.refs = {key.replace("line/", f"{name}/"): value for key, value in made.refs.items()}
    with refbrowser.open(made.write()) as dataset:
        shown = view(dataset, name)
        source = source_of(dataset, urls(dataset))
        for code in (zarr_snippet(source, shown), xarray_snippet(source, dataset.hierarchy, shown)):
            lines = compile(code, "copied", "exec").co_consts
            assert name in str(lines) or name in lines
            assert all(
                line.startswith(("#", " ")) or "=" in line or line.split()[0] in _WORDS
                for line in code.split("\n")
                if line
            )


_WORDS = ("import", "from", "for", ")", "del")


@pytest.mark.parametrize("form", ["refs-parquet", "refs-v0"])
def test_other_forms_of_documents(tmp_path: Path, run: Run, form: str) -> None:
    if form == "refs-parquet":
        pytest.importorskip("pyarrow")
        pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    made = ValueDocument(tmp_path)
    made.add("line", np.arange(4.0), ["x"], (2,))
    target = tmp_path / ("line.parq" if form == "refs-parquet" else "line.v0.json")
    with refbrowser.open(made.write()) as dataset:
        refbrowser.export(dataset, target, format=form)
    with refbrowser.open(target) as dataset:
        source = source_of(dataset, ["line.bin"])
        shown = view(dataset, "line")
        codes = [zarr_snippet(source, shown), xarray_snippet(source, dataset.hierarchy, shown)]
    for found in run(codes):
        assert found.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_packed_documents(tmp_path: Path, run: Run, suffix: str) -> None:
    made = ValueDocument(tmp_path)
    made.add("line", np.arange(4.0), ["x"])
    data = made.write().read_bytes()
    if suffix == ".gz":
        packed = gzip.compress(data)
    else:
        packed = bytes(pytest.importorskip("numcodecs").Zstd().encode(data))
        pytest.importorskip("zstandard")
    path = tmp_path / f"line.json{suffix}"
    path.write_bytes(packed)
    with refbrowser.open(path) as dataset:
        code = zarr_snippet(source_of(dataset, urls(dataset)), view(dataset, "line"))
    (found,) = run([code])
    assert found.tolist() == [0, 1, 2, 3]


def test_rules_of_too_many_rows_use_the_store_of_refbrowser(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snippet_store, "ROWS_WRITTEN_OUT", 5)
    with refbrowser.open(SAMPLE) as dataset:
        month = view(dataset, "/ocean/sst", 2, 1, 6, 0, 0, decoded=False)
        codes = [zarr_snippet(source_of(dataset, ["data/x.dat"]), month)]
        stored = dataset["/ocean/sst"][6, :, :]
    assert ".store()" in codes[0]
    (found,) = run(codes)
    assert (found == stored).all()


@pytest.mark.slow
def test_templates_that_run_code_are_not_given_to_an_fsspec_that_runs_them(tmp_path: Path, run: Run) -> None:
    mark = tmp_path / "run"
    code = f"{{{{ cycler.__init__.__globals__.os.mkdir('{mark.as_posix()}') }}}}"
    made = ValueDocument(tmp_path, base="{{ evil }}")
    made.add("line", np.arange(4.0), ["x"])
    path = made.write(templates={"evil": "{{ n }}" + code, "n": ""})
    with refbrowser.open(path) as dataset:
        with pytest.raises(refbrowser.RefbrowserError):
            dataset["/line"][...]
        snippet = zarr_snippet(source_of(dataset, ["line.bin"]), view(dataset, "line"))
    assert (
        "# fsspec gives the templates of the document to jinja2. Before fsspec 2026.6 they can run" in snippet
    )
    with pytest.raises(AssertionError):
        run([snippet])
    assert not mark.exists()


def test_values_that_the_user_gave_templates(tmp_path: Path, run: Run) -> None:
    made = ValueDocument(tmp_path, base="{{ name }}_")
    made.add("line", np.arange(4.0), ["x"])
    (tmp_path / "line.bin").rename(tmp_path / "chosen_line.bin")
    path = made.write(templates={"name": "other"})
    with refbrowser.open(path, templates={"name": "chosen"}) as dataset:
        code = zarr_snippet(source_of(dataset, ["chosen_line.bin"]), view(dataset, "line"))
    (found,) = run([code])
    assert found.tolist() == [0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("container", ["folder", "zip", pytest.param("leading", marks=pytest.mark.long)])
def test_stores(tmp_path: Path, run: Run, container: str) -> None:
    path, values = store_in(tmp_path, container, 2)
    for name in ("temp", "sub/full"):
        text = (tmp_path / "s.zarr" / name / ".zattrs").read_text()
        named = {**json.loads(text), "_ARRAY_DIMENSIONS": ["y", "x"]}
        (tmp_path / "s.zarr" / name / ".zattrs").write_text(json.dumps(named))
    if container != "folder":
        packed(tmp_path / "s.zarr", path, 8, "" if container == "zip" else "s.zarr/")
    with refbrowser.open(path) as dataset:
        source = source_of(dataset, urls(dataset))
        views = [view(dataset, name, 1, 0, decoded=False) for name in ("temp", "sub/full")]
        codes = [zarr_snippet(source, each) for each in views]
        codes += [xarray_snippet(source, dataset.hierarchy, each) for each in views]
    # A colleague has zarr; a store below a leading folder is read by this program alone.
    assert all(("refbrowser" in code) == (container == "leading") for code in codes)
    found = run(codes)
    assert np.array_equal(found[0], values["/temp"])
    assert np.array_equal(found[1], values["/sub/full"])
    assert np.array_equal(found[3], values["/sub/full"])


@pytest.mark.slow
def test_netcdf_files_are_opened_by_xarray(tmp_path: Path, run: Run) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    path = tmp_path / "a 'file'.nc"
    temperature = xarray.DataArray(np.arange(24.0).reshape(2, 3, 4), dims=("time", "y", "x"))
    packing = {"t": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9}}
    xarray.Dataset({"t": temperature}).to_netcdf(path, group="ocean", encoding=packing)
    with refbrowser.open(path) as dataset:
        opening = facet(dataset.document, "python_file")
        code = file_snippet(str(path), view(dataset, "ocean/t", 1, 2, 1, 0, 0), opening, is_edited=False)
        stored = view(dataset, "ocean/t", 1, 2, 1, 0, 0, decoded=False)
        codes = [code, file_snippet(str(path), stored, opening, is_edited=False)]
    assert "refbrowser" not in code
    found = run(codes)
    assert np.array_equal(found[0], np.arange(24.0).reshape(2, 3, 4)[1].T)
    assert np.array_equal(found[1], 2 * np.arange(24).reshape(2, 3, 4)[1].T)
