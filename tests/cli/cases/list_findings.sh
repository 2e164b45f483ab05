#!/bin/bash
# Each finding has a meaning in both languages and a page.
warplight report --list-findings | tee english
warplight report --list-findings --lang=zh >chinese
echo "$(wc -l <chinese) lines, $(sort english chinese | uniq -d | wc -l) not translated"
grep -o '^[a-z0-9-]\+' english | while read -r id; do
    warplight explain "$id" >page || echo "no page about $id"
    warplight explain "$id" --lang zh >page_zh
    cmp -s page page_zh && echo "page about $id is not translated"
done
