#!/bin/bash
# Machine output of kernels: names fixed by the schema, unknown is null and says why.
code=$SAMPLES/code
warplight kernels "$code/kernels.fatbin" --kernel spill --format json >spill.json
python3 - <<'END'
import json
report = json.load(open("spill.json"))
print(report["schema"], len(report["kernels"]))
for kernel in report["kernels"]:
    if kernel["architecture"] == "sm_90" and kernel["name"] == "spill":
        site = max(kernel["sites"], key=lambda site: len(site["inlined_into"]))
        site["file"] = site["file"].split("/")[-1]
        for outer in site["inlined_into"]:
            outer["file"] = outer["file"].split("/")[-1]
        assert sum(s["store_bytes"] for s in kernel["sites"]) == kernel["spill_store_bytes"]
        assert sum(s["load_bytes"] for s in kernel["sites"]) == kernel["spill_load_bytes"]
        print(json.dumps(site, indent=1))
END
warplight kernels "$code/plain.ptx" --format json
warplight kernels "$code/plain.ptx" "$code/plain.cubin" --format csv --lang zh
