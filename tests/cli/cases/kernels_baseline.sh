#!/bin/bash
# A report that was kept can be shown again and compared with; one kernel got its fault, another lost it.
exec 2>&1
python3 - <<'EOF'
import csv, gzip, os
rows = list(csv.reader(gzip.open(os.environ["SAMPLES"] + "/ncu/transpose_raw.csv.gz", "rt")))
name = rows[0].index("Kernel Name")
for path, kernel in (("bad.csv", "transpose_bad"), ("good.csv", "transpose_good"), ("padded.csv", "transpose_padded")):
    with open(path, "w", newline="") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows(rows[:2])
        for row in rows[2:]:
            if row[name].startswith(kernel):
                writer.writerow(row[:name] + ["transpose(const float *, float *, int)"] + row[name + 1:])
EOF
warplight kernels bad.csv --format json -o before.json
warplight kernels --baseline before.json padded.csv --fail-over 5
echo "exit code $?"
warplight kernels --baseline padded.csv before.json --fail-over 5 >slower.txt
echo "exit code $?"
grep -A4 '^kernel' slower.txt
warplight kernels --baseline before.json good.csv --format json >changes.json
python3 -c 'import json; report = json.load(open("changes.json")); kernel = report["kernels"][0]
print(report["schema"], kernel["state"], kernel["findings_gone"], kernel["findings_new"], len(kernel["metrics"]) > 30)'
warplight kernels --baseline before.json good.csv --format csv
echo "A report that is read again says the same:"
warplight kernels before.json --format json -o again.json
diff before.json again.json | grep -v share_ratio | grep '^[<>]'
echo "Wrong use:"
warplight kernels good.csv --fail-over 5
warplight kernels good.csv --baseline before.json --fail-over much
warplight kernels good.csv --baseline nothing.json
echo '{"schema": "warplight.kernels/1", "kernels": []}' >empty.json
warplight kernels good.csv --baseline empty.json
head -c 3000 before.json >cut.json
warplight kernels cut.json --kernel transpose --format csv | wc -l
