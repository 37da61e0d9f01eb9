"""What other software read of an export, as lines and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import plain, write_line

if TYPE_CHECKING:
    from refbrowser.exporting.check import CheckReport


def check_as_json(checked: CheckReport) -> dict[str, Any]:
    """Return the report as plain JSON values."""
    return {
        "equal": checked.is_equal,
        "programs": {program.name: program.version for program in checked.programs},
        "notes": list(checked.notes),
        "items": [
            {
                "program": item.program,
                "path": item.path,
                "what": item.what,
                "equal": item.is_equal,
                "expected": item.expected,
                "found": item.found,
                "scope": item.scope,
            }
            for item in checked.items
        ],
    }


def write_check(checked: CheckReport) -> None:
    """Write the report: what is equal in one line for each program, every difference by name."""
    for note in checked.notes:
        write_line(plain(note))
    for program in checked.programs:
        items = [item for item in checked.items if item.program == program.name]
        equal = [item for item in items if item.is_equal]
        arrays = {item.path for item in equal if item.what == "values"}
        write_line(
            f"{program.name} {program.version}: {len(equal)} of {len(items)} comparisons equal, "
            f"values of {len(arrays)} arrays"
        )
        for item in items:
            if not item.is_equal:
                write_line(
                    f"{program.name}: {plain(item.path)}: {item.what}: "
                    f"expected {plain(item.expected)}, found {plain(item.found)}"
                )
            elif item.scope != "whole":
                write_line(f"{program.name}: {plain(item.path)}: {item.what}: {plain(item.scope)}")
