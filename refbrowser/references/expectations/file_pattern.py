"""Patterns of names of files with dates in them: ``data/t2m_{time:%Y-%m}.nc``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from refbrowser.errors import quoted, usage_error
from refbrowser.limits import LIMITS

#: What a directive stands for, and which part of a date it is.
_DIRECTIVES = {
    "Y": (r"\d{4}", "year"),
    "m": (r"\d{2}", "month"),
    "d": (r"\d{2}", "day"),
    "j": (r"\d{3}", "yearday"),
    "H": (r"\d{2}", "hour"),
    "M": (r"\d{2}", "minute"),
    "S": (r"\d{2}", "second"),
}
_FIELD = re.compile(r"\{(?P<name>[^{}:]+)(?::(?P<dates>[^{}]*))?\}|\*")
_ADVICE = "for example data/t2m_{time:%Y-%m}.nc"
_ORDER = ("year", "month", "day", "hour", "minute", "second")


@dataclass(frozen=True, slots=True)
class FilePattern:
    """The names of files, each with a date in it.

    Attributes
    ----------
    text
        As it was said.
    parts
        A regular expression for each part of the path, the last one that of the file. It is one of the part
        read backwards: of several dates that a name may have the last one counts.
    folder
        What all names begin with: folders without dates, with a ``/`` at its end; empty for none.
    """

    text: str
    parts: tuple[re.Pattern[str], ...]
    folder: str

    @classmethod
    def parse(cls, text: str, name: str) -> FilePattern:
        """Return the pattern that a text says.

        Parameters
        ----------
        name
            Of the axis whose dates the names have.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it has no date, or a field that is not known.
        """
        if len(text) > LIMITS.url_length:
            raise usage_error(f"the pattern has more than {LIMITS.url_length} characters (url_length)")
        *folders, last = text.split("/")
        fixed = 0
        while fixed < len(folders) and not _FIELD.search(folders[fixed]):
            fixed += 1
        seen: set[str] = set()
        parts = tuple(re.compile(_expression(each, name, seen)) for each in (*folders[fixed:], last))
        if "year" not in seen:
            raise usage_error(f"no name of {quoted(text)} tells the year", _ADVICE)
        return cls(text, parts, "".join(f"{folder}/" for folder in folders[:fixed]))

    def date_of(self, path: str) -> str | None:
        """Return the date in a path below the folder, as ISO 8601 has it; None where it does not match."""
        parts = path.split("/")
        if len(parts) != len(self.parts):
            return None
        found: dict[str, str] = {}
        for part, expression in zip(parts, self.parts, strict=True):
            match = expression.fullmatch(part[::-1])
            if match is None:
                return None
            for group, backwards in match.groupdict().items():
                # What is named again must agree.
                digits = backwards[::-1]
                if found.setdefault(group.partition("_")[0], digits) != digits:
                    return None
        return _date_text(found)

    def fits_folder(self, depth: int, name: str) -> bool:
        """Tell whether a folder, so many below the first one, may lead to a file."""
        return depth < len(self.parts) - 1 and self.parts[depth].fullmatch(name[::-1]) is not None


def _expression(part: str, name: str, seen: set[str]) -> str:
    """Return the regular expression of a part of the path, read backwards.

    What lies between two that stand for any text is taken where it comes first, for good: all that may stand
    there are as long, so that no other place would do where this one does not, and nothing is tried twice.

    Parameters
    ----------
    seen
        Gets which parts of dates it has.
    """
    fixed, free, at = [list[str]()], list[str](), 0
    for field in _FIELD.finditer(part):
        fixed[-1].append(_literal(part[at : field.start()]))
        at = field.end()
        if field[0] == "*" or field["name"] == "variable":
            free.append("[^/]*" if field[0] == "*" else "[^/]+")
            fixed.append([])
        elif field["name"] == name and field["dates"]:
            fixed[-1] += _dates(field["dates"], seen)
        else:
            message = f"the field {quoted(field[0])} is not known"
            known = f"{{{name}:%Y-%m}} is a date of the axis, {{variable}} any name, * any text"
            raise usage_error(message, known)
    fixed[-1].append(_literal(part[at:]))
    last, *others = ("".join(reversed(each)) for each in reversed(fixed))
    between = [f"(?>{sign}?{text})" for sign, text in zip(reversed(free[1:]), others, strict=False)]
    return "".join([last, *between, *(f"{sign}{others[-1]}" for sign in free[:1])])


def _literal(text: str) -> str:
    """Return the expression of a text, backwards."""
    if "{" in text or "}" in text:
        raise usage_error(f"a brace of {quoted(text)} has no other one", _ADVICE)
    return re.escape(text[::-1])


def _dates(text: str, seen: set[str]) -> list[str]:
    """Return the expressions of what dates are written as, each backwards."""
    made = []
    split = re.split(r"%(.?)", text)
    for literal, directive in zip(split[::2], [*split[1::2], None], strict=True):
        made.append(re.escape(literal[::-1]))
        if directive is None:
            continue
        if directive not in _DIRECTIVES:
            known = ", ".join(f"%{each}" for each in _DIRECTIVES)
            raise usage_error(f"the directive {quoted(f'%{directive}')} is not known", f"known: {known}")
        digits, group = _DIRECTIVES[directive]
        again = sum(each.partition("_")[0] == group for each in seen)
        seen.add(f"{group}_{again}" if again else group)
        made.append(f"(?P<{group}{f'_{again}' if again else ''}>{digits})")
    return made


def _date_text(found: dict[str, str]) -> str | None:
    """Return the date that its parts make; a day of the year counts as days from its beginning."""
    if "yearday" in found:
        return f"{found['year']}+{int(found['yearday']) - 1}"
    kept = []
    for name in _ORDER:
        if name not in found:
            break
        kept.append(found[name])
    day, clock = "-".join(kept[:3]), ":".join(kept[3:])
    return f"{day}T{clock}" if clock else day
