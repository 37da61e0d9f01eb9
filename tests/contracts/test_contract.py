"""What every adapter keeps: the tree, values as written, fill for what is missing; edits touch no store."""

from __future__ import annotations

import json

import fsspec
import numpy as np
import pytest
from contract_writers import FILL, ROOT_ATTRIBUTES, SERVED, TEMP_ATTRIBUTES, WIND, WRITERS, expected
from servers.http_server import HttpServer

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.node_metadata import attributes_key, place_of
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.saving.portable_document import UNKNOWN, portable_document
from refbrowser.exporting.saving.save import SaveOrder, write_document
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.edits.edits import SetMetadata

ADAPTERS = [*WRITERS, *(f"{name} over HTTP" for name in SERVED)]


def content_of(folder):
    """Every file below a folder with its bytes."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="class")
def made(request, tmp_path_factory):
    """The folder in which the adapter's writer wrote, and what is to be opened."""
    folder = tmp_path_factory.mktemp("contract")
    return folder, WRITERS[request.cls.adapter.removesuffix(" over HTTP")](folder)


@pytest.fixture(scope="class")
def dataset(request, made):
    """What the adapter opens: in its folder, or served from there."""
    folder, path = made
    if not request.cls.adapter.endswith("over HTTP"):
        with refbrowser.open(path, allow=[str(folder)]) as opened:
            yield opened
        return
    files = {f"/{file.relative_to(folder).as_posix()}": data for file, data in content_of(folder).items()}
    with (
        HttpServer(files) as server,
        refbrowser.open(server.url(f"/{path.name}"), allow=[server.origin]) as opened,
    ):
        yield opened


class AdapterContract:
    """Tests of one adapter; `adapter` is its name in `ADAPTERS`."""

    adapter = ""

    def test_every_node_is_in_the_tree(self, dataset):
        arrays = {node.path for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode)}
        assert arrays == {"/temp", "/sub/wind", "/broken"}
        assert set(dataset.groups) == {"/", "/sub"}

    def test_shape_type_chunks_and_fill_value(self, dataset):
        temp = dataset["/temp"]
        assert (temp.shape, temp.chunks, temp.dtype) == ((5, 7), (2, 3), np.dtype("<i4"))
        assert temp.fill_value == FILL

    def test_attributes(self, dataset):
        assert ROOT_ATTRIBUTES.items() <= dict(dataset.attrs).items()
        assert {name: dataset["/temp"].attrs[name] for name in TEMP_ATTRIBUTES} == TEMP_ATTRIBUTES

    def test_values_and_a_missing_chunk_that_is_fill(self, dataset):
        assert np.array_equal(dataset["/temp"][...], expected())
        assert np.array_equal(dataset["/sub/wind"][...], WIND, equal_nan=True)

    @pytest.mark.parametrize("index", [(2, 4), (slice(None, None, -2), 3), (slice(1, 4), slice(2, 6)), -1])
    def test_slices(self, dataset, index):
        assert np.array_equal(dataset["/temp"][index], expected()[index])

    def test_a_bad_node_is_told_and_hides_nothing(self, dataset):
        node = dataset.hierarchy.find("/broken")
        assert node.error is not None
        with pytest.raises(RefbrowserError):
            dataset["/broken"][...]
        assert any("broken" in str(finding.place) for finding in dataset.hierarchy.findings)

    def edited(self, dataset):
        node = dataset["/temp"].node
        key = attributes_key(node, dataset.hierarchy.flavour)
        metadata = json.loads(place_of(dataset.document, key).data)
        attributes = metadata if key.endswith(".zattrs") else metadata["attributes"]
        attributes["units"] = "degC"
        return key, dataset.with_document(dataset.document.apply(SetMetadata(key, metadata)))

    def test_an_attribute_is_edited_without_touching_the_store(self, dataset, made):
        before = content_of(made[0])
        _, edited = self.edited(dataset)
        assert edited["/temp"].attrs["units"] == "degC"
        assert dataset["/temp"].attrs["units"] == "K"
        assert np.array_equal(edited["/temp"][...], expected())
        assert content_of(made[0]) == before

    def test_the_edit_is_saved_as_references_that_fsspec_reads(self, dataset, tmp_path):
        key, edited = self.edited(dataset)
        portable = portable_document(edited, JobControl())
        manifest = edited["/temp"].node.manifest
        for version in (0, 1):
            path = tmp_path / f"saved{version}.json"
            order = SaveOrder(str(path), version, self.prefix(edited), is_copy=True)
            write_document(portable.document, order)
            # Without the option fsspec leaves rules out.
            files = fsspec.filesystem(
                "reference", fo=str(path), simple_templates=False, skip_instance_cache=True
            )
            assert b"degC" in files.cat(key)
            for coords in ((0, 0), (2, 2)):
                chunk = manifest.key(coords)
                assert files.cat(chunk) == edited.read_key(chunk)
            # Where a server lists nothing, that is told, and the rule stays.
            is_unknown = any(UNKNOWN in loss.what for loss in portable.losses)
            assert files.exists(manifest.key((1, 1))) == is_unknown
            with refbrowser.open(path, allow=self.origins(edited)) as again:
                assert again["/temp"].attrs["units"] == "degC"
                if not is_unknown:
                    assert np.array_equal(again["/temp"][...], expected())

    def prefix(self, dataset):
        """What relative URLs begin with, so that they mean the same for who knows no base."""
        if dataset.document.store is not None:
            return ""
        base = dataset.access.base
        return f"{base.rpartition('/')[0]}/" if dataset.access.from_network else f"{base}/"

    def origins(self, dataset):
        return [str(origin) for origin in dataset.access.allowed] or [dataset.access.base]

    def test_an_export_to_v3_is_read_by_zarr_python(self, dataset, tmp_path):
        import zarr

        report = refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", skip_bad=True)
        # The parquet form tells of its metadata, and of the array that it makes.
        assert {"broken" in str(error.place) for error in report.skipped} == {True}
        assert [error.place.path for error in report.skipped if error.place.path] == ["/broken"]
        root = zarr.open_group(str(tmp_path / "out"), mode="r")
        assert np.array_equal(root["temp"][...], expected())
        assert np.array_equal(root["sub/wind"][...], WIND, equal_nan=True)
        attributes = dict(root["temp"].attrs)
        assert {name: attributes[name] for name in TEMP_ATTRIBUTES} == TEMP_ATTRIBUTES


def _made_class(name):
    """Return the contract of one adapter as a class, so that what it opens is opened once."""
    title = "".join(word.capitalize() for word in name.replace("-", " ").replace(",", "").split())
    return f"Test{title}", type(f"Test{title}", (AdapterContract,), {"adapter": name})


globals().update(dict(map(_made_class, ADAPTERS)))
