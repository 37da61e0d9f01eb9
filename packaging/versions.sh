#!/bin/sh
# Runs the tests with other versions than those of today: sh packaging/versions.sh SET [PYTHON] [options of pytest]
#   oldest        the lowest versions that pyproject.toml allows, on Python 3.11, without VirtualiZarr, which needs newer
#                 ones of zarr, NumPy and xarray than the program does
#   virtualizarr  the lowest VirtualiZarr, and the lowest versions that go with it, on Python 3.11
#   newest        the newest versions, on Python 3.13
#   locked        those of packaging/locked-test.txt, on Python 3.12
# PYTHON is another version of Python, such as 3.14. Each has its own environment in the checkout, which is made once;
# it is made anew when what it follows has changed.
set -eu
. "$(dirname -- "$0")/environment.sh"

set_name=${1-}
followed="$root/pyproject.toml"
case $set_name in
oldest | virtualizarr) version=3.11 resolution=lowest-direct ;;
newest) version=3.13 resolution=highest ;;
locked) version=3.12 followed="$followed $root/packaging/locked-test.txt" ;;
*) stop "say which versions: oldest, virtualizarr, newest or locked" ;;
esac
shift
case ${1-} in
[0-9]*.[0-9]*) version=$1 && shift ;;
esac
environment=$root/.venv-$set_name-$version

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

uv_install() { VIRTUAL_ENV=$environment "$environment/bin/uv" pip install --quiet "$@"; }

# Installs the project, the requirements of users as the set says, and what runs the tests as of today.
install_resolved() {
    excluded=$environment/excluded.txt
    case $set_name in oldest) echo virtualizarr ;; esac >"$excluded"
    uv_install --resolution "$resolution" --upgrade --excludes "$excluded" --editable "$root[all]"
    uv_install --excludes "$excluded" --editable "$root[test]"
}

install_locked() {
    uv_install --require-hashes --requirement "$root/packaging/locked-test.txt"
    uv_install --no-deps --no-build-isolation --editable "$root"
}

# shellcheck disable=SC2086  # a list of files
state=$(cat $followed "$0" | cksum)
if [ "$(cat "$environment/installed" 2>/dev/null)" != "$state" ]; then
    python=$(python_of_version) || exit 1
    say "installing the $set_name versions for $python"
    rm -rf "$environment"
    "$python" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check uv
    case $set_name in locked) install_locked ;; *) install_resolved ;; esac
    echo "$state" >"$environment/installed"
fi
say "$("$environment/bin/python" - "$set_name" <<'END'
import importlib.metadata as metadata, platform, re, sys

own = re.compile(r"extra == .(test|site|benchmark)")
names = {re.match(r"[\w.-]+", each)[0] for each in metadata.requires("refbrowser") if not own.search(each)}
versions = []
for name in sorted(names - {"refbrowser"}, key=str.lower):
    try:
        versions.append(f"{name} {metadata.version(name)}")
    except metadata.PackageNotFoundError:
        versions.append(f"no {name}")
print(f"{sys.argv[1]} on Python {platform.python_version()}: {', '.join(versions)}")
END
)"
cd "$root"
exec env QT_QPA_PLATFORM=offscreen "$environment/bin/python" -m pytest -q -rs --numprocesses "${TEST_WORKERS:-2}" \
    --dist worksteal "$@"
