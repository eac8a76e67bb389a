#!/usr/bin/env python3
"""A run whose servers are killed and started again: run.py BUILD_FOLDER PLAN [KERNELRL_ARGUMENTS…]

Runs the plan by two servers with the backend `cpu`, once undisturbed, and once while one of them, both, or the run itself are killed
(SIGKILL) at random; servers start again soon, and the run is resumed. Ends with 0 if both have the same metrics.jsonl, times and
caches aside.
"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from servers import TOKEN, Server


def metrics(folder):
    text = (folder / "metrics.jsonl").read_text()
    return re.sub(r'"(time|time_s/[^"]*|perf/[^"]*|cache/[^"]*)":[^,}]*,?', "", text)


def main(build, plan, *arguments):
    program = str(pathlib.Path(build) / "bin" / "kernelrl")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="kernelrl-faults-"))
    (folder / "tokens").write_text(f"run {TOKEN}\n")
    judges = [Server(program, name, folder, "--token-file", folder / "tokens", "--seed", "client") for name in ("judge-1", "judge-2")]
    for judge in judges:
        assert judge.start(), "a server does not start"
    backend = {"use": "remote", "servers": [judge.url for judge in judges], "token_env": "STORM_TOKEN", "patience_s": 2}
    backend = "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in backend.items()) + "}"

    def start(name):
        with open(folder / f"{name}.log", "a") as log:
            return subprocess.Popen([program, "--plan", plan, "--resume", "--set", f"run.name={name}", "--set", f"run.directory={folder}",
                                     "--set", f"backend={backend}", *arguments], stdout=log, stderr=log,
                                    env=dict(os.environ, STORM_TOKEN=TOKEN))

    assert start("undisturbed").wait() == 0, folder
    run, kills, ends = start("disturbed"), 0, 0
    while (status := run.poll()) != 0:
        if status is not None:
            ends += 1
            run = start("disturbed")
        time.sleep(random.uniform(0.5, 3))
        victims = random.choice([judges[:1], judges[1:], judges, [run]])
        for victim in victims:
            victim.kill()
        if victims != [run]:
            kills += len(victims)
            time.sleep(random.choice((0.2, 1, 5)))
            for judge in victims:
                judge.start_again()
    for judge in judges:
        judge.stop()
    expected, found = metrics(folder / "undisturbed"), metrics(folder / "disturbed")
    same = expected == found
    print(f"{kills} times a server and {ends} times the run was killed: {'the same' if same else 'OTHER'} {len(expected.splitlines())} lines of metrics")
    if same:
        shutil.rmtree(folder)
    else:
        print("logs:", folder)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
