"""Git in a checkout, as somebody whom no settings of this machine name."""

from __future__ import annotations

import subprocess
from pathlib import Path

_SOMEBODY = ("user.name=somebody", "user.email=somebody@example.com", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, and return what it prints."""
    settings = [word for setting in _SOMEBODY for word in ("-c", setting)]
    command = ["git", "-C", str(folder), *settings, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
