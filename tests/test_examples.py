"""Every command and piece of Python in README, manual and help runs on the sample, or says what it needs.

A block whose first line is ``# needs ...`` cannot run here: its verbs and options are parsed, its Python is
compiled. Blocks of a page run in their order, in one folder.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from code_blocks import run_code

from refbrowser import sample
from refbrowser.cli import main
from refbrowser.cli.program import parsed, parser_of, tool_of
from refbrowser.tools.registry import BUILT_IN, is_built_in
from refbrowser.tools.tool import Tool

CHECKOUT = Path(__file__).resolve().parent.parent
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "resources" / "manual").glob("*.md"))]
#: What else may be in a block of commands: it installs, or sets up machines.
OTHER_PROGRAMS = {"pip", ".venv/bin/pip", ".venv/bin/python", "dask", "sh"}
#: Pages whose Python runs in `test_readme`.
RUN_BY_THEMSELVES = {"README", "python"}
#: Verbs that do not end by themselves.
ENDLESS = {"serve"}


class Block(NamedTuple):
    language: str
    text: str

    @property
    def needs(self) -> bool:
        """Whether it needs what tests have not."""
        return self.text.startswith("# needs ")

    @property
    def commands(self) -> Iterator[tuple[list[str], int]]:
        """Yield the arguments of each call, and what it ends with: 0, or what a comment says."""
        for line in self.text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            code = re.search(r"# ends with (\d)", line)
            if words[:1] == ["refbrowser"]:
                yield words[1:], int(code[1]) if code else 0
            else:
                assert not words or words[0] in OTHER_PROGRAMS, line


def blocks(page: Path) -> list[Block]:
    return [
        Block(*found) for found in re.findall(r"^```(\w*)\n(.*?)^```", page.read_text("utf-8"), re.S | re.M)
    ]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the sample, where commands run; settings lie in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("REFBROWSER_CONFIG", raising=False)
    sample(tmp_path)
    return tmp_path


def carry_out(arguments: list[str], code: int = 0) -> None:
    """Run a command, which ends with a code; one that opens a window, or does not end, is parsed."""
    if arguments[0] == "sample" and "--force" not in arguments:
        arguments = [*arguments, "--force"]
    if arguments[0] in ENDLESS:
        parsed(parser_of(tool_of(arguments[0])), arguments[1:])
    elif is_built_in(arguments[0]) or arguments[0] in ("help", "version"):
        assert main(arguments) == code, shlex.join(arguments)
    else:
        from refbrowser.cli import window

        parser = parser_of(tool_of("info"))
        window.add_arguments(fresh := type(parser)(prog="refbrowser"))
        parsed(fresh, arguments)


def test_every_block_has_a_language_that_is_known() -> None:
    found = {block.language for page in PAGES for block in blocks(page)}
    assert found <= {"sh", "python", "json", "text", "toml", "yaml"}
    assert sum(block.language == "sh" for page in PAGES for block in blocks(page)) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run_one_after_the_other_or_are_parsed(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for block in blocks(page):
        if block.language == "python" and page.stem not in RUN_BY_THEMSELVES and not block.needs:
            run_code(block.text, names)
        if block.language != "sh":
            continue
        for arguments, code in block.commands:
            if block.needs:
                parsed(parser_of(tool_of(arguments[0])), arguments[1:])
            else:
                carry_out(arguments, code)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_compiles(page: Path) -> None:
    for block in blocks(page):
        if block.language == "python":
            compile(block.text, page.name, "exec")


@pytest.mark.slow
@pytest.mark.parametrize("tool", BUILT_IN, ids=lambda tool: tool.name)
def test_examples_of_the_help_run(tool: Tool, capsys: pytest.CaptureFixture[str]) -> None:
    assert any(shlex.split(example)[1] == tool.name for example in tool.examples)
    for example in tool.examples:
        _, *arguments = shlex.split(example)
        carry_out(arguments)
