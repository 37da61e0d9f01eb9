"""Print the JSON Schema (2020-12) of what a verb prints with --json; without a verb, which there are."""

from __future__ import annotations

import argparse
import json

from refbrowser.cli.console import write_json, write_lines
from refbrowser.cli.options import add_json
from refbrowser.io.cancel import CancelToken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    help_text = "of this verb; error: of what every verb prints on standard error where it fails; "
    help_text += "session: of the file of a session of the window"
    parser.add_argument("verb", nargs="?", metavar="VERB", help=help_text)
    add_json(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Print the schema, or the names of all."""
    from refbrowser.tools.schema.schemas import schema_names, schema_text

    if arguments.verb is None:
        if arguments.json:
            write_json(list(schema_names()))
        else:
            write_lines(schema_names())
    elif arguments.json:
        write_json(json.loads(schema_text(arguments.verb)))
    else:
        write_lines(schema_text(arguments.verb).splitlines())
    return 0
