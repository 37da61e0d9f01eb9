#!/bin/sh
# Runs the tests with the oldest versions that pyproject.toml allows, on Python 3.11, or with the newest ones, on
# Python 3.13: sh packaging/versions.sh oldest|newest [options of pytest]
# Each has its own environment in the checkout, which is made once; removed, it is made anew.
set -eu
. "$(dirname -- "$0")/environment.sh"

case ${1-} in
oldest) version=3.11 resolution=lowest-direct ;;
newest) version=3.13 resolution=highest ;;
*) stop "say which versions: oldest or newest" ;;
esac
environment=$root/.venv-$1
shift

# A name on PATH may be that of a manager of Pythons which has none: what runs is taken.
python_of_version() {
    for python in "$(command -v "python$version")" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
        if "$python" --version >/dev/null 2>&1; then
            echo "$python"
            return
        fi
    done
    stop "Python $version is needed and was not found: these tests were not run"
}

if [ ! -e "$environment/installed" ]; then
    python=$(python_of_version) || exit 1
    say "installing for $python ($resolution)"
    rm -rf "$environment"
    "$python" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check uv
    VIRTUAL_ENV=$environment "$environment/bin/uv" pip install --quiet --resolution "$resolution" --upgrade \
        --editable "$root[all]"
    # What runs the tests is of today.
    VIRTUAL_ENV=$environment "$environment/bin/uv" pip install --quiet --editable "$root[test]"
    : >"$environment/installed"
fi
VIRTUAL_ENV=$environment "$environment/bin/uv" pip list 2>/dev/null |
    grep -iE '^(zarr|icechunk|virtualizarr|pyside6-essentials|numpy|xarray|fsspec) ' >&2
cd "$root"
exec env QT_QPA_PLATFORM=offscreen "$environment/bin/python" -m pytest -q -rs --numprocesses "${TEST_WORKERS:-2}" \
    --dist worksteal "$@"
