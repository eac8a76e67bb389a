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


def run_of(build, folder):
    """A finished run, whose last iteration kept many more answers than it had."""
    plan = HERE.parent / "cli/data/small.toml"
    kernelrl = build / "bin/kernelrl"
    toy = ["--plugin-path", build / "tests/plugins"]
    subprocess.run([kernelrl, "--plan", plan, *toy, "--set", "run.name=reported"], cwd=folder, check=True, capture_output=True)
    run = folder / "runs/reported"
    newest = sorted((run / "samples").glob("*.jsonl"))[-1]
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
                    "answers": len(samples), "right": sum(sample["verdict"] == "ok" for sample in samples)}
        page = folder / "report.html"
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
