"""What manifests cost, in lines; and how Icechunk is told to split them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from refbrowser.views.words import one_line
from refbrowser.wings.icechunk.manifests.manifest_costs import (
    ArrayManifests,
    ManifestCosts,
    SplitCost,
    StepCost,
)
from refbrowser.words import binary_size_text, counted, plural

#: Arrays that are listed one by one.
_ARRAYS = 200


def cost_lines(costs: ManifestCosts) -> Iterator[str]:
    """Yield what the manifests of a snapshot cost, array by array, and the advice."""
    of = "" if costs.references is None else f" of {counted(costs.references, 'reference')}"
    size = "" if costs.size is None else f", {binary_size_text(costs.size)}"
    yield f"{counted(costs.manifests, 'manifest')}{of}{size}"
    yield (
        f"opening: {counted(costs.files, 'file')}, the snapshot has "
        f"{binary_size_text(costs.opening)}; manifests are read as chunks are"
    )
    for array in costs.arrays[:_ARRAYS]:
        yield ""
        yield from _array_lines(array)
    if len(costs.arrays) > _ARRAYS:
        yield f"… {counted(len(costs.arrays) - _ARRAYS, 'array')} more: name them with --array"
    advised = [each for each in costs.arrays if each.advice is not None]
    if advised:
        yield ""
        yield from snippet(advised)


def _array_lines(array: ArrayManifests) -> Iterator[str]:
    references = "" if array.references is None else f" of {counted(array.references, 'reference')}"
    size = "" if array.size is None else f", {binary_size_text(array.size)}"
    largest = f", the largest {binary_size_text(array.largest)}" if array.manifests > 1 else ""
    shared = ", shared with other arrays" if array.is_shared else ""
    told = f"{counted(array.manifests, 'manifest')}{references}{size}{largest}{shared}"
    yield f"{one_line(array.path)}: {told}"
    yield from (f"  {step_words(step)}" for step in array.steps)
    yield from (f"  {split_words(split)}" for split in array.splits)
    if array.advice is not None:
        yield f"  advice: {split_words(array.advice)}"


def step_words(step: StepCost) -> str:
    """Return what a step along a dimension reads of manifests."""
    count = round(step.manifests, 1)
    number = f"{count:g} {plural(1 if count == 1 else 2, 'manifest')}"
    most = f", at most {binary_size_text(step.most)}" if step.most > 1.05 * step.size else ""
    return f"a step along {one_line(step.dimension)}: {number}, {binary_size_text(step.size)}{most}"


def split_words(split: SplitCost) -> str:
    """Return what another splitting would cost."""
    chunks, manifests = counted(split.chunks, "chunk"), counted(split.manifests, "manifest")
    return (
        f"split by {chunks} along {one_line(split.dimension)}: {manifests}, a step reads about "
        f"{binary_size_text(split.size)}; the snapshot grows by about {binary_size_text(split.added)}"
    )


def snippet(arrays: list[ArrayManifests]) -> Iterator[str]:
    """Yield Python that has Icechunk split the manifests of arrays as it is advised."""
    yield "# With icechunk: the splitting is kept in the configuration, for all later commits too."
    yield "Condition, Dimension = icechunk.ManifestSplitCondition, icechunk.ManifestSplitDimCondition"
    yield "splitting = icechunk.ManifestSplittingConfig.from_dict({"
    for array in arrays:
        if array.advice is not None:
            path, split = _pattern(array.path), array.advice
            yield f"    Condition.path_matches({path}): {{Dimension.Axis({split.axis}): {split.chunks}}},"
    yield "})"
    yield "config = repo.config"
    yield "config.manifest = icechunk.ManifestConfig(splitting=splitting)"
    yield "repo = repo.reopen(config)"
    yield "repo.save_config()"
    yield 'repo.rewrite_manifests("split manifests", branch="main")'


def _pattern(path: str) -> str:
    """Return a regular expression of Rust that only a path matches, as a literal of Python."""
    letters = (letter if letter.isalnum() or letter in "/_" else f"\\{letter}" for letter in path)
    return json.dumps(f"^{''.join(letters)}$", ensure_ascii=False)
