"""List public datasets of the field that can be opened by their URL; nothing is asked of them."""

from __future__ import annotations

import argparse

from refbrowser.cli.console import write_json, write_line
from refbrowser.cli.options import add_json
from refbrowser.io.cancel import CancelToken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_json(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """List them."""
    from refbrowser.tools.samples.public import samples

    if arguments.json:
        write_json({"samples": [each._asdict() for each in samples()]})
        return 0
    for each in samples():
        write_line(f"{each.name}: {each.words} ({each.format})")
        allowed = f" --allow {each.allow}" if each.allow else ""
        write_line(f"    refbrowser {each.url}{allowed}")
    return 0
