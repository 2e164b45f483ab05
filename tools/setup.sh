#!/usr/bin/env bash
# Installs what a task needs on Debian and its relatives, and does nothing at all when it is there already.
#
#     tools/setup.sh build|test|lint|fuzz|dist|coverage ...
#
# A package counts as present when its probe succeeds, not when dpkg knows it: a meson from elsewhere is as good.
set -eu

# probe kinds: cmd NAME, pc MODULE (pkg-config), header FILE, fuzzer
# group   package            probe
needs='
build     gcc                cmd gcc
build     libc6-dev          header stdio.h
build     meson              cmd meson
build     ninja-build        cmd ninja
build     pkg-config         cmd pkg-config
build     python3            cmd python3
build     gettext            cmd msgfmt
build     zlib1g-dev         pc zlib
build     libzstd-dev        pc libzstd
build     liblz4-dev         pc liblz4
build     libxxhash-dev      pc libxxhash
build     libsqlite3-dev     pc sqlite3
build     libncurses-dev     pc ncursesw
build     libiberty-dev      header libiberty/demangle.h
test      libcmocka-dev      pc cmocka
test      git                cmd git
test      mandoc             cmd mandoc
lint      clang-format       cmd clang-format
lint      shellcheck         cmd shellcheck
fuzz      clang              cmd clang
fuzz      libclang-rt-dev    fuzzer
fuzz      llvm               cmd llvm-symbolizer
coverage  gcovr              cmd gcovr
'

# What each task needs: one or more groups of the table.
groups_of() {
    case $1 in
    build | dist) echo build ;;
    test) echo build test ;;
    lint) echo build test lint ;;
    fuzz) echo build test fuzz ;;
    coverage) echo build test coverage ;;
    *)
        echo "setup: unknown task '$1'; known: build test lint fuzz dist coverage" >&2
        exit 2
        ;;
    esac
}

c_compiler() { command -v cc || command -v gcc || command -v clang; }

is_present() {
    case $1 in
    cmd) command -v "$2" >/dev/null ;;
    pc) command -v pkg-config >/dev/null && pkg-config --exists "$2" ;;
    header)
        c=$(c_compiler) && echo "#include <$2>" | "$c" -E -x c - >/dev/null 2>&1
        ;;
    fuzzer)
        command -v clang >/dev/null &&
            echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }' |
            clang -fsanitize=fuzzer,address -x c -o /dev/null - >/dev/null 2>&1
        ;;
    *) false ;;
    esac
}

wanted=" "
for task in "${@:-build}"; do
    for group in $(groups_of "$task"); do
        wanted="$wanted$group "
    done
done

missing=()
while read -r group package probe; do
    case "$wanted" in *" $group "*) ;; *) continue ;; esac
    # The probe is two words on purpose.
    # shellcheck disable=SC2086
    is_present $probe || missing+=("$package")
done <<<"$(printf '%s' "$needs" | grep .)"

if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "setup: missing: ${missing[*]} (Debian names). Install them with this system's package manager." >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "setup: missing: ${missing[*]}. Run as root once: apt-get install ${missing[*]}" >&2
    exit 1
fi

echo "setup: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get -o DPkg::Lock::Timeout=300 update &&
    apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    echo "setup: apt-get could not install ${missing[*]}; its last words are above" >&2
    exit 1
fi
