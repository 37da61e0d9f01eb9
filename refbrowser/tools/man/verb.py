"""Print a page for man: of the program, or of a verb; or write all of them to a folder.

refbrowser man audit | man -l -      shows the page of a verb
refbrowser man -o ~/.local/share/man/man1      lets man find them all

They are made of the help, as it is now; what other packages add has pages, too.
"""

from __future__ import annotations

import argparse
import os

from refbrowser.cli.console import plain, tell, write_json, write_line
from refbrowser.cli.options import add_further, add_json
from refbrowser.cli.program import ABOUT, HOW, parser_of, tool_of, window_parser
from refbrowser.cli.settings import SETTINGS
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.tools.man.man_pages import page_name, program_page, verb_page
from refbrowser.tools.registry import BUILT_IN, headings, is_built_in, tools
from refbrowser.tools.tool import Tool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    words = "whose page is printed; else the program's"
    named = parser.add_argument("verb", metavar="VERB", nargs="?", help=words)
    # What shells offer.
    vars(named)["offered"] = tuple(tool.name for tool in BUILT_IN)
    parser.add_argument("-o", "--output", metavar="DIR", help="write all pages to this folder")
    add_json(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Print a page, or write them."""
    if arguments.output is None:
        name = page_name(arguments.verb or "")
        page = _page(tool_of(arguments.verb)) if arguments.verb else _program()
        if arguments.json:
            write_json({"pages": {f"{name}.1": page}})
        else:
            write_line(page.rstrip("\n"))
        return 0
    if arguments.verb:
        raise RefbrowserError(ErrorKind.USAGE, "with -o all pages are written: give no verb")
    written = _write(arguments.output)
    if arguments.json:
        write_json({"written": written})
    else:
        tell(f"{len(written)} pages are in {plain(arguments.output)}")
    return 0


def _page(tool: Tool) -> str:
    others = [each.name for each in headings()[tool.heading] if each.name != tool.name and each.is_installed]
    parser = parser_of(tool)
    add_further(parser)
    return verb_page(tool, parser, others)


def _program() -> str:
    from refbrowser.formats import registry

    about = f"{ABOUT}\n\n{HOW}"
    known = {
        str(heading): [each for each in found if each.is_installed] for heading, found in headings().items()
    }
    formats = (each.brief for each in registry.openable())
    settings = {each.variable(name): each.words for name, each in SETTINGS.items()}
    return program_page(about, known, window_parser(), formats, settings)


def _write(folder: str) -> list[str]:
    """Write all pages to a folder; return their paths."""
    from refbrowser.io.files.atomic import write_atomically

    os.makedirs(folder, exist_ok=True)
    pages = {page_name(""): _program()}
    for tool in tools():
        if not tool.is_installed:
            continue
        try:
            pages[page_name(tool.name)] = _page(tool)
        except Exception as error:
            if is_built_in(tool.name):
                raise
            tell(f"refbrowser: warning: the tool {tool.name} of another package is left out: {plain(error)}")
    paths = []
    for name, page in pages.items():
        paths.append(os.path.join(folder, f"{name}.1"))
        write_atomically(paths[-1], [page.encode()])
    return paths
