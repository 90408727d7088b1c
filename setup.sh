#!/bin/sh
# Sets up this checkout: APT packages, a virtual environment in .venv, the lab kernel; with `test` what tests need too.
# Run it as often as you like: it does only what is missing.
set -eu
cd "$(dirname "$0")"
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" # where `ip` and `nft` are; an ordinary user's PATH leaves them out

main() {
    # shellcheck disable=SC2046 # each word is a package
    install $(missing_packages) $(missing_python)
    make_environment
    # commands start in half the time, also where PYTHONDONTWRITEBYTECODE keeps Python from writing bytecode
    .venv/bin/python -m compileall -q testbed testbed_reproductions || true
    .venv/bin/testbed kernel build
    [ "${1:-}" != test ] || install_for_tests
}

# stop WHAT COMMAND: this machine lacks something, and what to type about it.
stop() {
    printf 'setup: %s\n' "$1" >&2
    printf 'setup: to fix it, type: %s\n' "$2" >&2
    exit 3
}

# missing_packages [test]: the packages of testbed/packages.txt whose proof (a program or a file) is not there, of those
# that only tests need, or of all others.
missing_packages() {
    sed 's/#.*//' testbed/packages.txt | while read -r name probe use; do
        only=$([ "$use" != test ] || echo test)
        [ "$only" = "${1:-}" ] || continue
        case $probe in
        '') ;;
        /*) [ -e "$probe" ] || echo "$name" ;;
        *) command -v "$probe" >/dev/null || echo "$name" ;;
        esac
    done | sort -u
}

# What gives us a Python, if none is good enough: Ubuntu 22.04's own is too old, but it has a newer one.
missing_python() {
    if python=$(find_python); then return; fi
    case $(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}") in
    'ubuntu 22.04') echo python3.11 python3.11-venv ;;
    *) echo python3 python3-venv ;;
    esac
}

# The first Python that is new enough and can make environments. Debian's own comes first:
# every user can read it, and Debian's Python packages belong to it.
find_python() {
    for python in .venv/bin/python /usr/bin/python3 python3 python3.13 python3.12 python3.11 python3.14; do
        if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    return 1
}

pip_install() { .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"; }

# What only tests need is no reason to stop: without it they are skipped.
install_for_tests() {
    # shellcheck disable=SC2046 # each word is a package
    (install $(missing_packages test)) || echo "setup: going on; tests that need it are skipped" >&2
}

install() {
    [ $# -gt 0 ] || return 0
    command="apt-get install -y $*"
    command -v apt-get >/dev/null || stop "these packages are missing, and there is no APT here: $*" "install them"
    [ "$(id -u)" -eq 0 ] || may_sudo || stop "these packages are missing: $*" "sudo $command"
    echo "setup: installing $*"
    as_root apt-get update -q || true # one broken source of the user's is not our end
    keep_off "$@"
    as_root RUNLEVEL=1 apt-get install -y -q --no-install-recommends "$@" ||
        stop "APT could not install them (see above; is there a network?)" "sudo apt-get update && sudo $command"
    leave_off "$@"
}

# Debian starts some servers when they are installed, and at every boot. Trials start their own, where they need them:
# the user's machine gets none from us. One that was there before is not touched (its package is not missing).
UNITS=/etc/systemd/system
masked=

# services_of PACKAGE…: the servers that they bring.
services_of() {
    for package; do
        case $package in
        nginx-light) echo nginx ;;
        openvswitch-switch) echo openvswitch-switch ovs-record-hostname ;;
        openvswitch-testcontroller) echo openvswitch-testcontroller ;;
        esac
    done
}

keep_off() {
    [ -d "$UNITS" ] || return 0
    trap 'unmask' EXIT
    for service in $(services_of "$@"); do
        mask=$UNITS/$service.service
        [ ! -e "$mask" ] && [ ! -L "$mask" ] || continue
        as_root ln -s /dev/null "$mask"
        masked="$masked $mask"
    done
}

unmask() {
    # shellcheck disable=SC2086 # each word is a file
    [ -z "$masked" ] || as_root rm -f $masked
    masked=
}

leave_off() {
    unmask
    trap - EXIT
    for service in $(services_of "$@"); do
        if command -v systemctl >/dev/null; then
            as_root systemctl disable --quiet "$service" || true
        else
            as_root update-rc.d "$service" disable || true
        fi
    done
}

may_sudo() {
    command -v sudo >/dev/null || return 1
    sudo -n true 2>/dev/null || { [ -t 0 ] && sudo true; }
}

as_root() {
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    $sudo env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 "$@" </dev/null
}

make_environment() {
    stamp="$PWD $(cat pyproject.toml requirements.lock | sha256sum)"
    if [ "$(cat .venv/stamp 2>/dev/null)" = "$stamp" ] && .venv/bin/python -c '' 2>/dev/null; then return; fi
    usable_environment || new_environment
    echo "setup: installing the Python packages into .venv"
    {
        pip_install --require-hashes --requirement requirements.lock &&
            pip_install --no-deps --no-build-isolation --editable .
    } || stop "pip could not install the Python packages (see above; is there a network?)" "make setup"
    echo "$stamp" >.venv/stamp
}

# An environment does not survive being moved, nor the removal of its Python.
usable_environment() {
    case $(cat .venv/stamp 2>/dev/null) in "$PWD "*) .venv/bin/python -m pip --version >/dev/null 2>&1 ;; *) false ;; esac
}

new_environment() {
    rm -rf .venv || stop "the old .venv cannot be removed" "sudo rm -rf $PWD/.venv"
    python=$(find_python) || stop "no Python 3.11 or newer with venv was found" "sudo apt-get install -y python3-venv"
    "$python" -m venv .venv || stop "$python could not make .venv in $PWD" "sudo apt-get install -y python3-venv"
}

main "$@"
