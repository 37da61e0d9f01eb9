"""Pages for man, made of what the parsers of verbs declare: nothing is said here that they do not say."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence

from refbrowser.errors import Outcome
from refbrowser.formats.option_fields import Option
from refbrowser.tools.tool import Tool
from refbrowser.version import __version__

#: What the program is called, and its page.
PROGRAM = "refbrowser"
#: Variables that are no settings, and what they say.
_VARIABLES = {
    "REFBROWSER_CONFIG": "the file of settings; none where it is empty",
    "XDG_CONFIG_HOME": "the folder in which refbrowser/config.toml holds settings, else ~/.config",
    "NETRC": "the netrc file that holds names and passwords, else ~/.netrc",
    "NO_COLOR": "no colours in the help, which Python has from 3.14 on; nothing else has any",
}
#: What argparse calls some groups.
_HEADINGS = {"positional arguments": "arguments"}


def page_name(verb: str) -> str:
    """Return the name of the page of a verb; that of the program where the verb is empty."""
    return f"{PROGRAM}-{verb}" if verb else PROGRAM


def verb_page(tool: Tool, parser: argparse.ArgumentParser, others: Sequence[str]) -> str:
    """Return the page of a verb.

    Parameters
    ----------
    others
        Verbs that are named below it.
    """
    lines = _begin(page_name(tool.name), tool.words)
    lines += [".SH SYNOPSIS", *_synopsis(f"{PROGRAM} {tool.name}", parser)]
    lines += [".SH DESCRIPTION", *_paragraphs(parser.description or "")]
    lines += _arguments(parser)
    lines += _below("EXAMPLES", [".nf", *(f"{_text(each)}" for each in tool.examples), ".fi"])
    names = [PROGRAM, *map(page_name, others)]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{_text(name)}\\fR(1)" for name in names)]
    return "\n".join(lines) + "\n"


def program_page(
    about: str,
    headings: dict[str, list[Tool]],
    parser: argparse.ArgumentParser,
    formats: Iterable[str],
    settings: dict[str, str],
) -> str:
    """Return the page of the program: its verbs, its own options, and what holds for all verbs.

    Parameters
    ----------
    about
        What it is, in paragraphs.
    headings
        The verbs, below what they are listed under.
    formats
        What can be opened, a line each.
    settings
        What environment variables say, by their names.
    """
    lines = _begin(PROGRAM, "open, understand, repair and export datasets described by references")
    # A verb and its options, or what is opened.
    lines += [
        ".SH SYNOPSIS",
        f".B {PROGRAM}",
        "[\\fIPATH\\fR...]",
        ".br",
        f".B {PROGRAM}",
        "\\fIVERB\\fR ...",
    ]
    lines += [".SH DESCRIPTION", *_paragraphs(about)]
    lines.append(".SH VERBS")
    for heading, tools in headings.items():
        lines += [f".SS {_text(heading[:1].upper() + heading[1:])}"]
        for tool in tools:
            lines += [".TP", f"\\fB{_text(page_name(tool.name))}\\fR(1)", _text(tool.words)]
    lines += _arguments(parser)
    lines += [".SH FORMATS", ".nf", *map(_text, formats), ".fi"]
    lines += [".SH ENVIRONMENT", *_listed({**settings, **_VARIABLES})]
    lines += [".SH EXIT STATUS", *_listed({str(code): words for code, words in _ends().items()})]
    return "\n".join(lines) + "\n"


def _ends() -> dict[int, str]:
    """Return what each exit code says, in words."""
    found: dict[int, list[str]] = {}
    for outcome in Outcome:
        found.setdefault(outcome.exit_code, []).append(str(outcome))
    return {code: ", ".join(words) for code, words in sorted(found.items())}


def _begin(name: str, words: str) -> list[str]:
    title = f'.TH {_text(name.upper())} 1 "" "{PROGRAM} {__version__}" "User commands"'
    return [title, ".SH NAME", f"{_text(name)} \\- {_text(words)}"]


def _below(heading: str, lines: list[str]) -> list[str]:
    return [f".SH {heading}", *lines] if len(lines) > 2 else []


def _synopsis(command: str, parser: argparse.ArgumentParser) -> list[str]:
    places = [_place(each) for each in parser._actions if not each.option_strings]
    return [f".B {_text(command)}", "[\\fIOPTION\\fR...]", *places]


def _place(action: argparse.Action) -> str:
    name = f"\\fI{_text(_value(action))}\\fR"
    return {"?": f"[{name}]", "*": f"[{name}...]", "+": f"{name}..."}.get(str(action.nargs), name)


def _value(action: argparse.Action) -> str:
    if action.metavar:
        return action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    return "|".join(map(str, action.choices)) if action.choices else action.dest.upper()


def _arguments(parser: argparse.ArgumentParser) -> list[str]:
    """Return what stands behind the verb: places first, then options below their headings."""
    lines: list[str] = []
    for group in parser._action_groups:
        actions = [each for each in group._group_actions if each.help != argparse.SUPPRESS]
        if actions:
            title = _HEADINGS.get(group.title or "", group.title or "options")
            lines += [f".SH {_text(title.upper())}"]
            lines += [line for each in actions for line in _argument(each)]
    return lines


def _argument(action: argparse.Action) -> Iterator[str]:
    yield ".TP"
    if not action.option_strings:
        yield _place(action)
    else:
        value = "" if action.nargs == 0 else f" \\fI{_text(_value(action))}\\fR"
        yield ", ".join(f"\\fB{_text(flag)}\\fR{value}" for flag in action.option_strings)
    yield _text((action.help or "").replace("%%", "%")) or "\\&"
    option: Option | None = getattr(action, "option", None)
    offered = [*map(str, action.choices or (() if option is None else option.offered))]
    if offered and action.metavar:
        yield f"({_text(', '.join(offered))})"


def _listed(items: dict[str, str]) -> list[str]:
    return [line for name, words in items.items() for line in (".TP", f"\\fB{_text(name)}\\fR", _text(words))]


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs; lines that are indented, or set out in columns, stay as they are."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ".PP"
        lines = paragraph.split("\n")
        if len(lines) > 1 and any(re.search(r"^\s|\S  \S", line) for line in lines):
            yield from (".nf", *map(_text, lines), ".fi")
        else:
            yield _text(" ".join(line.strip() for line in lines))


def _text(text: str) -> str:
    """Return text as troff reads it: no character of it begins a request or an escape."""
    found = " ".join(text.split("\n")).replace("\\", "\\e").replace("-", "\\-")
    found = "".join(each if each.isascii() else f"\\[u{ord(each):04X}]" for each in found)
    return f"\\&{found}" if found[:1] in (".", "'") else found
