#!/usr/bin/env python3
"""Opens the report of a run of 10,000 answers in a browser, clicks and filters, and compares what it shows with the run's files.

    browser.py BUILD_FOLDER BROWSER

checks.js says what is done in the page; it leaves its complaints in the document, which the browser prints.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ANSWERS = 10_000
LONG = 30_000_000  # letters of a prompt; a page of two runs has room for one such prompt of each
STAGES = 'iterations = 3\n[[stage]]\nname = "search"\nkind = "rl"\n'  # of small.toml, whose only stage has 2 iterations
REWARDS = [1, 1.4, 1.8, 2.2, 2.6, 3]  # noise 5 · 0.4² / 10 = 0.08; 25 / 7 degrees of freedom: 2.902 · √(0.08 · 2 / 3) = 0.6701
PASSES = [0.5, 0.6, 0.4, 0.5, 0.7, 0.4]  # no difference is shown


def run_of(build, folder):
    """A finished run of two stages. Its last iteration kept many more answers than it had. The first one, which found the best kernels, and the
    second one have a long prompt each."""
    plan = folder / "small.toml"
    plan.write_text((HERE.parent / "cli/data/small.toml").read_text().replace("iterations = 2\n", STAGES + "iterations = 3\n"))
    kernelrl = build / "bin/kernelrl"
    toy = ["--plugin-path", build / "tests/plugins"]
    subprocess.run([kernelrl, "--plan", plan, *toy, "--set", "run.name=reported"], cwd=folder, check=True, capture_output=True)
    run = folder / "runs/reported"
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    for line, reward, passes in zip(lines, REWARDS, PASSES, strict=True):
        line.update({"reward/mean": reward, "kernel/pass_rate": passes})
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    first, second, *_, newest = sorted((run / "samples").glob("*.jsonl"))
    for file in (first, second):
        long = json.loads(file.read_text().splitlines()[-1])
        with file.open("a") as samples:
            samples.write(json.dumps({**long, "prompt": ["x" * LONG]}) + "\n")
    lines = newest.read_text().splitlines()
    newest.write_text("".join(lines[i % len(lines)] + "\n" for i in range(ANSWERS)))
    subprocess.run([kernelrl, "report", "reported", "reported", *toy, "--output", "report.html"], cwd=folder, check=True, capture_output=True)
    return run


def main():
    build, browser = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = run_of(build, folder)
        samples = [json.loads(line) for file in sorted((run / "samples").glob("*.jsonl")) for line in file.read_text().splitlines()]
        expected = {"metrics": [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()],
                    "best": [json.loads(file.read_text()) for file in (run / "best").glob("*.json")],
                    "answers": len(samples), "right": sum(sample["verdict"] == "ok" for sample in samples)}
        page = folder / "report.html"
        if page.stat().st_size > 10_000_000:
            sys.exit(f"the page has {page.stat().st_size} bytes")
        checks = f"<script>const expected = {json.dumps(expected)};\n{(HERE / 'checks.js').read_text()}</script>"
        page.write_text(page.read_text().replace("</body>", checks + "</body>"))
        shown = subprocess.run([browser, "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000", "--dump-dom", page.as_uri()],
                               capture_output=True, text=True, timeout=100, env={**os.environ, "HOME": name})
    result = re.search(r'<output id="checks">(.*?)</output>', shown.stdout, re.DOTALL)
    if not result:
        sys.exit("the checks did not end:\n" + shown.stderr[-3000:])
    if result[1] != "ok":
        sys.exit(result[1])


if __name__ == "__main__":
    main()
