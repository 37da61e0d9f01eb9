"""The fields of messages: all that is known, what is not, and long values cut."""

import re
from pathlib import Path

import stream_encoder as enc
from google.protobuf import descriptor_pb2
from stream_encoder import data_body, regular

from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.wings.ncstream.reading import descriptor as schema
from refbrowser.wings.ncstream.reading.messages import MessageKind
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.views.fields import message_fields


def fields_of(*messages):
    source = MemoryBytes(enc.stream(*messages))
    index = walk_stream(source, url="memory")
    return [message_fields(index, source, number) for number in range(len(index.table))]


def test_fields_of_headers():
    dimension = enc.dimension("n", 3)
    root = enc.group(
        dimensions=[dimension],
        variables=[enc.variable("v", enc.FLOAT, [dimension])],
        attributes=[enc.number_attribute("level", 3, 7)],
    )
    (found,) = fields_of(enc.header(root))
    shape = [{"name": "n", "length": 3}]
    assert found["Header"]["root"]["vars"] == [{"name": "v", "dataType": "FLOAT (5)", "shape": shape}]
    assert found["Header"]["root"]["dims"] == shape
    (attribute,) = found["Header"]["root"]["atts"]
    assert attribute == {"name": "level", "type": "INT (3)", "len": 1, "data": "00000007"}


def test_both_meanings_of_field_7():
    values = regular(b"\0\0\0\1")
    body = data_body("v", enc.INT, [(0, 1, 1)], bigend=True)
    with_checksum = enc.data(body + enc.fixed32(7, 0xDEADBEEF), values)
    with_flag = enc.data(body + enc.number(7, 1), enc.objects([b"\0\0\0\1"]))
    found = [each["Data"] for each in fields_of(with_checksum, with_flag)]
    assert found[0]["crc32"] == 0xDEADBEEF
    assert found[1]["vdata"] == 1
    assert found[0]["section"] == {"range": [{"start": 0, "size": 1, "stride": 1}]}
    assert (found[0]["bigend"], found[0]["dataType"]) == (True, "INT (3)")


def test_unknown_fields_are_told():
    body = data_body("v", enc.INT, [(0, 1, 1)]) + enc.number(40, 5) + enc.sized(41, b"\1\2")
    (found,) = fields_of(enc.data(body, regular(b"\0\0\0\1")))
    assert found["Data"]["field 40 (varint)"] == 5
    assert found["Data"]["field 41 (bytes)"] == "0102"


def test_long_values_are_cut():
    names = [f"a{number}" for number in range(500)]
    column = enc.MAGIC_DATA2 + regular(enc.sized(1, "v" * 5000) + enc.each_sized(11, names))
    (found,) = fields_of(column)
    assert found["DataCol"]["name"].endswith("… (5000 characters)")
    assert len(found["DataCol"]["name"]) < 1100
    assert found["DataCol"]["stringdata"][-1] == "… 300 more"
    (found,) = fields_of(enc.MAGIC_DATA2 + regular(enc.sized(1, "v") + enc.sized(10, bytes(9999))))
    assert found["DataCol"]["primdata"] == "00" * 64 + "… (9999 bytes)"


def test_messages_of_points_are_listed_with_their_fields():
    collection = enc.point_collection("casts", "days since 2000-01-01", [enc.point_member("t", enc.FLOAT)])
    feature = enc.point_feature(1.5, 50.0, -3.25, b"\0\1", ["a"], alt=2.0)
    stations = enc.station_list([("s1", 1.0, 2.0, 3.0)])
    messages = (collection, feature, stations)
    index = walk_stream(MemoryBytes(enc.stream(*messages)), url="memory")
    assert set(index.table.kind.tolist()) == {MessageKind.POINT}
    assert not index.faults
    found = fields_of(*messages)
    assert found[0]["PointFeatureCollection"]["timeUnit"] == "days since 2000-01-01"
    assert found[0]["PointFeatureCollection"]["members"][0]["dataType"] == "FLOAT (5)"
    assert found[1]["PointFeature"] == {
        "loc": {"time": 1.5, "lat": 50.0, "lon": -3.25, "alt": 2.0},
        "data": "0001",
        "sdata": ["a"],
    }
    assert found[2]["StationList"]["stations"] == [{"id": "s1", "lat": 1.0, "lon": 2.0, "alt": 3.0}]


def test_of_bytes_that_are_no_message_the_first_are_told():
    found = fields_of(enc.header(enc.group()), b"nonsense" * 20, enc.error("late", 3))
    assert found[1] == {"bytes": (b"nonsense" * 8).hex() + "… (160 bytes)"}
    assert found[2] == {"Error": {"message": "late", "code": 3}}


def test_the_compiled_messages_are_those_of_the_text():
    text = Path(schema.__file__).with_name("ncstream.proto").read_text("utf-8")
    pattern = r"  (optional|repeated) (\w+) (\w+) = (\d+)(?: \[default = (\w+)\])?;"
    stated = {
        name: [tuple(field) for field in re.findall(pattern, body)]
        for name, body in re.findall(r"^message (\w+) \{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE)
    }
    file = descriptor_pb2.FileDescriptorProto()
    schema.HEADER.DESCRIPTOR.file.CopyToProto(file)
    kinds = descriptor_pb2.FieldDescriptorProto
    compiled = {
        message.name: [
            (
                kinds.Label.Name(field.label)[len("LABEL_") :].lower(),
                field.type_name.rpartition(".")[2]
                or kinds.Type.Name(field.type).removeprefix("TYPE_").lower(),
                field.name,
                str(field.number),
                field.default_value,
            )
            for field in message.field
        ]
        for message in file.message_type
    }
    assert compiled == stated
    assert (file.syntax or "proto2") == "proto2"
    # No line of a field is of another form.
    assert len(re.findall(r" = \d+(?: \[|;)", text)) == sum(map(len, stated.values()))
