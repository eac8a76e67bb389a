#!/usr/bin/env python3
"""Checks the best kernels of a run at shapes that neither its policy nor its judge has seen.

A task's pool of fresh shapes is drawn from its id (docs/tasks.md), so a copy of the task under
another id has other shapes of the same ranges. Every kernel is evaluated with each of `--copies`
copies; the exit status is 1 if one of them fails anywhere.

  bench/unseen_shapes.py runs/quickstart --backend cpu
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ID = re.compile(r'^id\s*=\s*"(.*)"', re.MULTILINE)


def task_texts(folder):
    texts = {}
    for path in sorted(folder.rglob("*.toml")):
        text = path.read_text()
        if found := ID.search(text):
            texts[found[1]] = text
    return texts


def fresh_cases(kernel, task_file, options):
    """The fresh cases of one evaluation, label -> verdict, and the verdict of the whole."""
    done = subprocess.run(
        [options.kernelrl, "eval", "--backend", options.backend, "--task", task_file, "--holdout", "--json", kernel],
        capture_output=True, text=True)
    try:
        evaluation = json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{kernel}: {done.stderr.strip()}")
    cases = {case["label"]: case["verdict"] for case in evaluation["cases"] if case["kind"] == "fresh"}
    return cases, evaluation["verdict"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="+", type=pathlib.Path, help="a run's folder, with best/")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--copies", type=int, default=3, help="how many pools of shapes to draw (3)")
    parser.add_argument("--tasks", type=pathlib.Path, default=ROOT / "configs/tasks", help="the folder of the task files")
    parser.add_argument("--kernelrl", default=str(ROOT / "build/release/bin/kernelrl"), help="the program")
    options = parser.parse_args()

    if not shutil.which(options.kernelrl):
        sys.exit(f"there is no program {options.kernelrl}: build it, or name it with --kernelrl")
    texts = task_texts(options.tasks)
    kernels = [kernel for run in options.run for kernel in sorted((run / "best").glob("*.cu"))]
    if not kernels:
        sys.exit("no kernels in " + ", ".join(str(run / "best") for run in options.run))
    failures = 0
    print("| kernel | unseen shapes | failed |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        task_file = pathlib.Path(folder) / "task.toml"
        for kernel in kernels:
            if kernel.stem not in texts:
                sys.exit(f"{kernel}: no file of {options.tasks} has a task '{kernel.stem}'")
            seen, wrong = {}, []
            for copy in range(options.copies):
                task_file.write_text(ID.sub(f'id = "{kernel.stem}_unseen_{copy}"', texts[kernel.stem], count=1))
                cases, verdict = fresh_cases(kernel, task_file, options)
                seen |= cases
                wrong += [f"{label}: {found}" for label, found in cases.items() if found != "ok"]
                if verdict != "ok" and not wrong:
                    wrong.append(verdict)
            failures += bool(wrong)
            print(f"| {kernel.parent.parent.name} {kernel.stem} | {len(seen)} | {'; '.join(wrong) or 'none'} |", flush=True)
    print(f"\n{len(kernels) - failures} of {len(kernels)} kernels are right at all of them.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
