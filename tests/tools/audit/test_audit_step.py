"""Audits as steps of pipelines: what they fail for, what another try may mend, what they leave."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from damaged_sets import DAMAGES, sound

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.findings.kinds import URL_UNREACHABLE
from refbrowser.tools.audit.report.audit_summary import summary_of_error

PAGE = (Path(__file__).resolve().parents[3] / "resources/manual/pipelines.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S)


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A set with a missing chunk, and a file that is gone."""
    made = sound(tmp_path)
    del made.refs["raw/2.1"]
    (tmp_path / "f4.bin").unlink()
    return made.write()


def test_what_it_fails_for(damaged: Path) -> None:
    audit: Callable[..., Any] = lambda **said: refbrowser.Audit(damaged, **said).run()  # noqa: E731
    found = audit(level="stat")
    assert (found.status, found.exit_code, found.counts) == (
        "failed",
        2,
        {"missing-chunks": 1, "url-dead": 8},
    )
    assert [reason.partition(":")[0] for reason in found.reasons] == ["url-dead [8]"]
    assert audit(level="set").has_passed
    for said, reasons in (
        ({"fail_on": "warning"}, ["missing-chunks [1]"]),
        ({"fail_on": ["missing-chunks"]}, ["missing-chunks [1]"]),
        ({"fail_on": "warning", "tolerate": "missing-chunks"}, []),
        ({"fail_on": "warning", "tolerate": {"warning": 1}}, []),
        ({"fail_on": "warning", "tolerate": {"warning": 0}}, ["missing-chunks [1]"]),
        ({"level": "stat", "tolerate": "url-dead=8"}, []),
        ({"level": "stat", "tolerate": {"url-dead": 7}}, ["url-dead [8]"]),
        ({"level": "stat", "tolerate": {"url-dead": None}}, []),
    ):
        found = audit(**said)
        assert [reason.partition(":")[0] for reason in found.reasons] == reasons, said
        assert found.exit_code == (2 if reasons else 0)
    # It is the same on the command line.
    command = ["audit", str(damaged), "--level", "stat"]
    assert main([*command, "--tolerate", "url-dead=8"]) == 0
    assert main([*command, "--tolerate", "url-dead=7"]) == 2
    assert main([*command, "--tolerate", "url-dead=x"]) == 2
    for said in (
        {"fail_on": "nonsense"},
        {"tolerate": "nonsense=3"},
        {"level": "deep"},
        {"reports": "a.pdf"},
    ):
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.Audit(damaged, **said)  # type: ignore[arg-type]
        assert caught.value.kind is ErrorKind.USAGE


@pytest.mark.slow
def test_what_another_try_may_mend(tmp_path: Path, damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(refbrowser.AuditFailedError, match=r"the audit failed: url-dead \[8\]") as failed:
        refbrowser.Audit(damaged, level="stat").check()
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(refbrowser.AuditFailedError, match="E_JSON"):
        refbrowser.Audit(tmp_path / "bad.json").check()
    with pytest.raises(refbrowser.AuditUndecidedError, match="there is no such file") as undecided:
        refbrowser.Audit(tmp_path / "gone.json").check()
    monkeypatch.setattr(sys.modules["refbrowser.tools.audit.audit_step"], "_PASSING", ("url-dead",))
    assert refbrowser.Audit(damaged, level="stat").run().status == "undecided"
    assert URL_UNREACHABLE.code == "url-unreachable"
    text = json.loads(damaged.read_text())
    text["refs"]["raw/0.0"] = ["/elsewhere/f.bin", 0, 400]
    damaged.write_text(json.dumps(text))
    step = refbrowser.Audit(damaged, level="stat", tolerate="url-dead")
    blocked = step.run()
    assert (blocked.status, blocked.exit_code) == ("undecided", 3)
    assert blocked.reasons == ("not checked, a permission is missing: /elsewhere",)
    with pytest.raises(RefbrowserError, match="there is no array"):
        refbrowser.Audit(damaged, arrays=["gone"]).run()
    # Steps, results and errors are sent to other processes.
    assert pickle.loads(pickle.dumps(step)).run().status == "undecided"
    for error, status in ((failed, "failed"), (undecided, "undecided")):
        sent = pickle.loads(pickle.dumps(error.value))
        assert (type(sent), sent.result.status) == (type(error.value), status)
    assert json.loads(json.dumps(failed.value.result.to_json()))["details"]["exit_code"] == 2


@pytest.mark.slow
def test_reports_are_left_whatever_comes_of_it(tmp_path: Path, damaged: Path) -> None:
    names = [str(tmp_path / f"audit.{ending}") for ending in ("xml", "html", "json", "csv", "md")]
    result = refbrowser.Audit(damaged, level="stat", reports=names, tolerate="url-dead").run()
    assert result.reports == tuple(names)
    suite = ElementTree.parse(names[0]).getroot()
    # Test cases fail just where the step does.
    assert suite.attrib["failures"] == "0"
    assert Path(names[4]).read_text() == result.summary
    assert "| tolerated | url-dead | 8 |" in result.summary
    assert json.loads(Path(names[2]).read_text())["counts"] == dict(result.counts)
    failed = refbrowser.Audit(damaged, level="stat", reports=names).run()
    assert ElementTree.parse(names[0]).getroot().attrib["failures"] != "0"
    assert failed.summary.startswith(f"### Audit of {damaged}".replace("_", r"\_"))
    assert failed.summary.index("**fails** | url-dead") < failed.summary.index("warning | missing-chunks")
    gone = refbrowser.Audit(tmp_path / "gone.json", reports=names).run()
    assert gone.reports == (names[0], names[4])
    assert "there is no such file" in Path(names[0]).read_text()
    with pytest.raises(RefbrowserError, match="cannot write"):
        refbrowser.Audit(damaged, reports=tmp_path / "nowhere" / "a.md").run()


def test_what_files_say_is_no_markdown() -> None:
    error = RefbrowserError(ErrorKind.IO, "a|b <img src=x> [x](http://y) @all #3 `c`\n# head")
    acting = summary_of_error("a", RefbrowserError(ErrorKind.IO, "\x1b]0;b\x07\u202ec"))
    assert acting.splitlines()[2].endswith(r"·\]0;b··c")
    told = summary_of_error("a_b*c|d", error).splitlines()
    assert told[0] == r"### Audit of a\_b\*c\|d: not done"
    assert told[2] == r"E\_IO: a\|b \<img src=x\> \[x\](http\://y) \@all \#3 \`c\` \# head"


@pytest.mark.slow
def test_it_needs_no_window(tmp_path: Path, damaged: Path) -> None:
    code = (
        "import sys, refbrowser; refbrowser.Audit(sys.argv[1]).run(); "
        "assert not [name for name in sys.modules if name.startswith(('PySide6', 'refbrowser.app'))]"
    )
    done = subprocess.run([sys.executable, "-c", code, str(damaged)], check=False, cwd=tmp_path)
    assert done.returncode == 0


# The examples of the manual


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the first example makes, in a folder with the sample."""
    monkeypatch.chdir(tmp_path)
    refbrowser.sample()
    names: dict[str, Any] = {}
    exec(next(text for kind, text in BLOCKS if kind == "python"), names)
    return names


def _module(monkeypatch: pytest.MonkeyPatch, name: str, **names: Any) -> None:
    made = types.ModuleType(name)
    for each, value in names.items():
        setattr(made, each, value)
    monkeypatch.setitem(sys.modules, name, made)


def _run_example(needs: str, names: dict[str, Any]) -> None:
    (text,) = (text for kind, text in BLOCKS if kind == "python" and text.startswith(f"# needs {needs}\n"))
    exec(text, names)


def test_prefect_tries_again_what_may_pass(page: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    class State:
        def __init__(self, error: BaseException) -> None:
            self._error = error

        def result(self, raise_on_failure: bool) -> BaseException:
            return self._error

    def task(function: Any, *, retries: int, retry_condition_fn: Any, **_more: Any) -> Any:
        def run(path: str) -> Any:
            for left in reversed(range(retries + 1)):
                tries.append(path)
                try:
                    return function(path)
                except RefbrowserError as error:
                    if not left or not retry_condition_fn(None, None, State(error)):
                        raise

        return run

    _module(monkeypatch, "prefect", task=task, flow=lambda function: function)
    _run_example("prefect", page)
    assert page["nightly"]()["status"] == "passed"
    assert len(tries) == 1
    shutil.move("sea_surface.json", "gone.json")
    with pytest.raises(refbrowser.AuditUndecidedError):
        page["nightly"]()
    assert len(tries) == 5
    Path("sea_surface.json").write_text("{")
    with pytest.raises(refbrowser.AuditFailedError):
        page["nightly"]()
    assert len(tries) == 6
    assert Path("audit.xml").exists()
    assert Path("audit.md").exists()


def test_airflow_is_told_what_is_final(page: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    class AirflowFailException(Exception):
        pass

    ran: list[Any] = []

    def task(**_more: Any) -> Any:
        return lambda function: lambda: ran.append(function())

    _module(monkeypatch, "airflow")
    _module(monkeypatch, "airflow.exceptions", AirflowFailException=AirflowFailException)
    _module(monkeypatch, "airflow.sdk", task=task, dag=lambda **_more: lambda function: function)
    _run_example("airflow", page)
    assert [each["status"] for each in ran] == ["passed"]
    Path("sea_surface.json").write_text("{")
    with pytest.raises(AirflowFailException):
        page["nightly_audit"]()
    Path("sea_surface.json").unlink()
    with pytest.raises(refbrowser.AuditUndecidedError):
        page["nightly_audit"]()


@pytest.mark.slow
def test_the_script_of_a_job_of_github_runs(page: dict[str, Any], tmp_path: Path) -> None:
    jobs = [yaml.safe_load(text) for kind, text in BLOCKS if kind == "yaml"]
    (script,) = (
        step["run"] for job in jobs for step in job.get("steps", ()) if step.get("shell") == "python"
    )
    summary = tmp_path / "summary.md"
    env = {**os.environ, "GITHUB_STEP_SUMMARY": str(summary)}
    assert subprocess.run([sys.executable, "-c", script], env=env, check=False).returncode == 0
    assert summary.read_text("utf-8").startswith("### Audit of sea\\_surface.json: passed")
    assert Path("audit.xml").exists()
    Path("sea_surface.json").write_text("{")
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, check=False, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "AuditFailedError" in done.stderr
    assert summary.read_text("utf-8").count("### Audit") == 2


def test_damages_are_what_steps_fail_for(tmp_path: Path) -> None:
    made = sound(tmp_path)
    damage = DAMAGES["bytes that do not decode"]
    damage.make(made)
    result = refbrowser.Audit(made.write(), level="full").run()
    assert (result.status, result.counts) == ("failed", {damage.code: damage.count})
