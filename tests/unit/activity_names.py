#!/usr/bin/env python3
"""Prints, for each structure that capture/activity.h follows, its latest name in a real cupti_activity.h.

    python3 tests/unit/activity_names.py FOLDER…
"""
import os
import re
import sys

header = next(path for folder in sys.argv[1:] if os.path.exists(path := os.path.join(folder, "cupti_activity.h")))
with open(header) as file:
    names = re.findall(r"^\} (CUpti_Activity([A-Za-z]+?)(\d*));", file.read(), re.MULTILINE)
latest = {}
for name, stem, version in names:
    latest[stem] = max(latest.get(stem, (0, "")), (int(version or 1), name))
for stem in ("Kernel", "Memcpy", "MemcpyPtoP", "Memset", "API", "Overhead", "Synchronization", "GraphTrace", "Memory",
             "MemoryPool", "UnifiedMemoryCounter", "Device"):
    print(f"typedef {latest[stem][1]} real_{stem};")
