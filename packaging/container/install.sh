#!/bin/sh
# Installs a checkout into /opt/refbrowser with the versions that were tested: install.sh CHECKOUT EXTRAS
set -eu
pip=/opt/refbrowser/bin/pip
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
"$pip" install --quiet --upgrade pip
"$pip" wheel --quiet --no-deps --wheel-dir "$work" "$1"
wheel=$(ls "$work"/refbrowser-*.whl)
sum=$(sha256sum "$wheel" | cut -d' ' -f1)
echo "refbrowser[$2] @ file://$wheel --hash=sha256:$sum" >"$work/requirements.txt"
"$pip" install --quiet --require-hashes --only-binary :all: --requirement "$work/requirements.txt" \
    --constraint "$1/packaging/locked-test.txt"
