#!/bin/sh
# Writes packaging/constraints.txt: the newest versions that fit pyproject.toml with all that the tests need, each
# with the hash of the file that this Python installs on this system: sh packaging/lock.sh
# With REFBROWSER_LOCKED=1 run.sh and test.sh install just these.
set -eu
. "$(dirname -- "$0")/environment.sh"

[ -x "$venv/bin/python" ] || make_venv
report=$(mktemp) || stop "no temporary file can be made"
trap 'rm -f "$report"' EXIT
say "asking for the versions that fit; this can take some minutes"
build=$("$venv/bin/python" -c 'import sys, tomllib
with open(sys.argv[1], "rb") as file:
    print(*tomllib.load(file)["build-system"]["requires"])' "$root/pyproject.toml")
# shellcheck disable=SC2086  # a list of requirements
"$venv/bin/python" -m pip install --disable-pip-version-check --quiet --dry-run --ignore-installed \
    --report "$report" "$root[test]" $build
"$venv/bin/python" "$root/packaging/constraints.py" "$report" >"$root/packaging/constraints.txt.new"
mv "$root/packaging/constraints.txt.new" "$root/packaging/constraints.txt"
say "written: packaging/constraints.txt"
