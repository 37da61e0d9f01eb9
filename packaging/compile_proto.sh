#!/bin/sh
# Compile the messages of ncstream: refbrowser/wings/ncstream/reading/ncstream.proto to ncstream.desc beside it.
# Needs protoc, or the package grpcio-tools in the Python that is named: PYTHON=... packaging/compile_proto.sh
set -eu
cd "$(dirname "$0")/../refbrowser/wings/ncstream/reading"
if command -v protoc >/dev/null; then compiler=protoc; else compiler="${PYTHON:-python3} -m grpc_tools.protoc"; fi
$compiler -I. --descriptor_set_out=ncstream.desc ncstream.proto
