#!/bin/sh
# Installs what the tests need and runs the quick ones, or those that are marked slow, or both, or what pytest is
# told to: sh packaging/test.sh [--slow | --all | options of pytest, such as --long or a file]
set -u
. "$(dirname -- "$0")/environment.sh"

# The tests need a hundred packages more than the window does. uv installs these in a fifth of pip's time; what it
# cannot install, pip does.
if [ ! -e "$venv/installed-test" ] && [ -z "${REFBROWSER_LOCKED:-}" ]; then
    make_venv
    say "installing what the tests need"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check uv >/dev/null 2>&1 &&
        VIRTUAL_ENV=$venv "$venv/bin/python" -m uv pip install --quiet -r "$root/pyproject.toml" --extra test >/dev/null 2>&1 ||
        say "uv cannot be used here: pip takes longer"
fi
prepare test

# Some tests compare with ncgen and ncdump; where these cannot be installed they are skipped, which is tried once.
if ! command -v ncgen >/dev/null 2>&1 && [ ! -e "$venv/no-ncgen" ]; then
    say "installing ncgen and ncdump for the tests"
    install_packages netcdf-bin netcdf netcdf netcdf || : >"$venv/no-ncgen"
fi

cd "$root" || exit 1
# Two workers a core, which take tests from each other: those of the window wait half of their time.
workers=$((2 * $(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)))
# Each worker loads all tests: what all of them would compile at the same time is compiled before, on two cores. For
# a few files that changed since then it is not worth to load all the others.
unset PYTHONDONTWRITEBYTECODE
compiled=$venv/compiled
changed() {
    [ ! -e "$compiled" ] || [ "$(find refbrowser tests -name '*.py' -newer "$compiled" | wc -l)" -gt 40 ]
}
if { [ $# -eq 0 ] || [ "$1" = --all ]; } && changed; then
    # It ends at once: eccodes and pyproj bring a library of PROJ each, and a process that ends in order with both
    # can wait for ever.
    collect='import os, sys, pytest; os._exit(pytest.main(sys.argv[1:]))'
    for part in tests/app "tests --ignore=tests/app"; do
        # shellcheck disable=SC2086  # a path and an option
        QT_QPA_PLATFORM=offscreen "$venv/bin/python" -c "$collect" --collect-only -qq $part >/dev/null &
    done
    # What Hypothesis knows of a million characters is kept in a file; each worker would work it out otherwise.
    "$venv/bin/python" -c 'from hypothesis import strategies; strategies.text().validate()' &
    wait
    : >"$compiled"
fi
case ${1-} in
"") set -- -m "not slow" ;;
--slow) shift && set -- -m slow "$@" ;;
--all) shift ;;
esac
# -rs names each reason for a skip and how often it applied, --durations the slowest tests.
export QT_QPA_PLATFORM=offscreen
# (With a space before it, pytest would take the file for a test of its folder before it reads our options.)
outcome=$(mktemp) || stop "no temporary file can be made"
"$venv/bin/python" -m pytest -q -rs --durations=20 --outcome-to="$outcome" \
    --numprocesses "${TEST_WORKERS:-$workers}" --dist worksteal "$@"
status=$?
# A test that a busy machine failed is run once more alone; where it passes, it is named as unstable and stops nothing.
if [ "$status" = 1 ]; then
    "$venv/bin/python" tests/alone.py "$outcome"
    status=$?
fi
rm -f "$outcome"
exit "$status"
