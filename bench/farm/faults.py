#!/usr/bin/env python3
"""A farm on Ray while its parts are killed, by SIGKILL and at random.

    faults.py KERNELRL [kills] [head] [sizes] [run] [--seconds 120] [--seed 1]

kills   judges a stream of kernels whose verdicts are known by the backend `remote`, while servers, replicas, the list of servers
        and a node are killed every few seconds; a node comes back later. Each kernel has one verdict, the right one, or is
        named as not judged; a second call judges those.
head    the same, and Ray's head is killed with all of its node; a new cluster takes its place.
sizes   a farm that grows under load and shrinks without; a node that joins and one that goes.
run     a run by the local backend, and by a farm where servers and replicas are killed and the run itself too, which is resumed:
        the metrics are the same, times aside.
"""

import argparse
import collections
import json
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from cluster import CHECKOUT, Cluster, kill, wait_until

VERDICTS = {  # of changes to the kernel of a task
    "ok": lambda source: source,
    "wrong_result": lambda source: source.replace("fmaxf(inp, 0.0f)", "fmaxf(inp, 0.5f)"),
    "compile_error": lambda source: source.replace("__global__ void", "__global__ void void"),
}


def write_kernels(folder, number):
    source = (CHECKOUT / "bench/kernels/relu.cu").read_text()
    for i in range(number):
        name = list(VERDICTS)[i % len(VERDICTS)]
        (folder / f"{i:05}-{name}").mkdir(parents=True)
        (folder / f"{i:05}-{name}/relu.cu").write_text(f"{VERDICTS[name](source)}// {os.getpid()} {i}\n")


class Judging:
    """kernelrl eval of a folder by the farm, whose verdicts go to a file."""

    def __init__(self, program, cluster, folder, patience_s, at_a_time=8):
        self.output = folder.with_suffix(".jsonl")
        self._log = folder.with_suffix(".log")
        words = [program, "eval", "--backend", "remote", "--task", CHECKOUT / "configs/tasks", "--output", self.output]
        for change in (f"members={json.dumps(cluster.members_url)}", "members_every_s=1", f"patience_s={patience_s}",
                       f"concurrency={at_a_time}"):
            words += ["--set", change]
        self.process = subprocess.Popen([*words, folder], stdout=self._log.open("a"), stderr=subprocess.STDOUT)

    def goes_on(self):
        return self.process.poll() is None

    def end(self):
        self.process.wait()
        return self._log.read_text()


def count_verdicts(output):
    """(how many kernels have a verdict, how many of them more than one, how many a wrong one)."""
    verdicts = collections.defaultdict(list)
    for line in map(json.loads, output.read_text().splitlines()):
        verdicts[line["kernel"]].append(line["evaluation"]["verdict"])
    wrong = sum(any(one != kernel.split("/")[0].split("-", 1)[1] for one in all) for kernel, all in verdicts.items())
    return len(verdicts), sum(len(all) > 1 for all in verdicts.values()), wrong


class Killer:
    """Kills a part of a farm of two nodes every few seconds; the second node comes back."""

    def __init__(self, cluster, draw):
        self._cluster, self._draw = cluster, draw
        self.killed = collections.Counter()
        self._gone_at = None

    def act(self):
        if self._gone_at is not None:
            if time.monotonic() - self._gone_at > 10:
                self._cluster.start_node(1, 2)
                self._gone_at = None
            return
        what = self._draw.choices(["server", "replica", "list", "node"], [4, 3, 2, 1])[0]
        if what == "node":
            self._cluster.kill_node(1)
            self._gone_at = time.monotonic()
        else:
            found = self._cluster.running({"list": "ServeReplica:kernelrl-members"}.get(what, "kernelrl serve --seed"))
            if not found:
                return
            pid, parent = self._draw.choice(found)
            kill(parent if what == "replica" else pid)
        self.killed[what] += 1

    def act_for(self, seconds, goes_on):
        end = time.monotonic() + seconds
        while time.monotonic() < end and goes_on():
            time.sleep(self._draw.uniform(3, 8))
            self.act()


def two_nodes(cluster, *words):
    cluster.start_node(0, 2)
    cluster.start_node(1, 2)
    cluster.up("--backend", "cpu", "--set", "backend.cache=off", "--cpus", "1", *words)


def judge_all(options, cluster, disturb, patience_s):
    """Judges until `disturb` ends, twice if need be, and says what came of it."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "kernels"
        write_kernels(folder, options.kernels)
        judging = Judging(options.program, cluster, folder, patience_s)
        disturb(judging)
        log = judging.end()
        judged, twice, wrong = count_verdicts(judging.output)
        not_judged = log.count(": not judged: ")
        print(f"{options.kernels} kernels: {judged} judged, {not_judged} named as not judged; {twice} judged twice, {wrong} wrong "
              f"verdicts", flush=True)
        for line in sorted({line.partition(": ")[2][:150] for line in log.splitlines() if "not judged:" in line})[:3]:
            print(f"  {line}")
        if not_judged:
            Judging(options.program, cluster, folder, patience_s).end()
            judged, twice, wrong = count_verdicts(judging.output)
            print(f"called again: {judged} judged, {twice} twice, {wrong} wrong verdicts", flush=True)
        return judged == options.kernels and twice == wrong == 0


def kills(options):
    with Cluster(options.program) as cluster:
        two_nodes(cluster, "--replicas", "2")
        cluster.members(2)
        killer = Killer(cluster, random.Random(options.seed))
        good = judge_all(options, cluster, lambda judging: killer.act_for(options.seconds, judging.goes_on), 300)
        print("killed: " + ", ".join(f"{count} of {what}" for what, count in sorted(killer.killed.items())), flush=True)
        return good and not left_over(cluster)


def left_over(cluster):
    """Servers whose replica is gone, after a while: there should be none."""
    time.sleep(5)
    stray = [pid for pid, parent in cluster.running("kernelrl serve --seed") if parent == 1]
    print(f"servers left over: {len(stray)}")
    return stray


def head(options):
    with Cluster(options.program) as cluster:
        two_nodes(cluster, "--replicas", "2")
        cluster.members(2)

        def disturb(judging):
            time.sleep(10)
            before = count_verdicts(judging.output)[0]
            cluster.kill_node(0)
            killed = time.monotonic()
            while cluster.running("kernelrl serve --seed") and time.monotonic() - killed < 120:
                time.sleep(0.5)
            print(f"the other node's server ended {time.monotonic() - killed:.0f} s after the head; until then "
                  f"{count_verdicts(judging.output)[0] - before} more kernels were judged", flush=True)
            cluster.kill_node(1)
            two_nodes(cluster, "--replicas", "2")
            print(f"a new cluster judges {time.monotonic() - killed:.0f} s after the head was killed", flush=True)

        return judge_all(options, cluster, disturb, 600)


def follow(cluster, seconds, numbers):
    """Notes how many members there are, whenever that changes."""
    begin, last = time.monotonic(), None
    while time.monotonic() - begin < seconds:
        number = len(cluster.servers())
        if number != last:
            numbers.append((round(time.monotonic() - begin), number))
            last = number
        time.sleep(0.5)


def sizes(options):
    with Cluster(options.program) as cluster, tempfile.TemporaryDirectory() as temporary:
        cluster.start_node(0, 2)
        cluster.up("--backend", "cpu", "--set", "backend.cache=off", "--cpus", "1", "--replicas", "1:3", "--upscale-delay-s", "3",
                   "--downscale-delay-s", "10")
        cluster.members(1)
        folder = Path(temporary) / "kernels"
        write_kernels(folder, 100000)
        numbers = []
        watch = threading.Thread(target=follow, args=(cluster, 200, numbers))
        watch.start()
        judging = Judging(options.program, cluster, folder, 120, at_a_time=16)
        reached = [wait_until(lambda: len(cluster.servers()) >= 2, "two servers under load") and 2]
        cluster.start_node(1, 1)
        reached.append(wait_until(lambda: len(cluster.servers()) == 3, "three servers with another node") and 3)
        cluster.kill_node(1, signal.SIGTERM)
        reached.append(wait_until(lambda: len(cluster.servers()) == 2, "two servers without that node") and 2)
        judging.process.send_signal(signal.SIGINT)
        log = judging.end()
        reached.append(wait_until(lambda: len(cluster.servers()) == 1, "one server without load") and 1)
        watch.join()
        judged, twice, wrong = count_verdicts(judging.output)
        print(f"servers: 1, then {', '.join(map(str, reached))}; by seconds: {numbers}")
        print(f"{judged} judged, {twice} twice, {wrong} wrong, {log.count(': not judged: ')} not judged", flush=True)
        return wrong == 0 and twice == 0


RUN = ["run.name=farm_faults", 'dataset.0.only=["vector_add","relu"]', 'dataset.1.only=["vector_add","relu"]', "dataset.1.count=160",
       "policy.model.layers=2", "policy.model.hidden=64", "policy.model.heads=2", "policy.model.ffn=128", "rollout.groups=4",
       "rollout.group_size=8", "stage.reinforce.iterations=8", "stage.warm-up.epochs=20", "stage.warm-up.optimizer.lr=1e-2"]


def start_run(program, folder, backend, *words):
    changes = [word for change in (*RUN, backend) for word in ("--set", change)]
    with (folder / "out.log").open("a") as log:
        return subprocess.Popen([program, "--plan", CHECKOUT / "configs/two_turns.toml", *changes, *words], cwd=folder, stdout=log,
                                stderr=subprocess.STDOUT)


def metrics(folder):
    file = folder / "runs/farm_faults/metrics.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return [{key: value for key, value in json.loads(line).items() if not key.startswith(("time", "perf/"))} for line in lines]


def run(options):
    with Cluster(options.program) as cluster, tempfile.TemporaryDirectory() as temporary:
        local, farm = Path(temporary) / "local", Path(temporary) / "farm"
        local.mkdir()
        farm.mkdir()
        if start_run(options.program, local, "backend.cache=off").wait():
            raise SystemExit((local / "out.log").read_text())
        iterations = len(metrics(local))
        two_nodes(cluster, "--replicas", "2")
        cluster.members(2)
        backend = f'backend={{use="remote", members="{cluster.members_url}", members_every_s=1, patience_s=300}}'
        process = start_run(options.program, farm, backend)
        draw = random.Random(options.seed)
        killed = collections.Counter()
        for place in range(1, iterations):
            wait_until(lambda: len(metrics(farm)) >= place or process.poll() is not None, "an iteration", 900)
            what = ("server", "replica", "run")[place % 3]
            killed[what] += 1
            if what == "run":
                process.kill()
                process.wait()
                process = start_run(options.program, farm, backend, "--resume")
            elif found := cluster.running("kernelrl serve --seed"):
                kill(draw.choice(found)[what == "replica"])
        if process.wait():
            raise SystemExit((farm / "out.log").read_text())
        differ = sum(a != b for a, b in zip(metrics(local), metrics(farm), strict=True))
        print("killed: " + ", ".join(f"{count} of {what}" for what, count in sorted(killed.items())))
        print(f"{differ} of {iterations} iterations differ", flush=True)
        return differ == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, metavar="KERNELRL")
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--seconds", type=int, default=120, help="of kills")
    parser.add_argument("--kernels", type=int, default=600, help="of kills and head")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.program = options.program.resolve()
    failed = []
    for part in options.parts or ["kills", "head", "sizes", "run"]:
        print(f"## {part}", flush=True)
        if not {"kills": kills, "head": head, "sizes": sizes, "run": run}[part](options):
            failed.append(part)
    if failed:
        raise SystemExit("faults.py: not as it should be: " + ", ".join(failed))


if __name__ == "__main__":
    main()
