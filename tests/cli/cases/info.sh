#!/bin/bash
# What a recording holds: another tool's, our own made from it, and our own cut short and damaged.
trace=$SAMPLES/torch/pageable_h2d.json.gz
old=$SAMPLES/wlt/v1.wlt
warplight info "$trace"
warplight export "$trace" -o run.wlt
echo "== our own"
warplight info run.wlt | grep -v 'original_path\|size'
[ "$(stat -c %s run.wlt)" -lt "$(stat -c %s "$trace")" ] && echo smaller
echo "== the same, whether from the trace or the recording"
for file in "$trace" run.wlt; do
    warplight report --format json "$file" --section ledger,findings,gaps,kernels,copies,operators,steps |
        grep -v '"path"\|"format"\|"source"\|"bytes"\|"clock_offset_ns"' >"$(basename "$file").txt"
done
cmp pageable_h2d.json.gz.txt run.wlt.txt && echo equal
echo "== of an earlier version"
warplight info "$old"
echo "== cut"
head -c 3000 "$old" >cut.wlt
warplight info cut.wlt | sed -n '/Lost/,$p'
echo "== damaged"
cp "$old" damaged.wlt && chmod u+w damaged.wlt
printf 'damage' | dd of=damaged.wlt bs=1 seek=2500 conv=notrunc status=none
warplight info damaged.wlt | sed -n '/Lost/,$p'
echo "== from a pipe, and with a damaged header"
gzip -c "$old" | warplight info - | head -3
{ head -c 8 "$old"; printf '\2\0'; tail -c +11 "$old"; } >header.wlt
warplight info header.wlt | sed -n '2p;/Lost/,$p'
