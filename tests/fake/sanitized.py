"""Targets of the tests that were not built with a sanitizer, but get an injected library that was."""
import re
import subprocess


def preload(library):
    """What to put before such a target's command: its run-time library has to be loaded first."""
    needed = subprocess.run(["ldd", library], stdout=subprocess.PIPE, text=True).stdout
    runtime = re.search(r"=> (\S*/lib[at]san\S*)", needed)
    return ["env", f"LD_PRELOAD={runtime.group(1)}"] if runtime else []
