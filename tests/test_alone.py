"""Tests that failed beside others are run once more alone, and what that means for the whole run."""

from __future__ import annotations

import json
from pathlib import Path

import alone
import pytest


def outcome(folder: Path, *failed: str) -> Path:
    file = folder / "outcome.json"
    file.write_text(json.dumps({"passed": 5, "skipped": 2, "failed": list(failed)}), encoding="utf-8")
    return file


def test_one_that_passes_alone_is_named_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(alone, "passes_alone", lambda test: test == "a.py::unstable")

    assert alone.main(outcome(tmp_path, "a.py::unstable")) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "unstable: a.py::unstable",
        "6 passed, 0 failed, 2 skipped",
    ]


def test_one_that_fails_alone_too_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(alone, "passes_alone", lambda test: test == "a.py::unstable")

    assert alone.main(outcome(tmp_path, "a.py::broken", "a.py::unstable")) == 1
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "unstable: a.py::unstable",
        "failed: a.py::broken",
        "6 passed, 1 failed, 2 skipped",
    ]


@pytest.mark.parametrize("count", [0, alone.MOST + 1])
def test_a_run_that_failed_otherwise_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(alone, "passes_alone", lambda test: pytest.fail("it was run again"))

    assert alone.main(outcome(tmp_path, *(f"a.py::test_{number}" for number in range(count)))) == 1


@pytest.mark.slow
def test_a_test_is_run_by_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    (tmp_path / "test_two.py").write_text(
        "def test_good(): pass\n\ndef test_bad(): assert 1 == 2\n", encoding="utf-8"
    )

    assert alone.passes_alone("test_two.py::test_good")
    assert not alone.passes_alone("test_two.py::test_bad")
    assert "assert 1 == 2" in capsys.readouterr().out


pytest_plugins = ["pytester"]


def test_what_failed_is_written_for_the_second_run(pytester: pytest.Pytester) -> None:
    own = str(Path(__file__).with_name("conftest.py"))
    pytester.makeconftest(
        "import importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('shared', {own!r})\n"
        "shared = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(shared)\n"
        "pytest_addoption = shared.pytest_addoption\n"
        "pytest_terminal_summary = shared.pytest_terminal_summary\n"
    )
    pytester.makepyfile(
        test_kinds="""
        import pytest

        @pytest.fixture
        def broken():
            yield
            raise OSError

        def test_good(): pass
        def test_bad(): assert False
        def test_after(broken): pass
        def test_left_out(): pytest.skip("no")
        """
    )
    pytester.runpytest_inprocess("--outcome-to", "outcome.json")

    assert json.loads((pytester.path / "outcome.json").read_text(encoding="utf-8")) == {
        "passed": 1,
        "skipped": 1,
        "failed": ["test_kinds.py::test_after", "test_kinds.py::test_bad"],
    }
