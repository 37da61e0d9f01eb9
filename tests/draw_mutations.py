"""Draw lines of the program by lot and say how each could be broken, for `mutations.py`.

Run it as ``python tests/draw_mutations.py SEED COUNT >FILE``, then ``python tests/mutations.py --from FILE``.
Rooms are folders below ``refbrowser/``; each gives one line before any gives a second one. A line is broken
in one operator or one word, and the tests that mirror its module and its room are to notice.
"""

from __future__ import annotations

import io
import random
import sys
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "refbrowser"
#: What stands for an operator or a word in a broken line.
OTHER = {
    "==": "!=",
    "!=": "==",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "+": "-",
    "-": "+",
    "//": "*",
    "and": "or",
    "or": "and",
    "True": "False",
    "False": "True",
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
}
#: Lines that declare something, or that only say what is wrong.
_LEFT = ("import ", "from ", "def ", "class ", "@", "raise ", "assert ", "if TYPE_CHECKING", "async def ")
#: Files of tests that import a module which are tried for it.
_IMPORTING = 8
_FUNCTIONS = ("min", "max", "any", "all")
#: Before an operator that joins two values.
_VALUES = (tokenize.NAME, tokenize.NUMBER)


def breaks(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield lines of a module that can be broken: the number from 0, the line and the broken one."""
    lines = text.splitlines()
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for before, token in pairwise(tokens):
        if token.string not in OTHER:
            continue
        row, column = token.start
        line = lines[row - 1]
        is_called = token.string not in _FUNCTIONS or line[token.end[1] :].startswith("(")
        joins = token.type == tokenize.NAME or before.type in _VALUES or before.string in (")", "]")
        # Lengths that are the same are what `strict` asserts.
        is_declared = line.lstrip().startswith(_LEFT) or line[:column].endswith("strict=")
        if is_declared or not is_called or not joins:
            continue
        yield row - 1, line, line[:column] + OTHER[token.string] + line[column + len(token.string) :]


def unique(texts: dict[Path, str], module: Path, row: int, line: str, broken: str) -> tuple[str, str] | None:
    """Return a line, with as many before it as make it the only one of the package, and how it is broken."""
    lines = texts[module].splitlines()
    for first in range(row, max(row - 6, -1), -1):
        before = "".join(f"{each}\n" for each in lines[first:row])
        old = before + line
        if sum(text.count(old) for text in texts.values()) == 1:
            return old, before + broken
    return None


def tests_of(module: Path) -> list[str]:
    """Return the tests that mirror a module or import it, and those of its room or the next above."""
    room, tests = module.parent.relative_to(PACKAGE), CHECKOUT / "tests"
    name = ".".join(("refbrowser", *module.relative_to(PACKAGE).with_suffix("").parts))
    importing = [path for path in sorted(tests.rglob("test_*.py")) if f"{name} import" in path.read_text()]
    rooms = [
        each for each in (room, *room.parents) if each != Path() and any((tests / each).glob("**/test_*"))
    ]
    own = [path for path in (tests / room / f"test_{module.stem}.py",) if path.is_file()]
    files = dict.fromkeys(path.relative_to(tests).as_posix() for path in (*own, *importing[:_IMPORTING]))
    return [*files, *(each.as_posix() for each in rooms[:1])]


def main() -> None:
    """Print as many mutations as are asked for."""
    lot, count = random.Random(int(sys.argv[1])), int(sys.argv[2])
    texts = {path: path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}
    rooms = sorted({path.parent for path in texts})
    lot.shuffle(rooms)
    drawn = 0
    while drawn < count:
        for room in rooms:
            modules = [path for path in texts if path.parent == room]
            candidates = [(path, *each) for path in modules for each in breaks(texts[path])]
            if not candidates or drawn == count:
                continue
            path, row, line, broken = lot.choice(candidates)
            found, tests = unique(texts, path, row, line, broken), tests_of(path)
            if found is None or not tests:
                continue
            drawn += 1
            print("[[mutation]]")
            print(f"room = {room.relative_to(PACKAGE).as_posix()!r}")
            print(f"old = '''\n{found[0]}'''\nnew = '''\n{found[1]}'''\ntests = {tests}\n")


if __name__ == "__main__":
    main()
