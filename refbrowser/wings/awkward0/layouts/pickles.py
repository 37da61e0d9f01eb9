"""Pickles that hold plain values only: read without unpickling; all others are refused."""

from __future__ import annotations

import base64
import binascii
import pickletools
from collections.abc import Callable, Iterator
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS

#: Opcodes that push what they hold.
_CONSTANTS = frozenset(
    {"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"}
    # Text of Python 2, which pickletools gives as latin-1.
    | {"STRING", "BINSTRING", "SHORT_BINSTRING"}
    | {"BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"}
)
_SINGLES: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_IGNORED = frozenset({"PROTO", "FRAME"})
_MARK = object()
_Operation = tuple[pickletools.OpcodeInfo, Any]


def plain_value(text: str) -> Any:
    """Return the value of a ``python`` expression (persistence notes, section 2).

    Parameters
    ----------
    text
        Base-64.

    Raises
    ------
    RefbrowserError
        E_UNSAFE: it would have to be unpickled, which could run anything; E_SCHEMA: it is no pickle;
        E_BUDGET: it is too large.
    """
    operations = list(_operations(_decoded(text)))
    for opcode, _ in operations:
        if opcode.name not in _HANDLED:
            names = ", ".join(globals_of(text)) or opcode.name
            message = f"a pickle holds more than plain values: {quoted(names)}"
            advice = "Unpickling can run any program; that is never done."
            raise RefbrowserError(ErrorKind.UNSAFE, message, advice=advice)
    try:
        value = _Machine().run(operations)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError):
        raise _damaged() from None
    _check_size(value)
    return value


def globals_of(text: str) -> tuple[str, ...]:
    """Return what a pickle names of modules, for people: ``os.system``; empty where it cannot be read."""
    names: list[str] = []
    strings: list[str] = []
    try:
        for opcode, argument in _operations(_decoded(text)):
            if opcode.name in ("GLOBAL", "INST"):
                names.append(str(argument).replace(" ", ".", 1))
            elif opcode.name == "STACK_GLOBAL":
                names.append(".".join(strings[-2:]))
            elif isinstance(argument, str):
                strings.append(argument)
    except RefbrowserError:
        pass
    return tuple(dict.fromkeys(names))


def _decoded(text: str) -> bytes:
    if len(text) > AWKWARD_LIMITS.awkward_pickle:
        message = f"a pickle has more than {AWKWARD_LIMITS.awkward_pickle} bytes (awkward_pickle)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise RefbrowserError(ErrorKind.SCHEMA, "a pickle is not base-64") from None


def _damaged() -> RefbrowserError:
    return RefbrowserError(ErrorKind.SCHEMA, "a pickle is damaged")


def _operations(data: bytes) -> Iterator[_Operation]:
    try:
        for opcode, argument, _ in pickletools.genops(data):
            yield opcode, argument
    except (ValueError, UnicodeDecodeError, OverflowError):
        raise _damaged() from None


class _Machine:
    """The stack of a pickle, for the opcodes that build plain values."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, operations: list[_Operation]) -> Any:
        for opcode, argument in operations:
            name = opcode.name
            if name in _SINGLES:
                self.stack.append(_SINGLES[name])
            elif name in _CONSTANTS:
                self.stack.append(argument)
            elif name in _BUILDING:
                _BUILDING[name](self, argument)
        (value,) = self.stack
        if value is _MARK:
            raise ValueError
        return value

    def above_mark(self) -> list[Any]:
        """Take what stands above the last mark, and the mark."""
        at = len(self.stack) - 1 - self.stack[::-1].index(_MARK)
        items = self.stack[at + 1 :]
        del self.stack[at:]
        return items

    def take(self, count: int) -> list[Any]:
        """Take the last items."""
        if len(self.stack) < count:
            raise IndexError
        items = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return items


def _tuple_of(count: int) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.stack.append(tuple(machine.take(count)))


def _pop_mark(machine: _Machine, _argument: Any) -> None:
    machine.above_mark()


def _memoize(machine: _Machine, _argument: Any) -> None:
    machine.memo[len(machine.memo)] = machine.stack[-1]


def _put(machine: _Machine, argument: Any) -> None:
    machine.memo[int(argument)] = machine.stack[-1]


def _get(machine: _Machine, argument: Any) -> None:
    machine.stack.append(machine.memo[int(argument)])


def _extend(target: Any, items: list[Any]) -> None:
    if type(target) is not list:
        raise TypeError
    target.extend(items)


def _update(target: Any, items: list[Any]) -> None:
    # Keys that hold others could share them so often that their hash never ends.
    if type(target) is not dict or any(isinstance(key, tuple) for key in items[::2]):
        raise TypeError
    target.update(zip(items[::2], items[1::2], strict=True))


def _append(machine: _Machine, _argument: Any) -> None:
    items = machine.take(1)
    _extend(machine.stack[-1], items)


def _appends(machine: _Machine, _argument: Any) -> None:
    items = machine.above_mark()
    _extend(machine.stack[-1], items)


def _set_item(machine: _Machine, _argument: Any) -> None:
    items = machine.take(2)
    _update(machine.stack[-1], items)


def _set_items(machine: _Machine, _argument: Any) -> None:
    items = machine.above_mark()
    _update(machine.stack[-1], items)


def _dict(machine: _Machine, _argument: Any) -> None:
    made: dict[Any, Any] = {}
    items = machine.above_mark()
    _update(made, items)
    machine.stack.append(made)


_BUILDING: dict[str, Callable[[_Machine, Any], None]] = {
    "MARK": lambda machine, _: machine.stack.append(_MARK),
    "POP": lambda machine, _: machine.stack.pop() and None,
    "POP_MARK": _pop_mark,
    "DUP": lambda machine, _: machine.stack.append(machine.stack[-1]),
    "EMPTY_TUPLE": _tuple_of(0),
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.above_mark())),
    "EMPTY_LIST": lambda machine, _: machine.stack.append([]),
    "LIST": lambda machine, _: machine.stack.append(machine.above_mark()),
    "EMPTY_DICT": lambda machine, _: machine.stack.append({}),
    "DICT": _dict,
    "APPEND": _append,
    "APPENDS": _appends,
    "SETITEM": _set_item,
    "SETITEMS": _set_items,
    "MEMOIZE": _memoize,
    "PUT": _put,
    "BINPUT": _put,
    "LONG_BINPUT": _put,
    "GET": _get,
    "BINGET": _get,
    "LONG_BINGET": _get,
}
_HANDLED = _CONSTANTS | _IGNORED | set(_SINGLES) | set(_BUILDING) | {"STOP"}


def _check_size(value: Any) -> None:
    """Refuse values that are part of themselves, or far larger than the pickle because of shared parts."""
    pending, count = [(value, 1)], 0
    while pending:
        item, depth = pending.pop()
        count += 1
        if count > AWKWARD_LIMITS.awkward_nodes or depth > AWKWARD_LIMITS.awkward_nesting:
            message = "the plain values of a pickle are too many, or nested too deep (awkward_nodes)"
            raise RefbrowserError(ErrorKind.BUDGET, message)
        if isinstance(item, dict):
            pending.extend((each, depth + 1) for pair in item.items() for each in pair)
        elif isinstance(item, list | tuple):
            pending.extend((each, depth + 1) for each in item)
        elif item is _MARK:
            raise _damaged()
