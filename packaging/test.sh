#!/bin/sh
# Installs what the tests need and runs all of them: sh packaging/test.sh [--long] [options of pytest]
set -u
. "$(dirname -- "$0")/environment.sh"

prepare test test

cd "$root" || exit 1
# One worker more than cores: tests of the window wait half of their time.
workers=$(($(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1))
# -rs names each reason for a skip and how often it applied.
QT_QPA_PLATFORM=offscreen exec "$venv/bin/python" -m pytest -q -rs --numprocesses "${TEST_WORKERS:-$workers}" "$@"
