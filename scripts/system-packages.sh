#!/bin/sh
# Makes sure that what pip cannot install is there:
#
#     system-packages.sh [python] [java] [dot] [chromium]
#
# What is missing is installed with the system's own package manager when that needs no password, else the command to
# run is printed and the exit status is 1. Two may stay missing: dot, since drawings then use the Graphviz of pip,
# and chromium, without which the tests in a browser are skipped.
# ARGUS_INSTALL=no never installs anything.
set -eu
here=$(dirname "$0")

java_version() { # major version of a java program, nothing when it does not run
    "$1" -version 2>&1 | sed -n 's/.* version "\([0-9][0-9]*\).*/\1/p' | head -n 1
}

have() {
    case $1 in
    python) sh "$here/find-python.sh" >/dev/null ;;
    dot) command -v dot >/dev/null 2>&1 ;;
    chromium) # the names tests/browser/lab.py looks for
        command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
            command -v google-chrome >/dev/null 2>&1
        ;;
    java) # the places workbench.engine.spark.java.find_java looks at
        for java in "${JAVA_HOME:-/nonexistent}/bin/java" "$(command -v java || true)" ${ARGUS_JAVA_FOLDERS-\
            /usr/lib/jvm/*/bin/java /opt/homebrew/opt/openjdk*/bin/java /usr/local/opt/openjdk*/bin/java}; do
            if [ -x "$java" ] && [ "$(java_version "$java")" -ge 17 ] 2>/dev/null; then return 0; fi
        done
        return 1
        ;;
    esac
}

what() {
    case $1 in
    python) echo "Python 3.11 or newer with venv" ;;
    java) echo "Java 17 or newer, which Spark runs on" ;;
    dot) echo "Graphviz (the dot program), which draws the query network" ;;
    chromium) echo "Chromium, in which the panel is tested" ;;
    esac
}

packages() { # the names to try, one after the other: releases of a system carry different Java versions
    case $manager-$1 in
    apt-get-python) echo "python3-venv python3.11-venv" ;;
    dnf-python) echo "python3" ;;
    brew-python) echo "python@3.12" ;;
    apt-get-java) echo "openjdk-17-jre-headless openjdk-21-jre-headless" ;;
    dnf-java) echo "java-17-openjdk-headless java-21-openjdk-headless" ;;
    brew-java) echo "openjdk@17" ;;
    *-dot) echo "graphviz" ;;
    apt-get-chromium | dnf-chromium) echo "chromium" ;;
    esac
}

install_command() {
    case $manager in
    apt-get) echo "${sudo}apt-get install -y --no-install-recommends $1" ;;
    dnf) echo "${sudo}dnf install -y $1" ;;
    brew) echo "brew install $1" ;;
    esac
}

manager=
for candidate in apt-get dnf brew; do
    if [ -z "$manager" ] && command -v $candidate >/dev/null 2>&1; then manager=$candidate; fi
done

sudo="sudo "
may_install=no
if [ "$manager" = brew ] || [ "$(id -u)" = 0 ]; then
    sudo=
    may_install=yes
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    sudo="sudo -n "
    may_install=yes
fi
if [ -z "$manager" ] || [ "${ARGUS_INSTALL:-yes}" = no ]; then may_install=no; fi

install() { # install NEED PACKAGE...: the packages one after the other, until what is needed is there
    need=$1
    shift
    for package in "$@"; do
        echo "installing $package with $manager" >&2
        if $(install_command "$package") >&2 && have "$need"; then return 0; fi
    done
    return 1
}

status=0
for need in "$@"; do
    if have "$need"; then continue; fi
    echo "missing: $(what "$need")" >&2
    names=$(packages "$need")
    if [ $may_install = yes ]; then
        # Package lists may be absent or old, as in a fresh container: refresh them once, then try again.
        # shellcheck disable=SC2086
        if install "$need" $names; then continue; fi
        # shellcheck disable=SC2086
        if [ "$manager" = apt-get ] && ${sudo}apt-get update >&2 && install "$need" $names; then continue; fi
    fi
    if [ "$need" = dot ]; then
        echo "going on without it: drawings use the Graphviz that came with pip" >&2
        continue
    fi
    if [ "$need" = chromium ]; then
        echo "going on without it: the tests in a browser are skipped" >&2
        continue
    fi
    status=1
    if [ -n "$manager" ]; then
        sudo=${sudo%-n } # what a person types may ask for a password
        for package in $names; do echo "install it with:  $(install_command "$package")" >&2; done
    else
        echo "install it with your system's package manager, then run make again" >&2
    fi
done
exit $status
