"""What the code of the package says, for the tests of how it is laid out: parsed once in a run."""

from __future__ import annotations

import ast
import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "refbrowser"


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = sorted(PACKAGE.rglob("*.py"))
NAMES = frozenset(module_name(path) for path in FILES)


@dataclass
class Source:
    """What one module says."""

    path: Path
    lines: int
    #: The modules that it imports, inside functions too, and for annotations.
    imports: set[str] = field(default_factory=set)
    #: Modules that are imported from as soon as it is.
    at_once: set[str | None] = field(default_factory=set)
    public_classes: list[str] = field(default_factory=list)
    #: Names in code, those that are imported from modules included.
    names: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    #: Those of the texts that are documentation.
    docs: set[str] = field(default_factory=set)
    #: What it gives a name to: functions, classes, arguments, variables, attributes.
    named: set[str] = field(default_factory=set)
    #: Calls of `isinstance`, `getattr`, `vars`, as they are written.
    asked: set[tuple[str, str]] = field(default_factory=set)
    #: Where it looks at what something was made from, as that is written.
    behind: set[str] = field(default_factory=set)
    #: Lists, mappings and unions of literals: the line, the texts in them.
    lists: list[tuple[int, set[str]]] = field(default_factory=list)

    @property
    def module(self) -> str:
        return module_name(self.path)


def read(path: Path) -> Source:
    """Parse a module and walk through it once."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    source = Source(path, len(text.splitlines()))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            source.at_once.add(node.module)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            source.public_classes.append(node.name)
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        _note(node, source)
        pending += _children(node)
    return source


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from (each for each in value if isinstance(each, ast.AST))
        elif isinstance(value, ast.AST) and name != "ctx":
            yield value


def _note(node: ast.AST, source: Source) -> None:
    if isinstance(node, ast.Name):
        source.names.add(node.id)
        if isinstance(node.ctx, ast.Store):
            source.named.add(node.id)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        source.named.add(node.name)
    elif isinstance(node, ast.arg):
        source.named.add(node.arg)
    elif isinstance(node, ast.Attribute):
        if isinstance(node.ctx, ast.Store):
            source.named.add(node.attr)
        if node.attr in ("derived", "made_from", "origin"):
            source.behind.add(ast.unparse(node))
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            source.texts.add(node.value)
    elif isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            source.docs.add(node.value.value)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "getattr", "vars"):
            source.asked.add((node.func.id, ast.unparse(node)))
    elif isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
        if texts := _texts_in(node):
            source.lists.append((node.lineno, texts))
    elif isinstance(node, ast.Import | ast.ImportFrom):
        found = {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source.path}: relative import"
            source.names |= found
            module = node.module or ""
            found = {module} | ({f"{module}.{name}" for name in found} & NAMES)
        source.imports |= found


def _texts_in(node: ast.Tuple | ast.List | ast.Set | ast.Dict) -> set[str]:
    pending: list[ast.expr | None]
    pending, found = [*node.keys, *node.values] if isinstance(node, ast.Dict) else [*node.elts], set()
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
        elif isinstance(part, ast.Tuple | ast.List):
            pending += part.elts
    return found


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> list[Source]:
    """What each module of the package says; the first worker that asks leaves it to the others."""
    run = tmp_path_factory.getbasetemp()
    kept = (run if worker_id == "master" else run.parent) / "sources.pickle"
    if not kept.exists():
        part = kept.with_suffix(f".{worker_id}")
        part.write_bytes(pickle.dumps([read(path) for path in FILES]))
        os.replace(part, kept)
    return pickle.loads(kept.read_bytes())
