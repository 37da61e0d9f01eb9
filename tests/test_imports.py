"""Imports point down only, nothing below the window knows Qt, and no layer is part of a cycle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "refbrowser"

#: Lowest first; a module may import its own layer and those before it.
LAYERS = [
    "errors",
    "limits",
    "model",
    "references",
    "codecs",
    "io",
    "formats",
    "engine",
    "",
    "cli",
    "app",
    "__main__",
]

#: The command line starts the window with the one upward import of the program.
UPWARD_ALLOWED = {("cli", "app")}

QT_NAMES = {"PySide6", "pyqtgraph", "shiboken6"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def statements(tree: ast.AST, *, types: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if types or not is_for_types(node):
            yield node
            yield from statements(node, types=types)


def imported_modules(path: Path, *, types: bool = True) -> Iterator[str]:
    """Yield the modules that a file imports, inside functions too; with `types`, for annotations too."""
    for node in statements(ast.parse(path.read_text("utf-8")), types=types):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            if node.module is not None and node.module.split(".")[0] == "refbrowser":
                for alias in node.names:
                    inner = PACKAGE.parent.joinpath(*node.module.split("."), alias.name)
                    if inner.is_dir() or inner.with_suffix(".py").is_file():
                        yield f"{node.module}.{alias.name}"


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_point_down(path: Path) -> None:
    layer = layer_of(module_name(path))
    assert layer in LAYERS, f"{path} is in no layer"
    for imported in imported_modules(path):
        if imported.split(".")[0] != "refbrowser" or imported == "refbrowser":
            continue
        other = layer_of(imported)
        if (layer, other) in UPWARD_ALLOWED:
            continue
        assert LAYERS.index(other) <= LAYERS.index(layer), (
            f"{module_name(path)} imports {imported}, which is above it"
        )


@pytest.mark.parametrize(
    "path", [path for path in FILES if layer_of(module_name(path)) != "app"], ids=module_name
)
def test_only_the_window_knows_qt(path: Path) -> None:
    assert not QT_NAMES & {name.split(".")[0] for name in imported_modules(path)}


def test_no_cycle_among_modules() -> None:
    # Two files of one layer may name each other's types in annotations; neither needs the other to run.
    names = {module_name(path) for path in FILES}
    graph = {
        module_name(path): {
            name
            for name in imported_modules(path, types=False)
            if name in names and name != module_name(path)
        }
        for path in FILES
    }
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join([*trail, module])
        if module in done:
            return
        for below in sorted(graph[module]):
            if not module.startswith(below + "."):
                visit(below, (*trail, module))
        done.add(module)

    for module in sorted(graph):
        visit(module, ())


def test_files_stay_below_five_hundred_lines() -> None:
    long = {
        module_name(path): lines
        for path in FILES
        if (lines := len(path.read_text("utf-8").splitlines())) >= 500
    }
    assert not long


def test_every_package_is_listed() -> None:
    import tomllib

    listed = set(
        tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"][
            "packages"
        ]
    )
    found = {module_name(path) for path in PACKAGE.rglob("__init__.py")}
    assert found <= listed
    assert not [
        name for name in ("packaging", "resources") if (PACKAGE.parent / name / "__init__.py").exists()
    ]
