"""One meaning a word: words for a part of something name nothing else in the program."""

from __future__ import annotations

import re

from source import PACKAGE, Source

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
        "views/chunks/chunk_pixels": "pictures of part of the chunk map",
        "exporting/streams/": "what one message gives, as users say with --tile-size",
        "exporting/targets/": "what one message gives, as users say with --tile-size",
        "limits": "a limit that users may know by its name",
    },
    "piece": {
        "model/": "bytes that give elements of a part",
        "engine/": "bytes that give elements of a part",
        "formats/": "bytes that give elements of a part",
        "views/": "bytes that give elements of a part",
    },
    "segment": {"io/": "neighbouring ranges that are held in one buffer"},
    "fragment": {
        "references/rules/": "a constant, or a printed integer, of what a rule says",
        "app/dialogs/manual_window": "the end of a URL",
    },
    "section": {
        "app/": "what stands below one heading, and sections of streams",
        "views/": "what stands below one heading",
        "formats/": "what a message of a stream gives",
        "exporting/": "what a message of a stream gives",
        "engine/serve/": "what a message of a stream gives",
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
    (segment,) = (source.named for source in sources if source.module == "refbrowser.io.segment")
    # A class, a function, an argument, an attribute and a variable of it.
    assert {"Segment", "read_segments", "location", "settled", "stop"} <= segment


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
