#!/bin/sh
# Writes packaging/locked-run.txt and locked-test.txt: the newest versions that fit pyproject.toml, for each Python
# and system that we support, with the hashes of their files: sh packaging/lock.sh
# With REFBROWSER_LOCKED=1 run.sh and test.sh install just these.
set -eu
. "$(dirname -- "$0")/environment.sh"

make_venv
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check uv
# What builds the project is locked, too.
build=$("$venv/bin/python" -c 'import sys, tomllib
with open(sys.argv[1], "rb") as file:
    print(*tomllib.load(file)["build-system"]["requires"], sep="\n")' "$root/pyproject.toml")

unseen=

# lock NAME OPTIONS...
lock() {
    locked=$root/packaging/locked-$1.txt
    extras=$(extras_of "$1" | sed 's/^/--extra=/; s/,/ --extra=/g')
    shift
    # shellcheck disable=SC2086  # a list of options
    printf '%s\n' "$build" "$unseen" | "$venv/bin/python" -m uv pip compile --quiet --upgrade --universal --python-version 3.11 \
        --generate-hashes --no-annotate --no-header $extras "$@" --output-file "$locked.new" "$root/pyproject.toml" -
    mv "$locked.new" "$locked"
    say "written: $locked"
}

# Only some of the wheels of eccodes ask for its library, and uv reads one of them.
unseen="eccodeslib; sys_platform != 'win32'"
lock test
unseen=
# Whoever uses the program has the versions that were tested.
lock run --constraints "$root/packaging/locked-test.txt"
