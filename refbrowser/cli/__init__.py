"""The command line: every verb is one call of the layers below."""

from refbrowser.cli.program import main

__all__ = ["main"]
