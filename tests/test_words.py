"""One meaning a word, and plain words: what names a part of something, and what users are told."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from source import PACKAGE, Source, read

#: What users read beside the program's own messages.
PAGES = [PACKAGE.parent / "README.md", *sorted((PACKAGE.parent / "resources" / "manual").glob("*.md"))]

#: Words for a part of something, and where something may be named so, with why; elsewhere CONTRIBUTING.md has
#: another word. What Qt and libraries call so is used, not named, and does not count.
WORDS: dict[str, dict[str, str]] = {
    "hunk": {},
    "slab": {},
    "swath": {},
    "lump": {},
    "snip": {},
    "stretch": {"views/rows": "how much of the room that is left a column takes, as Qt says"},
    "tile": {
        "app/": "pictures of part of something",
        "tools/": "pictures of part of something",
        "views/chunks/chunk_pixels": "pictures of part of the chunk map",
        "wings/ncstream/": "what one message gives, as users say with --tile-size",
        "exporting/targets/": "what one message gives, as users say with --tile-size",
        "limits": "a limit that users may know by its name",
    },
    "piece": {
        "model/": "bytes that give elements of a part",
        "engine/": "bytes that give elements of a part",
        "formats/": "bytes that give elements of a part",
        "wings/": "bytes that give elements of a part",
        "views/": "bytes that give elements of a part",
        "tools/": "bytes that give elements of a part",
    },
    "segment": {"io/": "neighbouring ranges that are held in one buffer"},
    "fragment": {
        "references/rules/": "a constant, or a printed integer, of what a rule says",
        "app/dialogs/manual_window": "the end of a URL",
    },
    "section": {
        "app/": "what stands below one heading, and sections of streams",
        "views/": "what stands below one heading",
        "tools/": "what stands below one heading",
        "formats/": "parts of messages of GRIB, of CDL, as these call them",
        "wings/awkward0/views/": "what stands below one heading",
        "wings/awkward0/window/": "what stands below one heading",
        "wings/ncstream/": "what a message of a stream gives",
    },
}


def words(name: str) -> set[str]:
    """Return the words of a name, also without the ending of a plural."""
    found = {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}
    return found | {word.removesuffix("s") for word in found} | {word.removesuffix("es") for word in found}


def test_words_of_names_are_found(sources: list[Source]) -> None:
    assert {"tile", "table"} <= words("TileTable")
    assert {"slab", "size"} <= words("slab_size")
    assert "hunk" in words("_HUNKS")
    assert "stretch" in words("stretches")
    assert "tile" not in words("reptile")
    (segment,) = (source.named for source in sources if source.module == "refbrowser.io.access.segment")
    # A class, a function, an argument, an attribute and a variable of it.
    assert {"Segment", "read_segments", "location", "settled", "stop"} <= segment


@pytest.mark.slow
def test_words_for_a_part_of_something_have_one_meaning(sources: list[Source]) -> None:
    elsewhere, used = [], set()
    for source in sources:
        module = source.path.relative_to(PACKAGE).with_suffix("").as_posix()
        having: dict[str, list[str]] = {}
        for name in (*source.named, source.path.stem):
            for word in words(name) & set(WORDS):
                having.setdefault(word, []).append(name)
        for word, names in having.items():
            here = {(word, place) for place in WORDS[word] if module.startswith(place)}
            used |= here
            if not here:
                elsewhere.append(f"{module} calls something {', '.join(sorted(names))}")
    assert not elsewhere
    allowed = {(word, place) for word, places in WORDS.items() for place in places}
    assert allowed == used, "a place that names nothing so any more is to be taken off the list"


#: Words and phrases that users are not shown, as nobody says them so; beside each, what would do.
QUAINT = {
    "anew": "again; or a verb, such as rewrite",
    "another one": "another, or a different one",
    "as far from zero": "symmetric about zero",
    "as it was opened": "Opened",
    "attributes of the format": "format attributes",
    "begins? so": "begins this way",
    "comes? to a place": "moves to a place",
    "files of their own": "separate files",
    "from those who": "name who it is",
    "is none of": "is not one of",
    "is there already": "exists already",
    "its reader of": "its Kerchunk reader",
    "lies? elsewhere": "is in another place",
    "look for unsaved edits": "recover unsaved edits",
    "no rule or template makes": "rules and templates would not make",
    "nobody wrote": "read-only",
    "not the file of the lock": "changed since the lock",
    "of old": "old",
    "open what they made": "open the result",
    "processes of their own": "separate processes",
    "so it is for": "say what it is for",
    "stands? for no data": "means no data",
    "stands? one by one": "separate",
    "stored in parts": "assembled from parts",
    "takes nothing from": "refuses",
    "that gets": "say what it does",
    "what is none": "say what it is",
    "where files lie": "files and locations",
}
_QUAINT = re.compile(rf"\b(?:{'|'.join(QUAINT)})\b", re.IGNORECASE)


def quaint_words(text: str) -> list[str]:
    """Return which of these words a text has, over line ends, too."""
    return _QUAINT.findall(" ".join(text.split()))


def test_quaint_words_are_found(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""Begun anew."""\nname = 1\ntext = f"{name} is written anew", "servers of " "old"\n')
    source = read(module)
    found = [word for text in sorted(source.texts - source.docs) for word in quaint_words(text)]
    assert found == ["anew", "of old"]
    assert quaint_words("Files that\n  stand one\n by one") == ["stand one by one"]
    assert not quaint_words("a renewed folder of older files")


def test_no_message_is_quaint(sources: list[Source]) -> None:
    found = [
        f"{source.path.relative_to(PACKAGE)} says {words} in {text!r}"
        for source in sources
        for text in sorted(source.texts - source.docs)
        if (words := quaint_words(text))
    ]
    assert not found, "tests/test_words.py has better words"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_page_is_quaint(page: Path) -> None:
    assert not quaint_words(page.read_text("utf-8"))


#: Words of which a plural has another, beside those that get an s.
_PLURALS = [
    {"is", "are"}, {"was", "were"}, {"has", "have"}, {"does", "do"}, {"it", "they"}, {"it", "them"},
    {"its", "their"},
]  # fmt: skip


def _said(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "x" for each in node.values)
    return None


def _differ_by_number(one: str, other: str) -> bool:
    """Tell whether two texts say the same of one thing and of several."""
    if "" in (one, other):
        return one + other == "s"
    first, second = (set(re.findall(r"\w+", text)) for text in (one, other))
    return {one[0], other[0]} == {"s", " "} or any(
        {a, b} in _PLURALS or f"{a}s" == b or f"{b}s" == a for a in first - second for b in second - first
    )


def plurals_by_hand(tree: ast.AST) -> Iterator[str]:
    """Yield where code chooses between the words for one thing and for several."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.IfExp) or not isinstance(node.test, ast.Compare):
            continue
        limit = node.test.comparators[0]
        one, other = _said(node.body), _said(node.orelse)
        if one is None or other is None or one == other:
            continue
        if isinstance(limit, ast.Constant) and limit.value == 1 and _differ_by_number(one, other):
            yield ast.unparse(node)


def test_plurals_by_hand_are_found() -> None:
    code = """
f"{n} file{'s' if n != 1 else ''}"
"1 file" if n == 1 else f"{n} files"
"it is" if len(n) == 1 else "they are"
f"{n} member{' was' if n == 1 else 's were'}"
"scalar" if n == 1 else "array"
"one is" if n == 2 else "two are"
plural(n, "file")
"""
    assert len(list(plurals_by_hand(ast.parse(code)))) == 4


@pytest.mark.slow
def test_plurals_are_made_in_one_place(sources: list[Source]) -> None:
    found = {
        source.module: by_hand
        for source in sources
        if source.module != "refbrowser.words"
        and (by_hand := list(plurals_by_hand(ast.parse(source.path.read_text("utf-8")))))
    }
    assert found == {}, "refbrowser/words.py has plural and counted"
