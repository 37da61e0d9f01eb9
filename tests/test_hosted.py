"""What hosted runners are told to run is what the project has: commands, versions and marks."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from refbrowser.tools.registry import is_built_in

CHECKOUT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
JOBS: dict[str, Any] = yaml.safe_load((CHECKOUT / ".github/workflows/tests.yml").read_text("utf-8"))["jobs"]
COMMANDS = [step["run"] for job in JOBS.values() for step in job["steps"] if "run" in step]


def test_each_command_is_of_the_project() -> None:
    for command in COMMANDS:
        program, *rest = shlex.split(command)
        if program == "bash" or rest[0].endswith(".py"):
            assert (CHECKOUT / rest[0]).is_file(), command
            continue
        assert (program, rest[0]) == ("python", "-m"), command
        if rest[1] == "refbrowser":
            assert is_built_in(rest[2]), command
        for extra in re.findall(r"\[(\w+)\]", command):
            assert extra in PROJECT["project"]["optional-dependencies"], command


def test_what_ci_runs_is_run() -> None:
    assert "bash .ci/run" in COMMANDS
    text = (CHECKOUT / ".ci" / "run").read_text("utf-8")
    for tool in ("packaging/test.sh --all", "ruff check", "ruff format", "mypy"):
        assert tool in text


def test_each_python_that_is_supported_is_tried_on_each_system() -> None:
    matrix = JOBS["quick"]["strategy"]["matrix"]
    lowest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert matrix["python"][0] == lowest
    assert {system.split("-")[0] for system in matrix["os"]} == {"ubuntu", "macos", "windows"}
    scripts = (CHECKOUT / "packaging" / "environment.sh").read_text("utf-8")
    assert all(f"python{version}" in scripts for version in matrix["python"])


@pytest.mark.parametrize("path", sorted((CHECKOUT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_forms_are_whole(path: Path) -> None:
    form = yaml.safe_load(path.read_text("utf-8"))
    assert form["name"]
    for field in form.get("body", ()):
        assert field["attributes"]["label"], field
