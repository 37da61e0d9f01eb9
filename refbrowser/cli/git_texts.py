"""What git's drivers do with files that are no reference documents: compare and merge lines, as git does."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

from refbrowser.cli.console import plain_whole
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.references.merging.conflict_marks import marked

#: What git merge-file ends with where it could not merge, instead of the number of conflicts.
_FAILED = 128


def text_difference(name: str, old: str, new: str) -> Iterator[str]:
    """Yield how the lines of two files differ; nothing in them acts on a terminal."""
    git = shutil.which("git")
    if git is None:
        yield "  no reference document, and git is not there to compare its lines"
        return
    options = ["--no-pager", "diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color"]
    done = subprocess.run(
        [git, *options, "--", *map(_path, (old, new))],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    lines = done.stdout.decode("utf-8", "surrogateescape").split("\n")[:-1]
    first = next((at for at, line in enumerate(lines) if line.startswith("@@")), None)
    if first is None:
        yield "  no reference document, and no text: the bytes differ" if lines else "  nothing differs"
        return
    shown = plain_whole(name)
    yield from (f"--- a/{shown}", f"+++ b/{shown}")
    yield from (plain_whole(line).replace("\\t", "\t") for line in lines[first:])


def write_committed(path: str, revision: str, target: str) -> bool:
    """Write what git has of a file at a revision, as it is there; False where it has none.

    Nothing that a repository sets up is run for that.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such revision; `E_IO`: git is not there, or the file is in no repository.
    """
    git = shutil.which("git")
    if git is None:
        raise RefbrowserError(ErrorKind.IO, "git is not there, which keeps what files were")
    folder, name = os.path.split(os.path.abspath(path))
    # Of what is not here git asks the place that the repository names, by a program that it may name, too.
    here_alone = {**os.environ, "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}

    def asked(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [git, "-C", folder, *arguments]
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=here_alone
        )

    if asked("rev-parse", "--git-dir").returncode:
        raise RefbrowserError(ErrorKind.IO, "the file is in no repository of git", Place(path=path))
    known = asked("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if known.returncode:
        # Before the first commit there is none to be compared with.
        if revision == "HEAD" and asked("symbolic-ref", "--quiet", "HEAD").returncode == 0:
            return False
        raise RefbrowserError(ErrorKind.USAGE, f"git has no revision {quoted(revision)} here")
    blob = f"{known.stdout.decode().strip()}:./{name}"
    if asked("rev-parse", "--verify", "--quiet", "--end-of-options", blob).returncode:
        return False
    if asked("cat-file", "-e", blob).returncode:
        message = f"git does not hold here what the file was at {quoted(revision)}"
        advice = "git show REVISION:FILE has it fetched, where the repository is trusted"
        raise RefbrowserError(ErrorKind.IO, message, Place(path=path), advice)
    with open(target, "xb") as file:
        command = [git, "-C", folder, "cat-file", "blob", blob]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, check=True, env=here_alone)
    return True


def merged_text(base: str, ours: str, theirs: str, name: str) -> tuple[bytes, bool]:
    """Return the lines of three files as git merges them, and whether conflicts are marked in them.

    Where git cannot merge them, both sides are marked.
    """
    git = shutil.which("git")
    if git is not None:
        labels = [f"{name} ({side})" for side in ("ours", "base", "theirs")]
        options = [each for label in labels for each in ("-L", label)]
        done = subprocess.run(
            [git, "merge-file", "-p", "-q", *options, *map(_path, (ours, base, theirs))],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if 0 <= done.returncode < _FAILED:
            return done.stdout, done.returncode > 0
    texts = []
    for path in (ours, theirs):
        with open(_path(path), "rb") as file:
            texts.append(file.read())
    return b"".join(marked(texts[0], texts[1], name)), texts[0] != texts[1]


def _path(path: str) -> str:
    """Return a path that is one for everybody, whatever it is called."""
    return path if path == os.devnull else os.path.abspath(path)
