"""``diff`` and ``merge``: what is told, written and refused; and that git works with them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from html_read import Read

import refbrowser
from refbrowser.cli import main

ZARRAY = {"zarr_format": 2, "shape": [3], "chunks": [1], "dtype": "<f4", "fill_value": 0, "order": "C",
          "compressor": None, "filters": None}  # fmt: skip


def write(path: Path, units: str = "K", count: int = 3, url: str = "u.bin", **more: Any) -> Path:
    refs = {
        ".zgroup": '{"zarr_format": 2}',
        "a/.zarray": json.dumps({**ZARRAY, "shape": [count]}),
        "a/.zattrs": json.dumps({"units": units}),
        **{f"a/{number}": [url, 4 * number, 4] for number in range(count)},
        **more,
    }
    path.write_text(json.dumps({"version": 1, "refs": refs}, indent=1))
    return path


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return write(tmp_path / "here.json")


def test_equal_ones_end_with_0(here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", str(here), str(write(tmp_path / "there.json"))]) == 0
    assert capsys.readouterr().out == "Equal: the same references. (1 array in both, 3 references compared)\n"


def test_what_differs_is_told_from_where_it_parts(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "x" * 500
    one = write(tmp_path / "one.json", long + "here")
    there = write(tmp_path / "there.json", long + "there\x1b[31m" + "y" * 30_000, url="v.bin")
    assert main(["diff", str(one), str(there)]) == 2
    told = capsys.readouterr().out
    assert "attribute units" in told
    assert "    - …" + "x" * 24 + 'here"' in told
    assert "y" * 30_000 in told
    assert "\x1b" not in told
    assert "references: 3 moved" in told
    assert '    + ["v.bin", 0, 4]' in told
    assert told.endswith(
        "They differ: 1 difference of structure and metadata, 3 references. "
        "(1 array in both, 3 references compared)\n"
    )
    ignored = ["--ignore", "attributes", "--ignore", "references"]
    assert main(["diff", str(one), str(there), *ignored, "--ignore", "values"]) == 0
    assert "references and values ignored" in capsys.readouterr().out
    # The files are not there: nothing tells whether values are the same.
    assert main(["diff", str(one), str(there), *ignored]) == 4
    assert main(["diff", str(one), str(there), *ignored, "--values", "none"]) == 5


def test_json_and_report(here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = write(tmp_path / "there.json", "<script>alert('x')</script>", url="v.bin")
    report = tmp_path / "report.html"
    assert main(["diff", str(here), str(there), "--json", "--html", str(report)]) == 2
    told = json.loads(capsys.readouterr().out)
    assert (told["equal"], told["format_here"], told["undecided"]) == (False, "refs-v1", 0)
    assert told == refbrowser.diff(here, there).to_json()
    page = report.read_text("utf-8")
    read = Read(page)
    assert not {"script", "img", "link", "iframe", "a"} & set(read.elements)
    assert not {"src", "href", "onclick"} & read.names
    assert "&lt;script&gt;alert" in page
    assert "prefers-color-scheme: dark" in page
    assert "3 moved" in page
    assert read.elements.count("rect") == 1


def test_values_that_cannot_be_read_are_never_equal(
    here: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["diff", str(here), str(here), "--values", "sample"]) == 4
    assert "values that cannot be read: 3 elements here, 3 there" in capsys.readouterr().out
    away = write(tmp_path / "away.json", url="http://192.0.2.1/u.bin")
    assert main(["diff", str(away), str(away), "--values", "all"]) == 3
    (tmp_path / "u.bin").write_bytes(bytes(12))
    assert main(["diff", str(here), str(here), "--values", "all"]) == 0


def test_files_whose_values_all_differ_are_not_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import h5py

    names = [tmp_path / f"{name}.nc" for name in ("one", "two", "copy")]
    for name, first in zip(names, (0, 100), strict=False):
        with h5py.File(name, "w") as file:
            file.create_dataset("t", data=np.arange(first, first + 12), chunks=(4,))
    shutil.copy(names[0], names[2])
    one, two, copy = map(str, names)
    page = tmp_path / "page.html"
    assert main(["diff", one, two, "--html", str(page)]) == 2
    assert "They differ: 12 values. (1 array in both, 12 values compared)\n" in capsys.readouterr().out
    assert "<td>/t</td><td>different</td>" in page.read_text()
    assert main(["diff", one, two, "--values", "none", "--html", str(page)]) == 5
    told = capsys.readouterr().out
    assert "values: not compared: 3 chunks in separate files; only their values can be compared" in told
    assert "Nothing differs in what was compared; values of 1 array not compared. (1 array in both)\n" in told
    assert "<td>/t</td><td>not compared</td>" in page.read_text()
    assert main(["diff", one, two, "--values", "none", "--json"]) == 5
    said = json.loads(capsys.readouterr().out)
    assert (said["equal"], said["verdict"]) == (None, "not compared")
    assert main(["diff", one, copy]) == 0
    assert "Equal: the same bytes. (1 array in both, 3 references compared)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{here}"], "give two datasets"),
        (["{here}", "{here}", "--ignore", "colour"], "'colour' is not a kind of difference"),
        (["{here}", "{here}", "--array", "b"], "neither side has an array 'b'"),
        (["{here}", "gone.json"], "gone.json"),
    ],
)
def test_what_is_refused(
    here: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *(each.format(here=here) for each in arguments)]) == (
        6 if message == "gone.json" else 2
    )
    assert message in capsys.readouterr().err


# Merging


@pytest.fixture
def sides(tmp_path: Path) -> Callable[..., list[str]]:
    def made(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
        names = {"base": {}, "ours": ours, "theirs": theirs}
        return [str(write(tmp_path / f"{name}.json", **how)) for name, how in names.items()]

    return made


def test_merging_writes_and_tells(
    sides: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = sides({"units": "degC"}, {"count": 4})
    target = tmp_path / "merged.json"
    assert main(["merge", *files, "-o", str(target)]) == 0
    assert "2 edits of ours, no conflicts" in capsys.readouterr().out
    refs = json.loads(target.read_text())["refs"]
    assert json.loads(refs["a/.zattrs"]) == {"units": "degC"}
    assert (json.loads(refs["a/.zarray"])["shape"], refs["a/3"]) == ([4], ["u.bin", 12, 4])
    assert main(["merge", *files, "-o", str(target)]) == 7
    assert main(["merge", *files, "-o", str(target), "--force"]) == 0


def test_conflicts_end_with_2_and_leave_a_document(
    sides: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = sides({"units": "a"}, {"units": "b", "count": 4})
    beside = tmp_path / "conflicts.json"
    assert main(["merge", *files, "-o", files[1], "--conflicts", str(beside), "--label", "my.json"]) == 2
    out, err = capsys.readouterr()
    assert "conflict: a/.zattrs, units (/refs/a~1.zattrs /units)" in err
    assert "my.json" in out
    (told,) = json.loads(beside.read_text())["conflicts"]
    assert (told["base"], told["ours"], told["theirs"], told["inner"]) == ("K", "a", "b", "/units")
    with refbrowser.open(files[1]) as merged:
        assert merged["/a"].shape == (4,)
        assert merged["/a"].attrs["units"] == "a"


def test_favor_settles(
    sides: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = sides({"units": "a"}, {"units": "b"})
    target = tmp_path / "merged.json"
    for favor, units in (("theirs", "b"), ("ours", "a")):
        assert main(["merge", *files, "-o", str(target), "--favor", favor, "--json", "--force"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (len(told["settled"]), told["conflicts"]) == (1, [])
        assert json.loads(json.loads(target.read_text())["refs"]["a/.zattrs"]) == {"units": units}


def test_relative_urls_keep_their_meaning_in_another_folder(
    sides: Callable[..., list[str]], tmp_path: Path
) -> None:
    (tmp_path / "below").mkdir()
    target = tmp_path / "below" / "merged.json"
    merged = refbrowser.merge(*sides({"units": "x"}, {"count": 4}), target)
    assert not merged.conflicts
    refs = json.loads(target.read_text())["refs"]
    assert {refs[f"a/{number}"][0] for number in range(4)} == {"../u.bin"}


def test_stores_are_not_merged(here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import zarr

    zarr.create_group(tmp_path / "s.zarr", zarr_format=2)
    assert (
        main(["merge", str(here), str(tmp_path / "s.zarr"), str(here), "-o", str(tmp_path / "o.json")]) == 2
    )
    assert "not a reference document" in capsys.readouterr().err


# git


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return what runs git in a repository of its own that compares and merges by refbrowser."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    program = f'"{sys.executable}" -m refbrowser'
    config = tmp_path / "gitconfig"
    quoted = program.replace('"', '\\"')
    config.write_text(
        "[user]\nname = a\nemail = a@b.c\n[init]\ndefaultBranch = main\n"
        f'[diff "refbrowser"]\ncommand = "{quoted} diff --git"\n'
        f'[merge "refbrowser"]\nname = refbrowser\ndriver = "{quoted} merge --git %O %A %B %P"\n'
        f'[merge "listed"]\nname = listed\n'
        f'driver = "{quoted} merge --conflicts=%P.conflicts --git %O %A %B %P"\n'
    )
    folder = tmp_path / "repository"
    folder.mkdir()
    root = str(Path(refbrowser.__file__).parents[1])
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONPATH": root,
    }

    def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    run("init", "-q")
    (folder / ".gitattributes").write_text("*.json diff=refbrowser merge=refbrowser\n")
    (folder / "sub").mkdir()
    return run


@pytest.mark.slow
def test_git_compares_and_merges(git: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "repository" / "sub" / "a document.json"
    write(path)
    git("add", "-A")
    git("commit", "-qm", "base")
    git("checkout", "-qb", "longer")
    write(path, count=4)
    git("commit", "-qam", "longer")
    git("checkout", "-q", "main")
    write(path, "degC")
    told = git("diff").stdout
    assert "refbrowser diff sub/a document.json" in told
    assert '    - "K"\n    + "degC"' in told
    assert "different folders" not in told
    git("commit", "-qam", "units")
    git("merge", "-q", "longer")
    refs = json.loads(path.read_text())["refs"]
    assert (json.loads(refs["a/.zattrs"]), len(refs)) == ({"units": "degC"}, 7)
    # What is no document does not end git's diff of others.
    path.write_text("{")
    write(path.parent / "new.json")
    git("add", "-A")
    told = git("diff", "--cached").stdout
    assert "+++ b/sub/a document.json" in told
    assert "\n+{" in told
    assert "new file" in told


def diverge(git: Callable[..., Any], path: Path, *texts: str, attributes: str = "") -> None:
    """Commit the base, and what the branches ``other`` and ``main`` make of it; the last is checked out."""
    base, other, mine = texts
    if attributes:
        (path.parent / ".gitattributes").write_text(attributes)
    path.write_text(base)
    git("add", "-A")
    git("commit", "-qm", "base")
    git("checkout", "-qb", "other")
    path.write_text(other)
    git("commit", "-qam", "other")
    git("checkout", "-q", "main")
    path.write_text(mine)
    git("commit", "-qam", "mine")


def document_text(tmp_path: Path, *how: Any, **more: Any) -> str:
    return write(tmp_path / "made.json", *how, **more).read_text()


@pytest.mark.slow
def test_a_conflict_leaves_both_sides_in_the_file(git: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "repository" / "--favor=theirs.json"
    diverge(git, path, *(document_text(tmp_path, each) for each in ("K", "m", "mm")))
    done = git("merge", "other", code=1)
    assert "CONFLICT" in done.stdout
    assert "ours: mm" in done.stderr
    text = path.read_text()
    assert "<<<<<<< --favor=theirs.json (ours)" in text
    # Each side is a document by itself.
    before, between = text.split("<<<<<<< --favor=theirs.json (ours)\n")
    ours, between = between.split("=======\n")
    theirs, after = between.split(">>>>>>> --favor=theirs.json (theirs)\n")
    for side, units in ((ours, "mm"), (theirs, "m")):
        said = json.loads(before + side + after)["refs"]
        assert json.loads(said["a/.zattrs"]) == {"units": units}


@pytest.mark.slow
def test_conflicts_that_are_listed_leave_a_document(git: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "repository" / "a.json"
    texts = [document_text(tmp_path, each) for each in ("K", "m", "mm")]
    diverge(git, path, *texts, attributes="*.json merge=listed\n")
    git("merge", "other", code=1)
    with refbrowser.open(path) as merged:
        assert merged["/a"].attrs["units"] == "mm"
    beside = json.loads((path.parent / "a.json.conflicts").read_text())
    assert [each["pointer"] for each in beside["conflicts"]] == ["/refs/a~1.zattrs"]
    # A link that somebody put in its place is not followed, and no side is lost for it.
    git("merge", "--abort")
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (path.parent / "a.json.conflicts").unlink()
    (path.parent / "a.json.conflicts").symlink_to(precious)
    git("merge", "other", code=1)
    assert precious.read_text() == "mine"
    assert path.read_text().index("<<<<<<<") < path.read_text().index(">>>>>>>")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(
            ["[1,\n2,\n3]\n", "[1,\n2,\n4]\n", "[1,\n2,\n5]\n"],
            ["<<<<<<<", "4]", "=======", "5]", ">>>>>>>"],
            marks=pytest.mark.long,
        ),
        pytest.param(
            ['{"a": 1}', '{"a": 2}', '{"a": 3}'],
            ["<<<<<<<", '"a": 2', '"a": 3', ">>>>>>>"],
            marks=pytest.mark.long,
        ),
        (["no JSON\n", "other\n", "mine\n"], ["<<<<<<<", "other", "mine", ">>>>>>>"]),
    ],
)
def test_other_json_is_merged_and_compared_by_lines(
    git: Callable[..., Any], tmp_path: Path, texts: list[str], expected: list[str]
) -> None:
    path = tmp_path / "repository" / "other.json"
    diverge(git, path, *texts)
    told = git("diff", "HEAD~1").stdout
    assert "+++ b/other.json" in told
    assert "cannot be" not in told
    done = git("merge", "other", code=1)
    assert "CONFLICT" in done.stdout
    assert all(each in path.read_text() for each in expected)
    assert git("ls-files", "-u").stdout.count("other.json") == 3


@pytest.mark.slow
def test_other_json_without_conflicts_is_merged(git: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "repository" / "list.json"
    lines = [f"{number},\n" for number in range(9)]
    sides = [lines, ["new,\n", *lines[1:]], [*lines[:-1], "last,\n"]]
    diverge(git, path, *("".join(each) for each in sides))
    git("merge", "-q", "other")
    assert path.read_text() == "".join(["new,\n", *lines[1:-1], "last,\n"])


@pytest.mark.slow
def test_what_git_gives_are_paths_whatever_they_are_called(git: Callable[..., Any], tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    folder = tmp_path / "repository"
    (folder / f"--html={tmp_path}").mkdir(parents=True)
    path = folder / f"--html={tmp_path}" / "precious"
    (folder / ".gitattributes").write_text("* diff=refbrowser\n")
    write(path)
    git("add", "-A")
    git("commit", "-qm", "base")
    git("mv", "--", str(path.relative_to(folder)), "./--yes")
    write(folder / "--yes", "degC")
    git("add", "-A")
    git("commit", "-qm", "renamed")
    told = git("diff", "-M", "HEAD~1", "HEAD").stdout
    assert '+ "degC"' in told
    assert precious.read_text() == "mine"


@pytest.mark.slow
def test_git_merges_what_both_added(git: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "repository" / "new.json"
    (tmp_path / "repository" / "x").write_text("")
    git("add", "-A")
    git("commit", "-qm", "base")
    git("checkout", "-qb", "other")
    write(path, other="1")
    git("add", "-A")
    git("commit", "-qm", "other")
    git("checkout", "-q", "main")
    write(path, mine="1")
    git("add", "-A")
    git("commit", "-qm", "mine")
    git("merge", "-q", "other")
    refs = json.loads(path.read_text())["refs"]
    assert (refs["mine"], refs["other"]) == ("1", "1")
