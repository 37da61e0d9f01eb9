"""``expand`` and ``check``."""

from __future__ import annotations

import json
import pickle
import time
from pathlib import Path
from typing import Any

import pytest
from awkward_files import write_events
from streams_made import write_ocean

import refbrowser
from refbrowser.cli import main
from refbrowser.limits import LIMITS

DOCUMENT = {
    "version": 1,
    "templates": {"u": "data.nc", "f": "{{c}}.nc"},
    "gen": [
        {
            "key": "a/{{i}}.{{j}}",
            "url": "{{f(c=i)}}",
            "offset": "{{j * 10}}",
            "length": "10",
            "dimensions": {"i": {"stop": 2}, "j": [5, 7]},
        },
        {"key": "b/{{k}}", "url": "{{u}}", "dimensions": {"k": {"start": 4, "stop": 0, "step": -2}}},
    ],
    "refs": {
        ".zgroup": '{"zarr_format": 2}',
        "data": "base64:AAEC",
        "object": {"x": [1, 2]},
        "whole": ["{{u}}"],
        "part": ["http://host/{{u}}", 3, 4],
    },
}


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "d.json"
    path.write_text(json.dumps(DOCUMENT, indent=1))
    return path


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0):
    assert main([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_expand_gives_the_version_0_object(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["expand", str(document)]) == 0
    assert json.loads(capsys.readouterr().out) == refbrowser.expand(document)


def test_expand_json_has_rows_and_items(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = run_json(capsys, "expand", str(document))
    assert {name: shown[name] for name in ("rows", "refs", "gen")} == {"rows": 11, "refs": 5, "gen": [4, 2]}
    assert json.loads(shown["items"][2].pop()) == {"x": [1, 2]}
    assert shown["items"] == [
        [0, ".zgroup", '{"zarr_format": 2}'],
        [1, "data", "base64:AAEC"],
        [2, "object"],
        [3, "whole", ["data.nc"]],
        [4, "part", ["http://host/data.nc", 3, 4]],
        [5, "a/0.5", ["0.nc", 50, 10]],
        [6, "a/0.7", ["0.nc", 70, 10]],
        [7, "a/1.5", ["1.nc", 50, 10]],
        [8, "a/1.7", ["1.nc", 70, 10]],
        [9, "b/4", ["data.nc"]],
        [10, "b/2", ["data.nc"]],
    ]
    part = run_json(capsys, "expand", str(document), "--start", "7", "--count", "2")
    assert part["items"] == shown["items"][7:9]
    assert part["rows"] == 11
    assert (
        run_json(capsys, "expand", str(document), "--start", "10", "--count", "9")["items"]
        == shown["items"][10:]
    )
    assert run_json(capsys, "expand", str(document), "--start", "99")["items"] == []
    assert run_json(capsys, "expand", str(document), "--count", "0")["items"] == []


def test_expand_by_key(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = run_json(capsys, "expand", str(document), "--key", "b/2", "--key", "nothing", "--key", "data")
    assert shown["items"] == [
        [10, "b/2", ["data.nc"]],
        [None, "nothing", None],
        [1, "data", "base64:AAEC"],
    ]


def test_expand_lines_and_number(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["expand", str(document), "--start", "9"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [[9, "b/4", ["data.nc"]], [10, "b/2", ["data.nc"]]]
    assert main(["expand", str(document), "--count", "0"]) == 0
    assert capsys.readouterr().out == "11\n"


def test_expand_of_a_rule_of_any_length(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.loads(document.read_text())
    text["gen"][1]["dimensions"]["k"] = {"stop": 10**12}
    document.write_text(json.dumps(text))
    shown = run_json(capsys, "expand", str(document), "--start", str(10**12), "--count", "1")
    assert shown["rows"] == 10**12 + 9
    assert shown["items"] == [[10**12, f"b/{10**12 - 9}", ["data.nc"]]]
    assert run_json(capsys, "expand", str(document), "--key", "b/999999999999")["items"][0][0] == 10**12 + 8
    assert main(["expand", str(document)]) == 2
    assert "E_BUDGET" in capsys.readouterr().err
    assert main(["expand", str(document), "--start", "0", "--json"]) == 2
    assert str(LIMITS.write_out_question) in capsys.readouterr().err


def test_expand_refuses_faults_unless_they_may_be_left_out(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.loads(document.read_text())
    text["refs"]["bad"] = ["x", -1, 2]
    document.write_text(json.dumps(text))
    assert main(["expand", str(document)]) == 2
    captured = capsys.readouterr()
    assert captured.err.splitlines()[-1].startswith("refbrowser: error[E_REF]")
    assert captured.out == ""
    assert main(["expand", str(document), "--skip-bad"]) == 0
    captured = capsys.readouterr()
    assert "bad" not in json.loads(captured.out)
    warnings = [line for line in captured.err.splitlines() if "'bad'" in line]
    assert len(warnings) == 1
    assert warnings[0].startswith("refbrowser: warning[E_REF]")
    assert main(["expand", str(document), "--json"]) == 2
    capsys.readouterr()
    shown = run_json(capsys, "expand", str(document), "--skip-bad")
    assert [item[0] for item in shown["items"]] == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]


def test_warnings_go_to_standard_error(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = document.read_text().replace('"data": "base64:AAEC"', '"data": "x", "data": "base64:AAEC"')
    document.write_text(text)
    assert main(["expand", str(document), "--key", "data", "--json"]) == 0
    captured = capsys.readouterr()
    assert "refbrowser: warning[" in captured.err
    assert json.loads(captured.out)["items"][0][2] == "base64:AAEC"


def test_a_few_rows_of_a_huge_rule_do_not_wait_for_a_look_at_all_of_them(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.loads(document.read_text())
    text["gen"][1] |= {"url": "{{ 'u%d' % (10 // (k * k + 1)) }}", "dimensions": {"k": {"stop": 10**12}}}
    document.write_text(json.dumps(text))
    start = time.monotonic()
    assert main(["expand", str(document), "--start", "9", "--count", "1"]) == 0
    captured = capsys.readouterr()
    assert captured.out == '[9, "b/0", ["u10"]]\n'
    assert "an object is read as its JSON text" in captured.err
    # The question of size comes first, too.
    assert main(["expand", str(document)]) == 2
    assert capsys.readouterr().err.startswith("refbrowser: error[E_BUDGET]")
    assert time.monotonic() - start < 5


def test_a_warning_tells_how_many_rows_share_it(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.loads(document.read_text())
    text["gen"][1]["url"] = "{{ nope }}"
    document.write_text(json.dumps(text))
    assert main(["expand", str(document), "--skip-bad"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "'nope' is not defined" in line]
    assert len(lines) == 1
    assert lines[0].endswith(" [2 times]")


def test_check_of_a_good_document(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = run_json(capsys, "check", str(document))
    assert shown["document"] == str(document)
    assert shown["faults"] == []
    assert main(["check", str(document)]) == 0


def test_check_lists_faults_with_their_places(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.loads(document.read_text())
    text["refs"]["bad"] = ["{{nowhere}}"]
    text["gen"][0]["offset"] = "{{j / 0}}"
    document.write_text(json.dumps(text, indent=1))
    shown = run_json(capsys, "check", str(document), code=2)
    by_pointer = {fault["pointer"]: fault for fault in shown["faults"]}
    bad = by_pointer["/refs/bad/0"]
    assert bad["kind"] == "E_TEMPLATE"
    lines = document.read_text().splitlines()
    assert '"bad"' in lines[bad["line"] - 1]
    rule = by_pointer["/gen/0/offset"]
    assert (rule["rule"], rule["field"], rule["row"]) == (0, "offset", 0)
    assert "{{j / 0}}" in lines[rule["line"] - 1]
    assert isinstance(rule["column"], int)
    assert main(["check", str(document)]) == 2
    out = capsys.readouterr().out.splitlines()
    assert len([line for line in out if "error[" in line]) == len(shown["faults"])


def test_check_of_several_documents(
    document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"a": [1,\n 2,,]}')
    assert main(["check", str(document), str(broken), "--json"]) == 2
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["faults"] == []
    (fault,) = second["faults"]
    assert (fault["kind"], fault["line"], fault["column"]) == ("E_JSON", 2, 4)
    assert main(["check", str(document), str(tmp_path / "absent.json"), "--json"]) == 6
    assert "E_IO" in capsys.readouterr().err


def test_check_by_others_tells_the_same_in_the_same_order(
    document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from concurrent.futures import Future, ThreadPoolExecutor

    from refbrowser.engine.compute import Compute

    class Reversed(ThreadPoolExecutor):
        """Ends what it was given last first; what goes to others is pickled."""

        def submit(self, function: Any, *items: Any, **_: Any) -> Future[Any]:  # type: ignore[override]
            future: Future[Any] = Future()
            answer = pickle.loads(pickle.dumps(function(*pickle.loads(pickle.dumps(items)))))
            waiting.append((future, answer))
            if len(waiting) == count:
                for each, ended in reversed(waiting):
                    each.set_result(ended)
            return future

    broken, question = tmp_path / "broken.json", tmp_path / "large.json"
    broken.write_text("[")
    question.write_text('{"version": 1, "refs": {"x": ["{{u}}"]}, "templates": {"u": "{{v}}"}}')
    paths = [str(document), str(broken), str(tmp_path / "absent.json"), str(question), str(document)]
    count, waiting = len(paths), []  # type: ignore[var-annotated]
    for more in ([], ["--json"]):
        code, here = main(["check", *paths, *more]), capsys.readouterr()
        with Reversed(count) as pool, monkeypatch.context() as patched:
            waiting.clear()
            patched.setattr(Compute, "parse", lambda *_, **__: Compute.of(pool))
            assert (code, here) == (main(["check", *paths, *more]), capsys.readouterr())
    assert main(["check", str(document), "--dask", "nonsense"]) == 2


def test_check_with_a_value_for_a_template(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.loads(document.read_text())
    text["refs"]["needs"] = ["{{given}}/x"]
    document.write_text(json.dumps(text))
    assert main(["check", str(document)]) == 2
    assert main(["check", str(document), "--template", "given=here"]) == 0
    capsys.readouterr()
    shown = run_json(capsys, "expand", str(document), "--template", "given=here", "--key", "needs")
    assert shown["items"] == [[5, "needs", ["here/x"]]]


@pytest.mark.slow
def test_a_value_for_a_template_that_is_not_there_is_an_error(
    document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / "plain.json"
    plain.write_text('{"a": ["{{given}}", 1, 2]}')
    store = tmp_path / "store.zarr"
    store.mkdir()
    (store / ".zgroup").write_text('{"zarr_format": 2}')
    # No rule and no text names it; `i` is a dimension where it stands, `x` an argument's name in quotes.
    text = json.loads(document.read_text())
    text["refs"]["quoted"] = ["{{f(c='x')}}"]
    document.write_text(json.dumps(text))
    for path, known in (
        (document, "'u', 'f'"),
        (plain, "none"),
        (store, "none"),
        (write_ocean(tmp_path), "none"),
        (write_events(tmp_path), "none"),
    ):
        for name in ("given", "i", "x"):
            line = f"refbrowser: error[E_USAGE]: the document has no template '{name}'; it has {known} ("
            for verb in ("info", "check", "expand", "cdl"):
                assert main([verb, str(path), "--template", f"{name}=v"]) == 2
                shown = capsys.readouterr()
                assert (shown.out, shown.err.count("\n")) == ("", 1)
                assert shown.err.startswith(line), (verb, path)
        with pytest.raises(refbrowser.RefbrowserError, match="no template 'i'"):
            refbrowser.open(path, templates={"i": "v"})
    with pytest.raises(refbrowser.RefbrowserError, match=r"no template 'x'; it has 'u', 'f'"):
        refbrowser.expand(text, templates={"x": "v"})
    many = {"templates": {f"t{number}": "" for number in range(12)}, "version": 1, "refs": {}}
    with pytest.raises(refbrowser.RefbrowserError, match=r"it has 't0', .*, 't9' and 2 more"):
        refbrowser.expand(many, templates={"x": "v"})


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("its_live_catalog.json", 0),
        ("cmip6_two_templates.json", 0),
        ("cru_gen_rule.json", 0),
        ("gdal_v0_min.json", 0),
        ("gdal_v1_min_trailing_comma.json", 2),
        ("hrrr_grib_combined.json", 0),
        ("pangeo_forge_http.json", 0),
        ("wrf_combined.parq", 0),
    ],
)
def test_check_and_info_of_real_documents(
    shared_data: Path, name: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(shared_data / "references" / name)
    shown = run_json(capsys, "check", path, code=code)
    assert bool(shown["faults"]) == bool(code)
    assert main(["info", path, "--json"]) == code
    captured = capsys.readouterr()
    if not code:
        assert json.loads(captured.out)["arrays"]


def test_advice_goes_on_in_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "d.json"
    document.write_text('{"a": "b",}')
    assert main(["info", str(document)]) == 2
    assert (
        "there is a comma before the closing '}'; remove the comma 1 byte before it ("
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("verb", ["check", "info"])
def test_metadata_that_is_not_json_is_listed_once(
    tmp_path: Path, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "d.json"
    rule = {"key": "k", "url": "{{ nope }}", "dimensions": {"i": {"stop": 1}}}
    refs = {".zgroup": '{"zarr_format":2}', "a/.zarray": "{not json", "b/.zarray": "{}"}
    path.write_text(json.dumps({"version": 1, "refs": refs, "gen": [rule]}))
    shown = run_json(capsys, verb, str(path), code=2 if verb == "check" else 0)
    listed = [each for each in shown["faults" if verb == "check" else "problems"] if each["kind"] == "E_JSON"]
    assert [each["pointer"] for each in listed] == ["/refs/a~1.zarray"]
    assert verb == "check" or any("b" in str(each) for each in shown["problems"])
