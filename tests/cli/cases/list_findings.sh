# Each finding has a meaning in both languages and a page.
warplight report --list-findings | tee en
warplight report --list-findings --lang zh >zh
echo "$(wc -l <zh) lines, $(sort en zh | uniq -d | wc -l) not translated"
warplight report --list-findings | grep -o '^[a-z0-9-]\+' | while read -r id; do
    warplight explain "$id" >page || echo "no page about $id"
    warplight explain "$id" --lang zh >page_zh
    cmp -s page page_zh && echo "page about $id is not translated"
done
