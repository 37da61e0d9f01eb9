"""Writes what pip would install as requirements with hashes: python constraints.py REPORT (see `lock.sh`)."""

from __future__ import annotations

import json
import platform
import re
import sys
from pathlib import Path
from typing import Any

OWN = "refbrowser"


def lines(report: dict[str, Any]) -> list[str]:
    """Return a requirement for each package of a report of pip (``--report``), but for the project itself.

    Raises
    ------
    ValueError
        A package has no hash: it does not come from an index.
    """
    found = []
    for item in report["install"]:
        name = re.sub(r"[-_.]+", "-", item["metadata"]["name"]).lower()
        if name == OWN:
            continue
        digest = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
        if digest is None:
            raise ValueError(f"there is no hash of {name}")
        found.append(f"{name}=={item['metadata']['version']} --hash=sha256:{digest}")
    return sorted(found)


def main() -> None:
    """Write the requirements of the report that is named."""
    report = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    of = f"{platform.python_implementation()} {'.'.join(platform.python_version_tuple()[:2])}"
    system = f"{platform.system()} {platform.machine()}"
    head = f"# For {of} on {system}, by packaging/lock.sh: what the project and its tests need."
    sys.stdout.write("\n".join([head, *lines(report)]) + "\n")


if __name__ == "__main__":
    main()
