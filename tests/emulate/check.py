#!/usr/bin/env python3
"""Runs `kernelrl emulate` on the kernels of a folder and compares with what their comments expect.

check.py KERNELRL FOLDER [SHARD COUNT]. The first lines of each file say what is run and happens:
  // emulate: --launch 'add<<<4, 256>>>(x, y, n)' …   options, as a shell would split them
  // holds: y = 1 2 3            no fault, no warning, and the buffer y begins with these elements
  // prints: hello               no fault, no warning, and the kernel prints this text
  // fault: data_race 14|17      this fault, or one of several, in one of these lines (0: in none)
  // warning: unwritten          no fault, but this warning
  // refused: block.x is 2048    the call is refused, with this text
"""

import json
import math
import re
import shlex
import subprocess
import sys
from pathlib import Path

SUFFIXES = {".cu", ".ptx", ".py"}
LINE = re.compile(r"^(?://|#) (emulate|holds|prints|fault|warning|refused): (.*)$", re.MULTILINE)


def is_close(expected: str, found: str) -> bool:
    try:
        return math.isclose(float(expected), float(found), rel_tol=1e-5, abs_tol=1e-6)
    except ValueError:
        return expected == found  # true, false


def run(kernelrl: str, path: Path, options: list[str]) -> dict:
    command = [kernelrl, "emulate", path.name, "--json", *options]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=600)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"refused": f"exit code {done.returncode}: {done.stderr.strip()}"}


def holds(report: dict, expected: str) -> bool:
    name, _, *wanted = expected.split()
    first = {buffer["name"]: buffer["first"] for buffer in report["buffers"]}.get(name, [])
    return len(first) >= len(wanted) and all(map(is_close, wanted, first))


def is_met(kind: str, expected: str, report: dict) -> bool:
    if kind == "refused":
        return expected in report.get("refused", "")
    fault = report.get("fault")
    if kind == "fault":
        kinds, lines = (words.split("|") for words in expected.split())
        return bool(fault) and fault["kind"] in kinds and str(fault["line"]) in lines
    if not report.get("ok"):
        return False
    if kind == "warning":
        return any(warning["kind"] == expected for warning in report["warnings"])
    return holds(report, expected) if kind == "holds" else expected in report["printed"]


def summary(report: dict) -> str:
    if fault := report.get("fault"):
        return f"{fault['kind']} {fault['line']}: {fault['message']}"
    if "refused" in report:
        return report["refused"]
    found = [f"{warning['kind']}: {warning['message']}" for warning in report["warnings"]]
    found += [f"{buffer['name']} = {' '.join(buffer['first'])}" for buffer in report["buffers"]]
    return "; ".join([*found, repr(report["printed"])])


def mismatches(report: dict, expected: list[tuple[str, str]]) -> list[str]:
    missing = [f"{kind}: {text}" for kind, text in expected if not is_met(kind, text, report)]
    if any(("warning", warning["kind"]) not in expected for warning in report.get("warnings", [])):
        missing.append("no other warning")
    return [f"expected {text}; found {summary(report)}" for text in missing]


def check(kernelrl: str, path: Path) -> list[str]:
    comments = [(kind, text.strip()) for kind, text in LINE.findall(path.read_text())]
    options = [word for kind, text in comments if kind == "emulate" for word in shlex.split(text)]
    expected = [comment for comment in comments if comment[0] != "emulate"]
    assert expected, f"{path} does not say what is expected"
    try:
        return mismatches(run(kernelrl, path, options), expected)
    except subprocess.TimeoutExpired as error:
        return [str(error)]


def main(kernelrl: str, folder: str, shard: str = "0", count: str = "1") -> int:
    paths = sorted(path for path in Path(folder).iterdir() if path.suffix in SUFFIXES)
    program, shown = str(Path(kernelrl).resolve()), paths[int(shard) :: int(count)]
    found = [f"{path}: {text}" for path in shown for text in check(program, path)]
    print("".join(text + "\n" for text in found), end="")
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
