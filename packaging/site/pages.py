"""Write the pages of the site, as Markdown for Sphinx: ``python pages.py FOLDER RESULTS.json``.

Those of the manual are taken as they are; all that is listed of verbs, functions, formats, codecs and limits
is made from the tables of the program.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterable
from inspect import isclass, ismodule
from pathlib import Path

import refbrowser
from refbrowser.app.actions.menus import menus
from refbrowser.app.dialogs.manual_window import PAGES, SECTIONS, read_page
from refbrowser.app.dialogs.shortcut_list import title_of
from refbrowser.cli.program import parser_of
from refbrowser.codecs.table import CODECS
from refbrowser.formats.registry import BUILT_IN as FORMATS
from refbrowser.limits import LIMITS
from refbrowser.tools.registry import BUILT_IN as TOOLS
from refbrowser.tools.tool import Heading, Tool

CHECKOUT = Path(__file__).resolve().parents[2]
#: What documents of the checkout are pages of the site, by their names there.
DOCUMENTS = {"changes": "CHANGELOG.md", "security": "SECURITY.md"}


def write_pages(folder: Path, results: Path) -> None:
    """Write all pages and what they show into a folder.

    Parameters
    ----------
    results
        What `conformance.py` wrote; the page says so where there is none.
    """
    pages = {
        "index": landing(),
        **{f"manual/{name}": manual_page(name) for name in PAGES},
        "verbs/index": verbs(),
        **{f"verbs/{tool.name}": verb(tool) for tool in TOOLS},
        "api": api(),
        "formats": formats(),
        "codecs": codecs(),
        "limits": limits(),
        "conformance": conformance(results),
        **{name: document(file) for name, file in DOCUMENTS.items()},
    }
    for name, text in pages.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    shutil.copytree(CHECKOUT / "resources/pictures", folder / "pictures")


# The manual


def landing() -> str:
    """Return the first page: what it is, how it looks, how to begin, and where everything is."""
    readme = (CHECKOUT / "README.md").read_text("utf-8")
    about = readme.split("\n\n", 1)[1].split("\n![", 1)[0].strip()
    why = readme.split("\n## Why\n", 1)[1].split("\n## ", 1)[0].strip()
    trees = [toctree(heading, [f"manual/{name}" for name in names]) for heading, names in SECTIONS.items()]
    trees.append(toctree("Reference", ["verbs/index", "api", "formats", "codecs", "limits", "conformance"]))
    trees.append(toctree("The project", list(DOCUMENTS)))
    begin = [
        "[Your first set](manual/tutorial_first.md): ten minutes, and nothing else is needed",
        "[How do I…](manual/tasks.md): mend a set whose files moved, combine files, compare two versions",
        "[Why is my value missing?](manual/why_missing.md)",
        "[What a virtual dataset is](manual/virtual_stores.md), and [its words](manual/glossary.md)",
        "[Coming from other tools](manual/coming_from.md): kerchunk, VirtualiZarr, GDAL, netCDF-Java, ncview",
        "[All verbs](verbs/index.md), and [all functions](api.md)",
    ]
    return "\n\n".join(
        [
            "# refbrowser",
            about,
            "![The window with the sample](pictures/window.png)",
            "## Begin",
            "\n".join(f"* {each}" for each in begin),
            "## Why",
            why,
            *trees,
        ]
    )


def toctree(caption: str, pages: Iterable[str]) -> str:
    """Return what places pages below a heading in the list of all pages."""
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"])


def manual_page(name: str) -> str:
    """Return a page of the manual; what leads to actions of the window says where these are."""
    where = {
        spec.name: f"{menu.replace('&', '')} > {title_of(spec).replace(': ', ' > ')}"
        for menu, specs in menus().items()
        for spec in specs
        if spec
    }

    def named(link: re.Match[str]) -> str:
        text, action = link.groups()
        place = where.get(action, "")
        return f"*{text}*" if text == place or not place else f"{text} (*{place}*)"

    return re.sub(r"\[([^\]]+)\]\(action:(\w+)\)", named, read_page(name).text)


def document(name: str) -> str:
    """Return a document of the checkout; what it names of the checkout is no link here."""
    text = (CHECKOUT / name).read_text("utf-8")
    return re.sub(r"\[([^\]]+)\]\((?!https:)[^)]+\)", r"\1", text)


# Reference


def verbs() -> str:
    """Return the page that lists all verbs."""
    parts = [
        "# Verbs",
        "`refbrowser help VERB` says the same in a terminal. [What verbs share](../manual/command_line.md).",
    ]
    for heading in Heading:
        rows = [(f"[{tool.name}]({tool.name}.md)", tool.words) for tool in TOOLS if tool.heading is heading]
        if rows:
            parts += [f"## {heading.value.capitalize()}", table(("verb", "does"), rows)]
    parts.append(toctree("Verbs", [tool.name for tool in TOOLS]))
    return "\n\n".join(parts)


def verb(tool: Tool) -> str:
    """Return the page of a verb: what its help says."""
    parser = parser_of(tool)
    described = " ".join((parser.description or "").split())
    parts = [f"# refbrowser {tool.name}", described, fenced("text", usage(parser))]
    for group in parser._action_groups:
        rows = [
            (f"`{spelled(action)}`", " ".join((action.help or "").replace("%%", "%").split()))
            for action in group._group_actions
            if action.help != argparse.SUPPRESS
        ]
        if rows:
            heading = (group.title or "").removeprefix("positional ").capitalize()
            parts += [f"## {heading}", table(("", ""), rows)]
    parts += ["## Examples", fenced("sh", "\n".join(tool.examples))]
    if tool.synonyms:
        parts.append(f"Who looks for {', '.join(f'*{each}*' for each in tool.synonyms)} is led here.")
    return "\n\n".join(parts)


def usage(parser: argparse.ArgumentParser) -> str:
    """Return how a verb is called, without the options, which are listed."""
    arguments = [
        spelled(action) if action.nargs != "?" else f"[{spelled(action)}]"
        for action in parser._get_positional_actions()
    ]
    return " ".join([parser.prog, *arguments, "[OPTIONS]"])


def spelled(action: argparse.Action) -> str:
    """Return how an argument is given."""
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest)
    value = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return value
    takes = action.nargs != 0
    return ", ".join(action.option_strings) + (f" {value}" if takes else "")


def api() -> str:
    """Return the page of what programs get, from its docstrings."""
    functions, classes, modules = [], [], []
    for name in refbrowser.__all__:
        value = getattr(refbrowser, name)
        if ismodule(value):
            modules.append(name)
        elif isclass(value):
            classes.append(name)
        elif callable(value):
            functions.append(name)
    parts = [
        "# Functions and classes",
        "What `import refbrowser` gives. [In Python](manual/python.md) shows it in use.",
        "## Functions",
        *(directive("autofunction", f"refbrowser.{name}") for name in functions),
        "## Classes",
        *(directive("autoclass", f"refbrowser.{name}", "members") for name in classes),
    ]
    for name in modules:
        parts += [
            f"## refbrowser.{name}",
            directive("automodule", f"refbrowser.{name}", "members", "imported-members"),
        ]
    return "\n\n".join(parts)


def directive(kind: str, name: str, *options: str) -> str:
    """Return a directive of Sphinx that documents something of Python."""
    lines = [f".. {kind}:: {name}", *(f"   :{option}:" for option in options)]
    return fenced("{eval-rst}", "\n".join(lines))


def formats() -> str:
    """Return the page of formats: what is read, and what is written."""
    read = [(each.title, endings(each.suffixes), each.holds) for each in FORMATS if each.opener]
    written = [
        (f"`{form.name}`", form.title, form.unit, "yes" if form.resumes else "")
        for each in FORMATS
        for form in each.writes
    ]
    return "\n\n".join(
        [
            "# Formats",
            "## Read",
            table(("format", "names end with", "holds"), read),
            "## Written",
            "`refbrowser export PATH TARGET --to NAME`; see [Export](manual/export.md).",
            table(("name", "is", "of", "goes on after an interruption"), written),
        ]
    )


def endings(suffixes: Iterable[str]) -> str:
    """Return suffixes as words."""
    return ", ".join(f"`{each}`" for each in suffixes)


def codecs() -> str:
    """Return the page of codecs."""
    rows = [
        (
            f"`{each.name}`",
            f"`{each.v3}`" if each.v3 else "",
            each.kind.value,
            "read" if each.only_decodes else "read, written",
            f"`{each.package}`" if each.package else "",
        )
        for each in sorted(CODECS.values(), key=lambda each: each.name)
    ]
    return "\n\n".join(
        [
            "# Codecs",
            "Those of other installed packages decode, too, once you [allow](manual/permissions.md) it.",
            table(("name (Zarr v2, numcodecs)", "Zarr v3", "is", "", "needs"), rows),
        ]
    )


def limits() -> str:
    """Return the page of limits."""
    rows = [
        (f"`{name}`", f"{value:,}" if isinstance(value, int) else str(value), unit, words)
        for name, value, unit, words in LIMITS.rows()
    ]
    return "\n\n".join(
        [
            "# Limits",
            "Each loop, allocation and wait over what others wrote has a limit. `refbrowser limits` prints "
            "those in force.",
            table(("name", "value", "unit", "of"), rows),
        ]
    )


def conformance(results: Path) -> str:
    """Return the page of results against other software."""
    parts = [
        "# Conformance",
        "Each format is held against software that others wrote: what they read must be equal, value by "
        "value, and what we write they must read. These are the tests that do so, as they were run for this "
        "version.",
    ]
    if not results.is_file():
        return "\n\n".join([*parts, "They were not run for this site."])
    found = json.loads(results.read_text("utf-8"))
    rows = [
        (each["subject"], each["judge"], str(each["passed"]), str(each["failed"]), str(each["skipped"]))
        for each in found["subjects"]
    ]
    versions = [(f"`{name}`", version) for name, version in found["versions"].items()]
    return "\n\n".join(
        [
            *parts,
            table(("", "judged by", "passed", "failed", "not run"), rows),
            f"Python {found['python']}, refbrowser {found['refbrowser']}, and:",
            table(("package", "version"), versions),
        ]
    )


# Markdown


def fenced(language: str, text: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text}\n```"


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    return "\n".join([line(heads), line("---" for _ in heads), *(line(map(cell, row)) for row in rows)])


def cell(text: str) -> str:
    """Return a text as it stands in a cell; HTML in it would be HTML of the page."""
    text = text.replace("|", "\\|").replace("\n", " ")
    return text if text.startswith("`") else text.replace("<", "\\<")


def main(arguments: list[str]) -> None:
    """Write the pages."""
    folder, results = map(Path, arguments)
    write_pages(folder, results)


if __name__ == "__main__":
    main(sys.argv[1:])
