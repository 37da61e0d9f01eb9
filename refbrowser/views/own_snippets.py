"""Lines of Python that read a slice with refbrowser itself, where nothing else reads the format."""

from __future__ import annotations

from refbrowser.views.snippets import SnippetView


def own_snippet(path: str, name: str, view: SnippetView, *, is_edited: bool) -> str:
    """Return lines that read the slice of a stream, or of a dataset of CDM Remote.

    Parameters
    ----------
    name
        What the format is called.
    is_edited
        There are edits that the file does not have.
    """
    lines = [f"# {name} is read by refbrowser, which must be installed where these lines run."]
    if is_edited:
        lines.append("# Edits that are not saved are not in what they read.")
    lines += [
        "import refbrowser",
        "",
        f"dataset = refbrowser.open({path!r})",
        f"values = dataset[{view.node.path!r}][{view.index or '...'}]",
    ]
    return "\n".join(lines) + "\n"
