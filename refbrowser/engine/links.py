"""Links: what to open, a group or array in it, and a part of that array: ``PATH::/array[0,:,:]``.

Every link is taken apart and written here, for the command line, the window and what comes from outside. A
link has no words for permissions, settings or credentials: it says what is looked at, and nothing else.
"""

from __future__ import annotations

import ntpath
import os
import posixpath
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote, unquote_to_bytes

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.origins import (
    OBJECT_STORES,
    PROTOCOLS,
    Origin,
    local_path,
    scheme_of,
    split_url,
)
from refbrowser.limits import LIMITS

#: What a link begins with where other programs hold it, such as browsers: the rest is percent-encoded.
SCHEME = "refbrowser:"
#: Stands between what is opened and what is in it.
_MARK = "::/"
#: Places of the mark that are looked at: a name of a file may hold it, too.
_MARKS = 8
#: What stays as it is in the percent-encoded form: nothing that ends a URL in a text, or means more there.
_SAFE = "/:,@=~"
_SELECTED = re.compile(r"(.*[^/\[])\[([^\[\]]*)\]", re.DOTALL)

#: Characters that turn text around, so that it reads as something else.
_TURNING = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Link:
    """What to open, and what to look at in it.

    Attributes
    ----------
    path
        A path or URL.
    node
        Absolute path of a group or array; empty where the link leads to the whole.
    selection
        A part of the array, as ``--select`` takes it; empty for no certain one.
    left_out
        What a text had that let whoever has it read, and the link has not: words for each.
    """

    path: str
    node: str = ""
    selection: str = ""
    left_out: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, exists: Callable[[str], bool] | None = None) -> Link:
        """Take a link apart; a path or URL alone is one, too.

        What there is a file or folder of that name of is its path, whatever the name holds. Else the path
        ends at the last ``::/``.

        Parameters
        ----------
        exists
            Tells whether there is a file or folder of a name; looks for one when None.

        Raises
        ------
        RefbrowserError
            It is too long; or, where it begins with ``refbrowser:``, as `from_url`.
        """
        _check_length(text)
        exists = exists or _exists
        if cls.is_from_outside(text) and not exists(text):
            return cls.from_url(text)
        if _MARK not in text or exists(text):
            return cls(text)
        marks = [match.start() for match in re.finditer(re.escape(_MARK), text)][-_MARKS:]
        # The last one that a file's name ends at; of what is no file that is the last of all.
        own = (mark for mark in reversed(marks) if mark and exists(text[:mark]))
        mark = next(own, marks[-1])
        if not mark:
            return cls(text)
        inside = text[mark + len(_MARK) :]
        selected = _SELECTED.fullmatch(inside)
        name, selection = (selected[1], selected[2].strip()) if selected else (inside, "")
        return cls(text[:mark], f"/{name.strip('/')}", selection)

    @staticmethod
    def is_from_outside(text: str) -> bool:
        """Tell whether a text is a link as other programs hold it."""
        return text[: len(SCHEME)].lower() == SCHEME

    @classmethod
    def from_url(cls, text: str) -> Link:
        """Return the link that a text stands for which begins with ``refbrowser:``; no file is looked at.

        Anybody may have written it: what no link of ours says is refused, and what lets whoever has it read
        is left out.

        Raises
        ------
        RefbrowserError
            `E_USAGE`, `E_UNSAFE`, `E_PROTOCOL`, `E_ENCODING` or `E_BUDGET`: it is no such link, or leads to
            what no link may.
        """
        _check_length(text)
        try:
            plain = unquote_to_bytes(text[len(SCHEME) :]).decode()
        except UnicodeError:
            raise RefbrowserError(ErrorKind.ENCODING, "the link is not UTF-8") from None
        _check_characters(plain)
        link = cls.parse(plain, lambda _name: False) if not cls.is_from_outside(plain) else cls("")
        link = link.without_secrets()
        check_path(link.path)
        return link

    def __str__(self) -> str:
        """Return the link as it is typed and copied."""
        if not self.node:
            # Else what follows a mark in the name would be taken for what is in the file.
            return f"{self.path}{_MARK}" if _MARK in self.path else self.path
        return f"{self.path}::{self.inside}"

    @property
    def inside(self) -> str:
        """What is looked at in what is opened: a node, and its selection in brackets."""
        return f"{self.node}[{self.selection}]" if self.selection else self.node

    @property
    def url(self) -> str:
        """The link as other programs hold it: percent-encoded, with the scheme that they open us by."""
        return SCHEME + quote(os.fsencode(str(self)), safe=_SAFE)

    def among(self, has: Callable[[str], bool]) -> Link:
        """Return the link in what was opened: a node whose own name ends in brackets is meant by it.

        Parameters
        ----------
        has
            Tells whether there is a node at a path.
        """
        if self.selection and not has(self.node) and has(self.inside):
            return replace(self, node=self.inside, selection="")
        return self

    def without_secrets(self) -> Link:
        """Return the link without what lets whoever has it read: user names, passwords and signatures.

        What was left out is told by `left_out`.
        """
        scheme = scheme_of(self.path)
        if scheme in (None, "file"):
            return self
        head, slashes, rest = self.path.partition("//")
        end = re.search(r"[/?#]", rest)
        cut = len(rest) if end is None else end.start()
        authority, tail = rest[:cut], rest[cut:]
        left_out = list(self.left_out)
        if "@" in authority and PROTOCOLS.get(scheme or "") != "abfs":
            # There a container stands before the account.
            left_out.append("a user name or password")
            authority = authority.rpartition("@")[2]
        if PROTOCOLS.get(scheme or "") not in OBJECT_STORES:
            # What follows a hash is never sent.
            tail = tail.partition("#")[0]
        where, mark, query = tail.partition("?")
        kept, names = _without_signature(query)
        if names:
            left_out.append(f"the signed or secret part of the address ({', '.join(names)})")
            tail = where + (mark + kept if kept else "")
        return replace(self, path=f"{head}{slashes}{authority}{tail}", left_out=tuple(left_out))

    @property
    def where(self) -> str:
        """From where it would be read, in words: the host, the bucket or the folder."""
        path = local_path(self.path)
        if path is not None:
            return f"the folder {posixpath.dirname(path) or path}"
        origin = Origin.parse(self.path)
        return f"the {'bucket' if origin.scheme in OBJECT_STORES else 'server'} {origin}"


def _exists(name: str) -> bool:
    try:
        path = local_path(name)
        return path is not None and os.path.lexists(os.path.expanduser(path))
    except (RefbrowserError, ValueError):
        # It is no path of this machine, or a NUL is in it.
        return False


def _check_length(text: str) -> None:
    if len(text) > LIMITS.url_length:
        message = f"a link of {len(text):,} characters is longer than {LIMITS.url_length:,} (url_length)"
        raise RefbrowserError(ErrorKind.BUDGET, message)


def _check_characters(text: str) -> None:
    """Raise where a text holds what acts on a terminal or turns text around."""
    acts = any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text)
    if acts or _TURNING.search(text):
        raise RefbrowserError(ErrorKind.UNSAFE, "the link holds control characters")


def check_path(path: str) -> None:
    """Raise where a link that anybody may have written leads to what no link may; no file is looked at."""
    if not path:
        raise RefbrowserError(ErrorKind.USAGE, "the link names nothing to open")
    # It loads numpy, which a start does not wait for.
    from refbrowser.io.access.access import is_never_read

    place = Place(path=path)
    if path.startswith(("//", "\\\\", "/\\", "\\/")):
        raise RefbrowserError(ErrorKind.UNSAFE, "the link leads to a share of another computer", place)
    if scheme_of(path) not in (None, "file"):
        # Checks all that is to be said of a URL.
        split_url(path)
        return
    local = local_path(path) or ""
    if local.startswith("~/"):
        # Of whoever opens it.
        local = os.path.expanduser(local)
    drive = ntpath.splitdrive(local)[0] if os.name == "nt" else ""
    is_whole = bool(drive) and ntpath.isabs(local) if os.name == "nt" else local.startswith("/")
    if not is_whole or local.startswith(("//", "\\\\")):
        message = f"the link leads to {quoted(path)}, which is neither a URL nor a whole path"
        raise RefbrowserError(ErrorKind.UNSAFE, message)
    if is_never_read(os.path.normpath(local)):
        raise RefbrowserError(ErrorKind.UNSAFE, "the link leads to a device, not to a file", place)


def _without_signature(query: str) -> tuple[str, list[str]]:
    """Return a query without parameters that let whoever has them read, and the names of these."""
    from refbrowser.io.secret_names import secret_names  # Few links have any query.

    parts = query.split("&")
    names = [unquote(part.partition("=")[0]) for part in parts]
    secret = secret_names(names)
    kept = [part for part, name in zip(parts, names, strict=True) if name not in secret]
    return "&".join(kept), [name[:40] for name in names if name in secret]
