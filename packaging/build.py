"""Build the sdist and the wheel of a commit: the same commit gives the same bytes, wherever that is done.

``python packaging/build.py [COMMIT] [--output FOLDER]`` builds what is committed, with the setuptools that is
locked. Times are that of the commit; owners and permissions of this machine do not go in. The wheel is built
from the sdist, which thereby holds all that it takes.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Zip files know no time before 1980.
_FIRST_TIME = 315532800
_BACKEND = "import sys, setuptools.build_meta as backend; getattr(backend, sys.argv[1])(sys.argv[2])"


def main() -> None:
    """Build what the arguments ask for, and name the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("commit", nargs="?", default="HEAD", help="HEAD where none is named")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "dist", help="a folder; dist where none is named"
    )
    arguments = parser.parse_args()
    for path in build(arguments.commit, arguments.output):
        sys.stdout.write(f"{path}\n")


def build(commit: str, output: Path) -> list[Path]:
    """Build both from a commit, and return their paths."""
    os.umask(0o022)
    time = max(_FIRST_TIME, int(_git("log", "-1", "--format=%ct", commit)))
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _unpack(_git("-c", "tar.umask=0022", "archive", "--format=tar", commit), folder / "commit")
        sdist = _built("build_sdist", folder / "commit", folder / "made", time)
        content = _as_anywhere(gzip.decompress(sdist.read_bytes()), time)
        sdist.write_bytes(gzip.compress(content, mtime=time))
        _unpack(content, folder / "sdist")
        (tree,) = (folder / "sdist").iterdir()
        wheel = _built("build_wheel", tree, folder / "made", time)
        return [Path(shutil.copy(path, output)) for path in (sdist, wheel)]


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, stdout=subprocess.PIPE).stdout


def _unpack(content: bytes, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")


def _built(hook: str, source: Path, output: Path, time: int) -> Path:
    """Return what a hook of the backend makes of a folder."""
    before = set(output.iterdir()) if output.exists() else set()
    output.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(backend()),
        "SOURCE_DATE_EPOCH": str(time),
        "TZ": "UTC",
    }
    command = [sys.executable, "-c", _BACKEND, hook, str(output)]
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{hook} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    (made,) = set(output.iterdir()) - before
    return made


def backend() -> Path:
    """Return the folder of the setuptools that is locked; it is fetched once in a checkout."""
    locked = (ROOT / "packaging" / "locked-test.txt").read_text("utf-8")
    found = re.search(r"^setuptools==(\S+).*?(?=^\S)", f"{locked}end", re.MULTILINE | re.DOTALL)
    assert found is not None
    folder = ROOT / ".cache" / f"setuptools-{found[1]}"
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as name:
            wanted = Path(name) / "wanted.txt"
            wanted.write_text(found[0], "utf-8")
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            command += ["--no-deps", "--no-compile", "--require-hashes", "--requirement", str(wanted)]
            made = Path(name) / "made"
            subprocess.run([*command, "--target", str(made)], check=True)
            made.rename(folder)
    return folder


def _as_anywhere(content: bytes, time: int) -> bytes:
    """Return a tar archive with nothing of the machine that packed it."""
    made = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(content)) as archive,
        tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as packed,
    ):
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            packed.addfile(member, archive.extractfile(member) if member.isfile() else None)
    return made.getvalue()


if __name__ == "__main__":
    main()
