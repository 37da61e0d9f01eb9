"""The recipe for conda and the container file ask for what the project needs and has."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

CHECKOUT = Path(__file__).resolve().parent.parent
CONTAINER = CHECKOUT / "packaging" / "container"
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
RECIPE: dict[str, Any] = yaml.safe_load((CHECKOUT / "packaging/conda/recipe.yaml").read_text("utf-8"))
#: What conda calls otherwise.
RENAMED = {"pyside6-essentials": "pyside6"}


def as_conda(requirements: list[str]) -> set[str]:
    """Return requirements as conda spells them; what a version must not be is known to pip alone."""
    found = set()
    for each in map(Requirement, requirements):
        (lowest,) = (part for part in each.specifier if part.operator == ">=")
        name = each.name.lower()
        found.add(f"{RENAMED.get(name, name)} >={lowest.version}")
    return found


def needed(output: int) -> set[str]:
    return {each for each in RECIPE["outputs"][output]["requirements"]["run"] if "${{" not in each}


def test_the_recipe_needs_what_the_core_does() -> None:
    assert needed(0) == as_conda(PROJECT["dependencies"])
    assert f"python >={RECIPE['context']['python_min']}" == f"python {PROJECT['requires-python']}"


def test_the_recipe_of_the_window_needs_what_its_extras_do() -> None:
    gui = as_conda(EXTRAS["gui"])
    assert gui <= needed(1)
    names = {Requirement(each).name.lower() for extra in EXTRAS.values() for each in extra}
    assert needed(1) - gui <= names


def test_the_recipe_is_read_by_what_builds_of_it() -> None:
    rattler_build = pytest.importorskip("rattler_build")
    recipe = rattler_build.Stage0Recipe.from_yaml(
        (CHECKOUT / "packaging/conda/recipe.yaml").read_text("utf-8")
    )
    made = recipe.render(rattler_build.VariantConfig(), rattler_build.RenderConfig())
    assert len(made) == len(RECIPE["outputs"])


def test_images_have_extras_that_there_are_and_files_that_are_sent() -> None:
    text = (CONTAINER / "Containerfile").read_text("utf-8")
    extras = re.search(r"^ARG EXTRAS=(\S+)$", text, re.MULTILINE)
    assert extras is not None
    assert {*extras[1].split(","), "gui"} <= EXTRAS.keys()
    for name in re.findall(r"packaging/container/[\w.]+", text):
        assert (CHECKOUT / name).is_file(), name
    # Docker and podman each look for a file of their own.
    assert (CHECKOUT / ".dockerignore").read_text("utf-8") == (CHECKOUT / ".containerignore").read_text(
        "utf-8"
    )


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
@pytest.mark.parametrize("path", sorted((CHECKOUT / "packaging").rglob("*.sh")), ids=lambda path: path.name)
def test_scripts_are_read_by_a_shell(path: Path) -> None:
    subprocess.run(["sh", "-n", str(path)], check=True, timeout=60)
