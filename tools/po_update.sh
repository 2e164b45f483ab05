#!/bin/sh
# Collects the texts for people from the sources and merges them into the translations.
# Then translate what is empty or fuzzy in po/*.po; tools/check_po.sh says whether anything is left.
set -eu
cd "$(dirname "$0")/.."
find src -name '*.[ch]' | LC_ALL=C sort >po/POTFILES
pot=$(mktemp)
trap 'rm -f "$pot"' EXIT
xgettext --files-from=po/POTFILES --output="$pot" --from-code=UTF-8 --language=C --keyword=_ --keyword=N_ --flag=N_:1:no-c-format \
    --keyword=NP_:1,2 --flag=NP_:1:no-c-format --flag=NP_:2:no-c-format \
    --no-wrap --sort-by-file --add-location=file --package-name=warplight
for po in po/*.po; do
    msgmerge --quiet --update --backup=none --no-wrap --no-fuzzy-matching --sort-by-file --add-location=file "$po" "$pot"
    msgattrib --no-obsolete --no-wrap --sort-by-file --output-file="$po" "$po"
    # No date of the template: it would make every run a change.
    sed -i '/^"POT-Creation-Date:/d' "$po"
    msgfmt --statistics --output-file=/dev/null "$po"
done
