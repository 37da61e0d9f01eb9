"""Print a script that lets a shell complete verbs, options and their values, as they are now.

bash:  refbrowser completion bash > ~/.local/share/bash-completion/completions/refbrowser
zsh:   refbrowser completion zsh > ~/.zfunc/_refbrowser, with fpath=(~/.zfunc $fpath) before compinit
fish:  refbrowser completion fish > ~/.config/fish/completions/refbrowser.fish

Or for one session of bash: source <(refbrowser completion bash). What other packages add is in it; print it
again after one was installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from refbrowser.cli.console import plain, tell, write_json, write_line
from refbrowser.cli.options import add_further, add_json
from refbrowser.cli.program import parser_of, window_parser
from refbrowser.io.cancel import CancelToken
from refbrowser.tools.completion.command_words import VerbWords, verb_words
from refbrowser.tools.completion.scripts import SCRIPTS
from refbrowser.tools.registry import is_built_in, tools


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("shell", choices=SCRIPTS, help="which shell it is for")
    add_json(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Print the script."""
    verbs = list(_verbs())
    script = SCRIPTS[arguments.shell](verbs, _without_verb())
    if arguments.json:
        write_json({"shell": arguments.shell, "script": script})
    else:
        write_line(script.rstrip("\n"))
    return 0


def _verbs() -> Iterator[VerbWords]:
    for tool in tools():
        if not tool.is_installed:
            continue
        try:
            yield _words(tool.name, tool.words, parser_of(tool))
        except Exception as error:
            if is_built_in(tool.name):
                raise
            tell(f"refbrowser: warning: the tool {tool.name} of another package is left out: {plain(error)}")


def _words(name: str, about: str, parser: argparse.ArgumentParser) -> VerbWords:
    add_further(parser)
    return verb_words(name, about, parser)


def _without_verb() -> VerbWords:
    """Return what can be typed where the window is opened, or before a verb."""
    return verb_words("", "open the window", window_parser())
