"""The GitHub Action and the hooks for pre-commit: what their files say is run, as servers and git do."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import EXIT_CODES, Outcome

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = CHECKOUT / "resources" / "manual" / "pipelines.md"
ACTION: dict[str, Any] = yaml.safe_load((CHECKOUT / "action.yml").read_text("utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}
HOOKS = {
    hook["id"]: hook for hook in yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text("utf-8"))
}
EXAMPLES = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.S)]
USES = [step for each in EXAMPLES for step in each.get("steps", ()) if "/refbrowser@" in step.get("uses", "")]
#: Names that a shell, a command line or a runner would take for something else.
HOSTILE = [
    "--junit=precious",
    "$(touch pwned) `touch pwned`;touch pwned",
    "::error::pwned %0A",
    "a 'b' \"c\"",
]

posix = pytest.mark.skipif(os.name == "nt", reason="bash, and names that Windows has not")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a job, with the sample and another document below `references`."""
    job = tmp_path / "job"
    job.mkdir()
    monkeypatch.chdir(job)
    refbrowser.sample()
    text = Path("sea_surface.json").read_text("utf-8").replace("degree_Celsius", "K")
    Path("references").mkdir()
    Path("references/one.refs.json").write_text(text)
    return job


class Ran:
    """What a step of the action did."""

    def __init__(self, step: str, inputs: dict[str, str], tmp_path: Path, **more: str) -> None:
        values = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | inputs
        assert set(values) == set(ACTION["inputs"]), "inputs that the action has not"
        env = dict(os.environ) | more
        env |= {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)
            for name, text in STEPS[step]["env"].items()
        }
        self._output = tmp_path / "output"
        env |= {"GITHUB_ACTION_PATH": str(CHECKOUT), "GITHUB_OUTPUT": str(self._output)}
        bins = tmp_path / "bin"
        bins.mkdir(exist_ok=True)
        if not (bins / "python").exists():
            (bins / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
            (bins / "python").chmod(0o755)
        env["PATH"] = os.pathsep.join([str(bins), env["PATH"]])
        script = tmp_path / "step.sh"
        script.write_text(STEPS[step]["run"])
        # As a runner calls it.
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100, check=False)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def output(self) -> str:
        """What later steps are told."""
        return self._output.read_text("utf-8") if self._output.exists() else ""

    @property
    def commands(self) -> list[str]:
        """The lines that are commands to the runner, which looks for none after it was told not to."""
        found, word = [], ""
        for line in self.out.splitlines():
            if word:
                word = "" if line == f"::{word}::" else word
            elif line.startswith("::stop-commands::"):
                word = line.removeprefix("::stop-commands::")
                assert re.fullmatch("[0-9a-f]{32}", word)
            elif line.lstrip().startswith("::"):
                found.append(line)
        assert not word
        return found


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the step that runs refbrowser, with some inputs."""
    return lambda **inputs: Ran("Run refbrowser", inputs, tmp_path)


def test_inputs_reach_scripts_as_variables_alone() -> None:
    for step in ACTION["runs"]["steps"]:
        if "run" in step:
            assert "${{" not in step["run"]
            assert step["shell"] == "bash"
    asked = {name for step in ACTION["runs"]["steps"] for name in re.findall(r"inputs\.([\w-]+)", str(step))}
    assert asked == set(ACTION["inputs"])
    told = set(re.findall(r"^\| `([\w`, ]+)` \|", PAGE.read_text("utf-8"), re.M))
    assert {name.strip("` ") for each in told for name in each.split(",")} == set(ACTION["inputs"])
    assert not any("upload" in str(step) for step in ACTION["runs"]["steps"])


@posix
@pytest.mark.slow
def test_each_example_of_the_manual_runs(folder: Path, run: Run) -> None:
    assert len(USES) == 3
    codes = []
    for step in USES:
        ran = run(**{name: str(value) for name, value in step["with"].items()})
        assert ran.output == f"exit-code={ran.code if 'fail' not in step['with'] else 2}\n", ran.err
        (folder.parent / "output").unlink()
        codes.append(ran.code)
        for name in ("junit", "html"):
            if file := step["with"].get(name):
                assert Path(file).exists()
    # A difference is what the last one lets pass.
    assert codes == [0, 0, 0]
    (first, *_) = ElementTree.parse("check.xml").getroot()
    assert first.attrib["name"] == "sea_surface.json"


@posix
@pytest.mark.slow
def test_the_page_of_a_run_has_a_summary_of_each_audit(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "summary.md"
    inputs = {"verb": "audit", "paths": "sea_surface.json", "options": "--fail-on warning"}
    for times, code in ((1, 2), (2, 2)):
        assert Ran("Run refbrowser", inputs, tmp_path, GITHUB_STEP_SUMMARY=str(page)).code == code
        told = page.read_text("utf-8")
        assert told.count("### Audit of sea\\_surface.json: failed") == times
        assert "| **fails** | missing-chunks |" in told
    ran = Ran(
        "Run refbrowser", inputs | {"verb": "check", "options": ""}, tmp_path, GITHUB_STEP_SUMMARY=str(page)
    )
    assert ran.code == 0
    assert page.read_text("utf-8") == told


@posix
@pytest.mark.slow
def test_what_is_found_is_shown_beside_the_files(folder: Path, run: Run) -> None:
    Path("bad.json").write_text('{"version": 1, "refs": {\n"a": [1, 2]}}')
    ran = run(paths="bad.json\nsea_surface.json\n")
    assert ran.code == 2
    assert ran.output == "exit-code=2\n"
    told = ran.commands
    assert told[0].startswith(
        "::error file=bad.json,line=2,col=6,title=reference%3A a%2C line 2::the list has "
    )
    assert any(line.startswith("::warning file=sea_surface.json,title=missing-chunks") for line in told)
    assert "bad.json: error[E_REF]" in ran.out
    assert run(paths="bad.json", annotations="false").commands == []
    assert run(paths="bad.json", fail="false").code == 0
    assert run(paths="bad.json", fail="no").code == 2
    # What it says of inputs that are of no use.
    for inputs, words in (
        ({"paths": ""}, "the input paths is empty"),
        ({"paths": "none/*.json"}, "no file is like"),
        ({"paths": "x", "verb": "export"}, "not one of check, audit, diff"),
        ({"paths": "x", "options": "'"}, "No closing quotation"),
    ):
        ran = run(**inputs)
        assert ran.code == 2
        (line,) = ran.commands
        assert words in line


@posix
@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_inputs_are_no_commands(name: str, folder: Path, run: Run) -> None:
    Path("precious").write_text("mine")
    Path(name).write_text('{"version": 1, "refs": {"a": [1, 2]}}')
    for inputs in (
        {"paths": f"sea_surface.json\n{name}"},
        {"paths": "*"},
        {"paths": "sea_surface.json", "junit": f"{name}.xml"},
    ):
        ran = run(**inputs)
        assert all(re.match("::(error|warning) file=[^:]*,title=[^:]*::", line) for line in ran.commands)
        assert not any(line.startswith("::error::") for line in ran.commands)
    assert Path(f"{name}.xml").exists()
    run(paths="sea_surface.json", verb=name)
    run(paths="sea_surface.json", options=f"--template 'x={name.replace(chr(39), '')}'")
    run(paths="sea_surface.json", fail=name)
    assert not Path("pwned").exists()
    assert Path("precious").read_text() == "mine"


@posix
@pytest.mark.slow
def test_what_the_folder_of_the_job_holds_is_not_imported(folder: Path, run: Run) -> None:
    for name in ("refbrowser.py", "json.py", "glob.py", "numpy.py"):
        Path(name).write_text("open('pwned', 'w')\nraise SystemExit(0)\n")
    ran = run(paths="sea_surface.json")
    assert ran.code == 0
    assert "missing-chunks" in ran.out
    assert not Path("pwned").exists()


@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "installed"),
    [("", str(CHECKOUT)), ("refbrowser[hdf5]==0.1.0", "refbrowser[hdf5]==0.1.0"), ("-r x;y", "-r x;y")],
)
def test_the_version_that_is_asked_for_is_installed(given: str, installed: str, tmp_path: Path) -> None:
    bins = tmp_path / "bin"
    bins.mkdir()
    (bins / "python").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (bins / "python").chmod(0o755)
    ran = Ran("Install refbrowser", {"install": given}, tmp_path)
    assert ran.code == 0
    # Whatever is asked for is no option of pip.
    assert ran.out.splitlines() == ["-I", "-m", "pip", "install", "--quiet", "--", installed]


def test_a_process_that_a_signal_ends_has_a_code_of_shells() -> None:
    action = runpy.run_path(str(CHECKOUT / "packaging" / "github_action.py"))
    assert [action["ended"](code) for code in (0, 2, -15)] == [0, 2, EXIT_CODES[Outcome.TERMINATED]]


# pre-commit


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run git in a repository of its own, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@example.org")

    def run(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True)
        return done.stdout

    run("init", "-q")
    return run


def commit(git: Callable[..., str], name: str, more: dict[str, Any]) -> int:
    """Stage all, and return how a hook ends that is called as pre-commit does: with names that are staged."""
    hook = HOOKS[name] | more
    git("add", "-A")
    staged = git("diff", "--cached", "--name-only", "-z", "--diff-filter=d").split("\0")[:-1]
    names = [each for each in staged if re.search(hook["files"], each)]
    _, *arguments = hook["entry"].split()
    return main([*arguments, *hook["args"], *names]) if names else 0


def document(units: str, length: int = 4) -> str:
    array = (
        '{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<f4", "compressor": null, '
        '"filters": null, "fill_value": 0, "order": "C"}'
    )
    quoted = array.replace('"', '\\"')
    return (
        f'{{"version": 1, "refs": {{".zgroup": "{{\\"zarr_format\\": 2}}", "a/.zarray": "{quoted}", '
        f'"a/.zattrs": "{{\\"units\\": \\"{units}\\"}}", "a/0": ["d.bin", 0, {length}]}}}}'
    )


def test_hooks_are_as_pre_commit_has_them() -> None:
    needed = {"id", "name", "description", "entry", "language", "files", "args"}
    assert set(HOOKS) == {"refbrowser-check", "refbrowser-diff"}
    for hook in HOOKS.values():
        assert needed <= set(hook)
        assert hook["language"] == "python"
        assert hook["args"][-1] == "--"
        for name in ("a.refs.json", "b/c.refs.json.gz"):
            assert re.search(hook["files"], name)
        assert not re.search(hook["files"], "package.json")


def test_the_check_refuses_faults(git: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    hook = "refbrowser-check"
    Path("a.refs.json").write_text(document("K"))
    Path("package.json").write_text("no reference document")
    assert commit(git, hook, {}) == 0
    Path("b.refs.json").write_text(document("K", -1))
    assert commit(git, hook, {}) == 2
    assert "b.refs.json: error[E_REF]" in capsys.readouterr().out


@posix
def test_names_of_a_repository_are_no_options(
    git: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("precious").write_text("mine")
    for name in ("--junit=precious", "-q", "--yes", "$(touch pwned)", "--json"):
        Path(f"{name}.refs.json").write_text(document("K"))
    Path("--junit=precious").write_text(document("K"))
    assert commit(git, "refbrowser-check", {"files": "."}) == 2  # of precious, which is none
    told = capsys.readouterr().out
    assert "./--junit=precious: " in told
    assert "./-q.refs.json: no faults, no warnings" in told
    assert commit(git, "refbrowser-diff", {}) == 0
    assert main(["check", "--", "--json"]) == 6
    assert "refbrowser: error[E_IO]" in capsys.readouterr().err
    assert Path("precious").read_text() == "mine"
    assert not Path("pwned").exists()


def test_the_diff_shows_what_a_commit_changes(
    git: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    hook = "refbrowser-diff"
    Path("d.bin").write_bytes(bytes(4))
    Path("a.refs.json").write_text(document("K"))
    # Before the first commit there is nothing to be compared with.
    assert commit(git, hook, {}) == 0
    assert "a.refs.json: not in HEAD" in capsys.readouterr().err
    git("commit", "-qm", "first")
    Path("a.refs.json").write_text(document("degC"))
    Path("b.refs.json").write_text(document("K"))
    assert commit(git, hook, {}) == 0
    told = capsys.readouterr()
    assert '    - "K"\n    + "degC"\n' in told.out
    assert "b.refs.json: not in HEAD" in told.err
    # Without what lets it pass, it refuses that.
    assert commit(git, hook, {"args": ["--"]}) == 2
    # What is written otherwise, and means the same, it never refuses.
    git("commit", "-qm", "second")
    Path("a.refs.json").write_text(json.dumps(json.loads(document("degC")), indent=1))
    assert commit(git, hook, {"args": ["--"]}) == 0
    capsys.readouterr()


def test_documents_are_compared_with_a_revision(
    git: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("sub").mkdir()
    Path("sub/d.bin").write_bytes(bytes(4))
    for units in ("K", "degC"):
        Path("sub/a.json").write_text(document(units))
        git("add", "-A")
        git("commit", "-qm", units)
    # Where it was, its names lead to the same files.
    assert main(["diff", "--since", "HEAD", "sub/a.json", "--values", "all"]) == 0
    assert "Equal: the same values, all compared" in capsys.readouterr().out
    assert main(["diff", "--since", "HEAD~1", "sub/a.json", "--junit", "c.xml"]) == 2
    (suite,) = ElementTree.parse("c.xml").getroot()
    assert suite.attrib["name"] == "HEAD~1:sub/a.json and sub/a.json"
    assert main(["diff", "--since", "HEAD~1", "--exit-zero", "sub/a.json"]) == 0
    capsys.readouterr()
    for arguments, words in (
        (["--since", "none", "sub/a.json"], "git has no revision 'none' here"),
        (["--since=--output=x", "sub/a.json"], "git has no revision '--output=x' here"),
        (["--since", "HEAD"], "give the documents"),
        (["--since", "HEAD", "sub/a.json", "sub/a.json", "--junit", "x"], "reports of --since are of one"),
    ):
        assert main(["diff", *arguments]) == 2
        assert words in capsys.readouterr().err
    assert not Path("x").exists()
    assert main(["diff", "--since", "HEAD", os.devnull]) == 4
    assert "in no repository" in capsys.readouterr().err


@posix
def test_nothing_that_a_repository_names_is_run_for_a_revision(
    git: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.json").write_text(document("K"))
    git("add", "-A")
    git("commit", "-qm", "a")
    blob = git("rev-parse", "HEAD:a.json").strip()
    Path(".git/objects", blob[:2], blob[2:]).unlink()
    # As where only a part was cloned: git fetches what is not here.
    for name, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", os.getcwd()),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", "touch pwned; git-upload-pack"),
    ):
        git("config", name, value)
    assert main(["diff", "--since", "HEAD", "a.json"]) == 4
    assert "git does not hold here what the file was at 'HEAD'" in capsys.readouterr().err
    assert not Path("pwned").exists()


def test_hooks_of_the_manual_are_there(git: Callable[..., str]) -> None:
    chosen = [hook for each in EXAMPLES for repo in each.get("repos", ()) for hook in repo["hooks"]]
    assert [hook["id"] for hook in chosen] == ["refbrowser-check", "refbrowser-diff", "refbrowser-check"]
    Path("references").mkdir()
    for name in ("a.refs.json", "references/b.json"):
        Path(name).write_text(document("K").replace('"refs"', '"templates": {"u": "x/"}, "refs"'))
    for hook in chosen:
        assert commit(git, hook["id"], hook) == 0
        assert hook.get("args", ["--"])[-1] == "--"


def test_git_is_needed_for_revisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    Path(tmp_path / "a.json").write_text(document("K"))
    assert main(["diff", "--since", "HEAD", str(tmp_path / "a.json")]) == 4
    assert "git is not there" in capsys.readouterr().err
