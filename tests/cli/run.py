#!/usr/bin/env python3
"""Golden tests of the command line.

A case is a shell script cases/NAME.sh; beside it lie what it must print and return:

    NAME.stdout, NAME.stderr    the exact text; absent: nothing
    NAME.exit                   the exit code; absent: 0

A line of the expectation that holds `<*>` matches any text in its place. Scripts run in an empty scratch folder with
`warplight` on the PATH, $SAMPLES naming tests/samples, 100 columns, UTF-8 and English unless they say otherwise.
A script that exits with 77 was skipped; its last line of output says why.

    run.py WARPLIGHT [--update] [NAME…]
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE / "cases"
SAMPLES = HERE.parent / "samples"
SKIPPED = 77
TIMEOUT_S = 180


def environment(warplight, scratch):
    tools = pathlib.Path(scratch) / ".bin"
    tools.mkdir()
    (tools / "warplight").symlink_to(pathlib.Path(warplight).resolve())
    kept = {key: os.environ[key] for key in os.environ if key.startswith(("ASAN_", "UBSAN_", "LSAN_", "TSAN_"))}
    return kept | {
        "PATH": f"{tools}:{os.environ['PATH']}", "HOME": scratch, "TMPDIR": scratch, "LC_ALL": "C.UTF-8",
        "COLUMNS": "100", "TERM": "xterm", "SAMPLES": str(SAMPLES), "CLI": str(HERE),
    }


def normalise(text, scratch, version):
    text = text.replace(str(SAMPLES), "SAMPLES").replace(scratch, "SCRATCH")
    return text.replace(version, "VERSION") if version else text


def run_case(script, warplight, version):
    with tempfile.TemporaryDirectory() as scratch:
        environ = environment(warplight, scratch)
        work = pathlib.Path(scratch) / "work"
        work.mkdir()
        process = subprocess.Popen(["bash", str(script)], cwd=work, env=environ, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            streams = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # what the script started is in its session
            streams = process.communicate()
        texts = [normalise(stream.decode("utf-8", "backslashreplace"), scratch, version) for stream in streams]
        return process.returncode, texts[0], texts[1]


def expected(script, kind):
    path = script.with_suffix("." + kind)
    return path.read_text("utf-8") if path.exists() else ""


def matches(pattern, text):
    if "<*>" not in pattern:
        return pattern == text
    parts = [re.escape(part) for part in pattern.split("<*>")]
    return re.fullmatch("[^\n]*".join(parts), text) is not None


def store(script, kind, text):
    path = script.with_suffix("." + kind)
    if text:
        path.write_text(text, "utf-8")
    else:
        path.unlink(missing_ok=True)


def judge(script, result, update):
    """Returns the lines that say what is wrong."""
    code, stdout, stderr = result
    if update:
        store(script, "exit", "" if code == 0 else f"{code}\n")
        for kind, text in (("stdout", stdout), ("stderr", stderr)):
            if not matches(expected(script, kind), text):
                store(script, kind, text)
        return []
    wrong = []
    wanted = int(expected(script, "exit") or 0)
    if code != wanted:
        wrong.append(f"exit code {code} instead of {wanted}")
    for kind, text in (("stdout", stdout), ("stderr", stderr)):
        pattern = expected(script, kind)
        if not matches(pattern, text):
            wrong += difflib.unified_diff(pattern.splitlines(), text.splitlines(), f"expected {kind}", kind, lineterm="")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("warplight")
    parser.add_argument("--update", action="store_true", help="rewrite the expectations")
    parser.add_argument("names", nargs="*")
    args = parser.parse_intermixed_args()
    version = subprocess.run([args.warplight, "--version"], capture_output=True, text=True, check=True)
    version = version.stdout.split()[1]
    scripts = [script for script in sorted(CASES.glob("*.sh")) if not args.names or script.stem in args.names]
    if not scripts:
        sys.exit("no such case")
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda script: run_case(script, args.warplight, version), scripts)
        for script, result in zip(scripts, results):
            if result[0] == SKIPPED:
                print(f"skip {script.stem}: {(result[1].splitlines() or ['?'])[-1]}")
                continue
            wrong = judge(script, result, args.update)
            failures += bool(wrong)
            print(f"{'FAIL' if wrong else 'ok  '} {script.stem}", *wrong, sep="\n  ")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
