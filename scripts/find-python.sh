#!/bin/sh
# Prints the interpreter to build the virtual environment with: Python 3.11 or newer that can make one.
# $PYTHON, when set, is tried first. Exit status 1 when there is none.
for python in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    # pip comes into a new environment through ensurepip, which Debian ships apart from Python itself.
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        command -v "$python"
        exit 0
    fi
done
exit 1
