"""The window on a dataset, in a process of its own: what was opened is opened there again by its path."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib.util import find_spec
from typing import Any

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.frozen_dataset import absolute
from refbrowser.engine.window_process import WindowProcess
from refbrowser.errors import (
    ErrorKind,
    MissingFileError,
    NoDisplayError,
    NotInstalledError,
    Place,
    RefbrowserError,
    quoted,
)
from refbrowser.formats.option_fields import Kind
from refbrowser.formats.registry import formats, opening_options
from refbrowser.io.origins import ConnectionSettings, Origin, local_path
from refbrowser.loading import load, to_install

#: What the window is made of.
_PACKAGES = ("PySide6", "pyqtgraph")


def show(dataset: Dataset, array: str = "") -> WindowProcess:
    """Open the window on a dataset, with one of its arrays selected where one is named.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it has no path that a window could open. A `FileNotFoundError` where nothing is there.
    NotInstalledError
        What draws the window is not installed.
    NoDisplayError
        There is no display.
    """
    why = why_not_shown(dataset)
    if why:
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"the window opens what has a path: {why}",
            Place(document=dataset.path),
            'write it first: refbrowser.export(dataset, "set.json", format="refs-v1"), and open that',
        )
    if local_path(dataset.path) is not None and not os.path.lexists(absolute(dataset.path)):
        message = "there is nothing at its path any more"
        raise MissingFileError(ErrorKind.IO, message, Place(path=dataset.path))
    # Its process ends with this window alone, so that it has one of its own; nothing is imported from the
    # current folder, which may be that of data from anywhere.
    command = [sys.executable, "-P", "-m", "refbrowser", "--new-window", *arguments_of(dataset, array)]
    _check_can_open()
    if dataset.document.is_edited:
        message = f"the window shows {quoted(dataset.path)} as it is saved, without the edits of this dataset"
        warnings.warn(message, stacklevel=3)
    # In a group of its own, so that what interrupts this program leaves it open.
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    return WindowProcess(dataset.path, process)


def why_not_shown(dataset: Dataset) -> str:
    """Return why no other process can open a dataset by its path; empty where one can."""
    if dataset.session.only_here:
        return dataset.session.only_here
    return "" if dataset.access.base else "it was opened from references in memory"


def _check_can_open() -> None:
    if any(find_spec(name) is None for name in _PACKAGES):
        message = "what draws the window is not installed"
        raise NotInstalledError(ErrorKind.USAGE, message, advice=to_install("refbrowser[gui]"))
    if not load("refbrowser.app.shell.launch:has_display")():
        raise NoDisplayError(
            ErrorKind.IO,
            "there is no display to open a window on, where this program runs",
            advice="run refbrowser on a machine that has one, and open the same path there",
        )


def arguments_of(dataset: Dataset, array: str = "") -> list[str]:
    """Return what the command line takes to open a dataset as it is opened here, without any credentials."""
    # An absolute path is neither an option nor the name of a verb.
    found = [absolute(dataset.path)]
    if array:
        found.append(f"--array={dataset[array].path}")
    access = dataset.access
    # What is named there is allowed at private addresses too: where it is not so here, the window asks.
    found += [f"--allow={origin}" for origin in sorted(map(str, access.allowed & access.private))]
    found += [f"--allow-codec={name}" for name in sorted(access.lenders)]
    found += [f"--storage-option={text}" for text in setting_texts(access.settings)]
    values = dataset.document.templates.values
    found += [f"--template={name}={value}" for name, value in values.items()]
    return [*found, *_opening_arguments(dataset.document.opens_again)]


def setting_texts(settings: Mapping[Origin, ConnectionSettings]) -> Iterator[str]:
    """Yield connection settings as ``--storage-option`` takes them: names of secrets, and no secrets."""
    usual = ConnectionSettings()
    for origin, setting in settings.items():
        for each in fields(setting):
            value = getattr(setting, each.name)
            if each.name == "headers":
                yield from (f"{origin}:header.{name}={variable}" for name, variable in value.items())
            elif value != getattr(usual, each.name):
                is_usual_file = each.name == "netrc" and value == ""
                text = str(value).lower() if isinstance(value, bool) else "true" if is_usual_file else value
                yield f"{origin}:{each.name}={text}"


def _opening_arguments(said: Mapping[str, Any]) -> Iterator[str]:
    known = opening_options(formats()) if said else {}
    for name, value in said.items():
        option = known.get(name)
        if option is None or value is None:
            continue
        if option.kind is Kind.EITHER:
            yield option.flag if value else f"--no-{option.flag.removeprefix('--')}"
        elif option.means is not None:
            if value:
                yield option.flag
        elif option.many:
            yield from (option.flag, *map(str, value))
        elif isinstance(value, list | tuple):
            yield from (f"{option.flag}={each}" for each in value)
        else:
            yield f"{option.flag}={value}"
