#!/usr/bin/env bash
# Makes dist/warplight-VERSION-linux-ARCH.tar.gz: one program that needs only glibc, its manual pages and the
# licence. The same commit gives the same bytes on the same toolchain.
set -eu
cd "$(dirname "$0")/.."

build="build-dist"
options=(--prefix=/ --buildtype=release -Dprefer_static=true -Dtests=disabled -Db_pie=true)
if [ -f $build/build.ninja ]; then
    meson configure $build "${options[@]}" >/dev/null
else
    meson setup $build "${options[@]}"
fi
ninja -C $build

program=$build/src/cmd/warplight
needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $needed; do
    case $library in
    libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | ld-linux*) ;;
    *)
        echo "dist: $program needs $library, which is not part of glibc" >&2
        exit 1
        ;;
    esac
done

version=$(meson introspect $build --projectinfo | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])')
name=warplight-$version-linux-$(uname -m)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}

rm -rf "dist/$name"
mkdir -p dist
DESTDIR=$PWD/dist/$name meson install -C $build --no-rebuild --quiet --strip
cp LICENSE README.md README.zh-CN.md CHANGELOG.md "dist/$name/"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=ustar \
    -C dist -cf - "$name" | gzip -9n >"dist/$name.tar.gz"

# The packed program must start where nothing of the build is around.
"dist/$name/bin/warplight" --version
rm -rf "dist/$name"
glibc=$(readelf -V "$program" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
printf 'dist/%s.tar.gz: %s bytes, program %s bytes, needs %s or newer\n' "$name" \
    "$(stat -c %s "dist/$name.tar.gz")" "$(stat -c %s "$program")" "$glibc"
