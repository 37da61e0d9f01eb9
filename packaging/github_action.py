"""What the GitHub Action runs: refbrowser on what its inputs name, with annotations. It needs nothing else.

Inputs come in environment variables (`action.yml`), and are never put into a command of a shell. What
refbrowser prints is no command to the runner, whatever a file is called or says.
"""

from __future__ import annotations

import glob
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

#: What the action runs; others write.
VERBS = ("check", "audit", "diff")
#: How it ends where an input is of no use, as refbrowser does.
_USAGE = 2


def expanded(lines: Iterable[str]) -> list[str]:
    """Return the paths that lines say: names and URLs as they are, patterns as the files that are like them.

    Raises
    ------
    ValueError
        Nothing is like a pattern.
    """
    found: list[str] = []
    for line in filter(None, map(str.strip, lines)):
        if os.path.lexists(line) or "://" in line or not glob.has_magic(line):
            found.append(line)
            continue
        like = sorted(glob.glob(line, recursive=True))
        if not like:
            raise ValueError(f"no file is like {line!r}")
        found += like
    return found


def command_of(inputs: Mapping[str, str]) -> list[str]:
    """Return the arguments of refbrowser that inputs say.

    Raises
    ------
    ValueError
        An input is of no use.
    """
    verb = inputs.get("REFBROWSER_VERB", "")
    if verb not in VERBS:
        raise ValueError(f"the input verb is {verb!r}, not one of {', '.join(VERBS)}")
    paths = expanded(inputs.get("REFBROWSER_PATHS", "").splitlines())
    if not paths:
        raise ValueError("the input paths is empty")
    options = shlex.split(inputs.get("REFBROWSER_OPTIONS", ""))
    for name in ("html", "junit"):
        if file := inputs.get(f"REFBROWSER_{name.upper()}"):
            options.append(f"--{name}={file}")
    return [verb, *options, "--", *paths]


def run(inputs: Mapping[str, str]) -> int:
    """Run refbrowser, show annotations, and return its exit code."""
    try:
        verb, *rest = command_of(inputs)
    except ValueError as error:
        _tell(f"::error title=refbrowser::{_escaped(str(error))}")
        return _USAGE
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "annotations")
        wanted = [f"--annotations={notes}"] if inputs.get("REFBROWSER_ANNOTATIONS") != "false" else []
        summary = Path(folder, "summary.md")
        if verb == "audit" and inputs.get("GITHUB_STEP_SUMMARY"):
            wanted.append(f"--report={summary}")
        # What a file is called may look like a command to the runner, unless it is told to look for none.
        word = secrets.token_hex(16)
        _tell(f"::stop-commands::{word}")
        # Isolated: what the folder of the job holds is not imported.
        done = subprocess.run([sys.executable, "-I", "-m", "refbrowser", verb, *wanted, *rest], check=False)
        _tell(f"::{word}::")
        if notes.exists():
            sys.stdout.buffer.write(notes.read_bytes())
            sys.stdout.flush()
        if summary.exists():
            with open(inputs["GITHUB_STEP_SUMMARY"], "ab") as page:
                page.write(summary.read_bytes())
    return ended(done.returncode)


def ended(code: int) -> int:
    """Return how a process ended as shells say it: one that a signal ended has a code of 128 and more."""
    return code if code >= 0 else 128 - code


def main(inputs: Mapping[str, str]) -> int:
    """Run it, tell the exit code to later steps, and return that of the step."""
    code = run(inputs)
    if file := inputs.get("GITHUB_OUTPUT"):
        with open(file, "a", encoding="utf-8") as output:
            output.write(f"exit-code={code}\n")
    return 0 if inputs.get("REFBROWSER_FAIL") == "false" else code


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


if __name__ == "__main__":
    sys.exit(main(os.environ))
