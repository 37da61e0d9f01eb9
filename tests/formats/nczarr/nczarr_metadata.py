"""NCZarr metadata as netcdf-c of each age lays it out, and a source that holds it in memory."""

import json

from refbrowser.formats.nczarr.hierarchy import build_hierarchy

AGES = ("objects-oldest", "objects", "upper", "lower", "attributes")
#: What `Hierarchy.age` says of each.
TITLES = {
    "objects-oldest": "netcdf-c 4.8.0",
    "objects": "netcdf-c 4.8.0",
    "upper": "netcdf-c 4.8.1 to 4.9.0",
    "lower": "netcdf-c 4.9.1 to 4.9.2",
    "attributes": "netcdf-c 4.9.3 or later",
}


class Source:
    """Metadata in memory."""

    def __init__(self, values):
        self.values = values

    def metadata_keys(self):
        return list(self.values)

    def value(self, key):
        value = self.values[key]
        if isinstance(value, Exception):
            raise value
        return (value if isinstance(value, str) else json.dumps(value)).encode()


def built(values, manifests=lambda prefix, grid, encoding: (prefix, grid, encoding)):
    return build_hierarchy(Source(values), manifests, "nczarr")


def zarray(shape=(4, 6), chunks=None, **changes):
    return {
        "zarr_format": 2,
        "shape": list(shape),
        "chunks": list(shape if chunks is None else chunks),
        "dtype": "<i2",
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
    } | changes


class Store:
    """The metadata keys of a dataset in the layout of one age."""

    def __init__(self, age="attributes"):
        self.age = age
        self.keys = {}

    def group(self, path="", dimensions=None, arrays=(), groups=(), attributes=None, types=None):
        prefix = f"{path}/" if path else ""
        names = ("dimensions", "arrays") if self.age == "attributes" else ("dims", "vars")
        content = {names[0]: dimensions or {}, names[1]: list(arrays), "groups": list(groups)}
        self.keys[f"{prefix}.zgroup"] = {"zarr_format": 2}
        root = {"version": "2.0.0"} if not path else None
        if self.age.startswith("objects"):
            if root:
                self.keys[".nczarr"] = {"zarr_format": 2, "nczarr_version": "1.0.0"}
            self.keys[f"{prefix}.nczgroup"] = content
        self._finish(prefix, ".zgroup", {"group": content, "superblock": root}, attributes, types)
        return self

    def array(self, path, document, references, attributes=None, types=None, storage="chunked", **more):
        new = self.age == "attributes"
        content = {"dimension_references" if new else "dimrefs": references, "storage": storage} | more
        self.keys[f"{path}/.zarray"] = document
        if self.age.startswith("objects"):
            self.keys[f"{path}/{'.nczvar' if self.age == 'objects-oldest' else '.nczarray'}"] = content
        self._finish(f"{path}/", ".zarray", {"array": content}, attributes, types)
        return self

    def _finish(self, prefix, name, members, attributes, types):
        upper = self.age == "upper"
        named = {
            f"_NCZARR_{role.upper()}" if upper else f"_nczarr_{role}": content
            for role, content in members.items()
            if content is not None
        }
        attributes = dict(attributes or {})
        if self.age.startswith("objects"):
            if types:
                other = ".nczattr" if self.age == "objects-oldest" else ".nczattrs"
                self.keys[prefix + other] = {"types": types}
        elif types:
            attributes["_NCZARR_ATTR" if upper else "_nczarr_attr"] = {"types": types}
        if self.age in ("upper", "lower"):
            self.keys[prefix + name] |= named
        elif self.age == "attributes":
            attributes |= named
        self.keys[f"{prefix}.zattrs"] = attributes

    def built(self):
        return built(self.keys)
