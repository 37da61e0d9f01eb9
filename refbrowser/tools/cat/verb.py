"""Write the stored bytes of one key, undecoded, to standard output."""

from __future__ import annotations

import argparse

from refbrowser.cli.console import write_bytes, write_json
from refbrowser.cli.options import add_json, add_reading, add_templates, add_yes, open_dataset
from refbrowser.io.cancel import CancelToken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="PATH", help="what to open")
    parser.add_argument("key", metavar="KEY", help="for example temp/0.0.0 or temp/.zattrs")
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Read the key and write its bytes."""
    with open_dataset(arguments, token) as dataset:
        data = dataset.read_key(arguments.key, token)
    if arguments.json:
        write_json({"key": arguments.key, "size": len(data), "bytes": {"hex": bytes(data).hex()}})
    else:
        write_bytes([data])
    return 0
