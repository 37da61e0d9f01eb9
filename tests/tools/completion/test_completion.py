"""What shells offer while a command is typed: bash in a terminal, zsh and fish where they are installed."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import fixture_tool
import pytest

from refbrowser.cli import main
from refbrowser.cli.settings import SETTINGS
from refbrowser.formats.registry import written
from refbrowser.tools.completion.scripts import SCRIPTS
from refbrowser.tools.registry import BUILT_IN
from refbrowser.tools.tool import Heading, Tool

#: Keys of the terminal: all that is offered is put into the line, the line is told, the line is emptied.
ALL, TELL, EMPTY = "\x1b*", "\x14", "\x15"
#: How each shell is started, and what it is told first: no prompt, and what these keys do.
COMMANDS = {"bash": ("bash", "--norc", "--noprofile", "-i"), "zsh": ("zsh", "-f", "-i")}
BEGIN = {
    "bash": r"""
PS1= PS2=; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'
bind -x '"\C-t": printf "\n<""<%s>>\n" "$READLINE_LINE"'
""",
    "zsh": r"""
PS1= PS2= RPS1=; unsetopt beep prompt_cr prompt_sp zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste
autoload -Uz compinit; compinit -u -D; bindkey -e; setopt no_list_ambiguous
zle -C all-matches complete-word _generic; bindkey '\e*' all-matches
zstyle ':completion:all-matches:*' completer _all_matches _complete
zstyle ':completion:all-matches:*' old-matches no
zstyle ':completion:all-matches:*' insert yes
tell() { printf '\n<''<%s>>\n' "$BUFFER" }; zle -N tell; bindkey '^T' tell; bindkey '^U' kill-whole-line
""",
}


class Terminal:
    """A shell with a script of ours, as somebody uses it who types.

    Parameters
    ----------
    folder
        That it is in.
    """

    def __init__(self, shell: str, script: Path, folder: Path) -> None:
        import pty
        import tty

        self._mine, other = pty.openpty()
        # Keys that come between two lines are bash's, not the terminal's.
        tty.setraw(other)
        given = {"PATH": os.environ["PATH"], "TERM": "dumb", "HISTFILE": "", "INPUTRC": os.devnull}
        self._process = subprocess.Popen(
            COMMANDS[shell],
            stdin=other,
            stdout=other,
            stderr=other,
            cwd=folder,
            env=given,
            start_new_session=True,
        )
        os.close(other)
        self._told(f"{BEGIN[shell]}source '{script}'; printf '<''<>>'\n")

    def line(self, keys: str) -> str:
        """Return the line after some keys."""
        return self._told(keys + TELL + EMPTY)

    def _told(self, keys: str) -> str:
        os.write(self._mine, keys.encode())
        text, end = "", time.monotonic() + 30
        while not (found := re.search("<<(.*)>>", text)):
            assert time.monotonic() < end, text
            if select.select([self._mine], [], [], 1)[0]:
                text += os.read(self._mine, 65_536).decode()
        return found[1].rstrip("\r")

    def offered(self, line: str) -> set[str]:
        """Return what is offered at the end of a line."""
        before = line.rpartition(" ")[0]
        return set(self.line(line + ALL).removeprefix(before).split())

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._mine)


@pytest.fixture
def scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Path]:
    """The scripts of all shells, as the verb prints them."""
    found = {}
    for shell in SCRIPTS:
        assert main(["completion", shell]) == 0
        found[shell] = tmp_path / shell
        found[shell].write_text(capsys.readouterr().out)
    return found


def in_terminal(shell: str, scripts: dict[str, Path], tmp_path: Path) -> Iterator[Terminal]:
    """Yield a shell in a folder with one file."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    pytest.importorskip("pty", reason="there are no terminals")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a sea.json").touch()
    terminal = Terminal(shell, scripts[shell], folder)
    yield terminal
    terminal.close()


@pytest.fixture
def bash(scripts: dict[str, Path], tmp_path: Path) -> Iterator[Terminal]:
    yield from in_terminal("bash", scripts, tmp_path)


@pytest.fixture
def zsh(scripts: dict[str, Path], tmp_path: Path) -> Iterator[Terminal]:
    yield from in_terminal("zsh", scripts, tmp_path)


@pytest.mark.slow
def test_bash(bash: Terminal) -> None:
    assert bash.offered("refbrowser ") == {*(tool.name for tool in BUILT_IN), "help"}
    assert bash.offered("refbrowser help co") == {"commit", "compact", "config", "completion"}
    assert bash.line("refbrowser -q au\t") == "refbrowser -q audit "
    assert bash.line("X=1 refbrowser au\t") == "X=1 refbrowser audit "
    assert bash.line("true; refbrowser au\t") == "true; refbrowser audit "
    # Options, and what follows them.
    assert bash.offered("refbrowser audit x.json --re") == {"--resume", "--report"}
    assert bash.offered("refbrowser audit --level ") == {"set", "stat", "sample", "full"}
    assert bash.line("refbrowser audit --level=sa\t") == "refbrowser audit --level=sample "
    assert bash.offered("refbrowser export x.json y --to ") == set(written())
    assert bash.line("refbrowser export x.json y --codec gz\t").startswith(
        "refbrowser export x.json y --codec gzip"
    )
    assert bash.line("refbrowser export x --codec zstd:\t") == "refbrowser export x --codec zstd:3 "
    actions = {"show", "get", "set", "add", "unset", "path"}
    assert bash.offered("refbrowser config ") == {*actions, *SETTINGS}
    assert bash.line("refbrowser config get sto\t") == "refbrowser config get storage-option "
    assert bash.line("refbrowser man au\t") == "refbrowser man audit "
    assert "--screenshot" in bash.offered("refbrowser --")
    assert bash.offered("refbrowser --theme ") == {"light", "dark", "contrast-light", "contrast-dark"}
    # Files, and what is none.
    assert bash.line("refbrowser info a\t") == r"refbrowser info a\ sea.json "
    assert bash.line("refbrowser audit --report a\t") == r"refbrowser audit --report a\ sea.json "
    assert bash.line("refbrowser audit --array a\t") == "refbrowser audit --array a"


@pytest.mark.slow
def test_zsh(zsh: Terminal) -> None:
    assert zsh.offered("refbrowser help co") == {"commit", "compact", "config", "completion"}
    assert zsh.line("refbrowser au\t") == "refbrowser audit "
    assert zsh.offered("refbrowser audit --level ") == {"set", "stat", "sample", "full"}
    assert zsh.offered("refbrowser audit x.json --re") == {"--resume", "--report"}
    assert zsh.line("refbrowser audit --level=sa\t") == "refbrowser audit --level=sample "
    assert zsh.line("refbrowser export x --codec zstd:\t") == "refbrowser export x --codec zstd:3 "
    assert zsh.line("refbrowser config get sto\t") == "refbrowser config get storage-option "
    assert zsh.line("refbrowser info a\t") == r"refbrowser info a\ sea.json "
    assert zsh.line("refbrowser read a\t") == r"refbrowser read a\ sea.json "
    assert zsh.line("refbrowser audit --array a\t") == "refbrowser audit --array a"


def test_foreign_tools_are_offered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with fixture_tool.found(monkeypatch):
        for shell in SCRIPTS:
            assert main(["completion", shell]) == 0
            shown = capsys.readouterr().out
            assert "span" in shown
            assert "decimals" in shown


def test_a_foreign_tool_that_fails_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Tool(name="brittle", heading=Heading.LOOK, words="fail", request="fixture_tool:absent")
    monkeypatch.setattr("refbrowser.tools.completion.verb.tools", lambda: (*BUILT_IN, broken))
    assert main(["completion", "bash"]) == 0
    shown = capsys.readouterr()
    assert "brittle" not in shown.out
    assert "refbrowser: warning: the tool brittle of another package is left out: " in shown.err


def test_the_shell_has_to_be_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion"]) == 2
    assert main(["completion", "tcsh"]) == 2
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_scripts_can_be_read(shell: str, scripts: dict[str, Path]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    subprocess.run([shell, "-n", scripts[shell]], check=True)


@pytest.mark.slow
def test_fish(scripts: dict[str, Path]) -> None:
    if shutil.which("fish") is None:
        pytest.skip("there is no fish")

    def offered(line: str) -> list[str]:
        command = ["fish", "--no-config", "-c", f"source {scripts['fish']}; complete -C '{line}'"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return [each.partition("\t")[0] for each in done.stdout.splitlines()]

    assert offered("refbrowser au") == ["audit"]
    assert set(offered("refbrowser audit --level ")) == {"set", "stat", "sample", "full"}
    assert set(offered("refbrowser audit --re")) == {"--resume", "--report"}
    assert set(offered("refbrowser help comp")) == {"compact", "completion"}
