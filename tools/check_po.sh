#!/bin/sh
# Fails when a text for people lacks its translation, is marked fuzzy, has other place holders than the
# original, or when po/ was not updated after the sources changed.
set -eu
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
find src -name '*.[ch]' | LC_ALL=C sort >"$fresh/files"
xgettext --files-from="$fresh/files" --output="$fresh/pot" --from-code=UTF-8 --language=C --keyword=_ --keyword=N_ --flag=N_:1:no-c-format \
    --keyword=NP_:1,2 --flag=NP_:1:no-c-format --flag=NP_:2:no-c-format \
    --no-wrap --package-name=warplight
status=0
for po in po/*.po; do
    msgmerge --quiet --no-fuzzy-matching --no-wrap --output-file="$fresh/po" "$po" "$fresh/pot"
    msgfmt --check-format --output-file=/dev/null "$fresh/po" || status=1
    for kind in untranslated only-fuzzy; do
        left=$(msgattrib --$kind --no-obsolete --no-wrap "$fresh/po" | sed -n '/^$/,$p' | grep -A1 '^msgid' || true)
        if [ -n "$left" ]; then
            echo "$po: $kind:" >&2
            echo "$left" >&2
            status=1
        fi
    done
    python3 tools/po_placeholders.py "$fresh/po" || status=1
done
exit $status
