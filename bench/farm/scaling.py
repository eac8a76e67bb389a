#!/usr/bin/env python3
"""Evaluations a second of a farm on Ray, by its servers, and of the backend without a farm.

    scaling.py KERNELRL                                   # cpu: two nodes, one and two servers of a core each
    scaling.py KERNELRL --nodes 4 cpu:1:0:1,2,4,8,16      # BACKEND:CORES:GPUS:SERVERS[:OPTION=VALUE,…] of each server
    scaling.py KERNELRL --gpus 2 cpu:1:0:1,16 nvrtc:8:1:1,2 nvrtc:4:0.25:1,4:sizes=small

Starts a cluster of nodes on this machine, one for each GPU if there are any, and a farm for each plan, with as many servers as
the largest of its numbers. In each round, for each number N, the backend `remote` asks the first N servers, and the backend
itself judges as much at a time as they do: in turn, or before the farm starts where both need the GPUs' memory. All kernels are
new: those of bench/kernels, a comment apart. An evaluation counts once the tasks are known everywhere. Then one server
judges, and is asked again for what it knows, with one request at a time. --record FOLDER adds what that took to recordings,
BACKEND.json, which simulate.py reads.
"""

import argparse
import contextlib
import dataclasses
import itertools
import json
import math
import os
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from cluster import CHECKOUT, Cluster, processes, processor_seconds

TASKS = ("dot", "layernorm_rows", "matmul", "relu", "row_max", "row_sum", "scale", "softmax_rows", "total_sum", "transpose",
         "vector_add")


class Kernels:
    """Folders of kernels, of which none was seen before."""

    def __init__(self, folder):
        self._folder, self._made = Path(folder), 0
        self._sources = {task: (CHECKOUT / f"bench/kernels/{task}.cu").read_text() for task in TASKS}

    def folder(self, rounds):
        self._made += 1
        folder = self._folder / str(self._made)
        for i in range(rounds):
            (folder / f"{i:05}").mkdir(parents=True)
            for task, source in self._sources.items():
                (folder / f"{i:05}/{task}.cu").write_text(f"{source}// {os.getpid()} {self._made} {i}\n")
        return folder


@contextlib.contextmanager
def evaluation(options, backend, folder, environment=None):
    """The process of kernelrl eval, and its lines: when each came, and the task."""
    # Linux shares a busy machine among sessions, and each node of the farm is one: the backend alone gets one as well.
    words = [options.program, "eval", "--task", CHECKOUT / "configs/tasks", *backend, folder]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1,
                          env={**os.environ, **(environment or {})}, start_new_session=True) as process:

        def lines():
            for line in process.stdout:
                name, _, headline = line.partition(".cu: ")
                if not headline:
                    break
                if not headline.startswith("ok"):
                    raise SystemExit(f"scaling.py: {line}")
                yield time.perf_counter(), Path(name).name

        try:
            yield process, lines()
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def remote(servers, at_a_time):
    return ["--backend", "remote", "--set", f"servers={json.dumps(servers)}", "--set", f"concurrency={at_a_time}",
            "--set", "hedge=0"]


@dataclasses.dataclass
class Plan:
    """What the servers of a farm are."""

    backend: str
    cpus: int
    gpus: float
    counts: list
    changes: list
    servers: int  # in all

    @classmethod
    def of(cls, text):
        backend, cpus, gpus, counts, *changes = text.split(":", 4)
        numbers = [int(count) for count in counts.split(",")]
        return cls(backend, int(cpus), float(gpus), numbers, changes[0].split(",") if changes else [], max(numbers))

    def alone(self, servers, at_a_time=None):
        """The backend without a farm, with the cores and GPUs of so many servers."""
        words = ["--backend", self.backend]
        for change in ("cache=off", f"concurrency={at_a_time or servers * self.cpus}", *self.changes):
            words += ["--set", change]
        gpus = ",".join(map(str, range(math.ceil(servers * self.gpus))))
        return words, {"CUDA_VISIBLE_DEVICES": gpus} if gpus else {}

    def up(self, cluster):
        words = ["--backend", self.backend, "--replicas", str(self.servers), "--cpus", str(self.cpus), "--gpus", f"{self.gpus:g}"]
        for change in ("cache=off", *self.changes):
            words += ["--set", "backend." + change]
        cluster.up(*words)
        return in_turn(cluster.members(self.servers))


def in_turn(members):
    """Servers of different nodes one after the other."""
    by_host = {}
    for member in members:
        by_host.setdefault(member.rsplit(":", 1)[0], []).append(member)
    print(f"{len(members)} servers on {len(by_host)} nodes", flush=True)
    return [member for row in itertools.zip_longest(*by_host.values()) for member in row if member]


def rate(options, kernels, plan, servers, backend, environment=None):
    """Evaluations a second."""
    warm = 2 * len(TASKS) + 2 * servers * plan.cpus
    most = warm + options.most_each * servers * (options.seconds + 10)
    with evaluation(options, backend, kernels.folder(-(-most // len(TASKS))), environment) as (_, lines):
        begin = end = counted = 0
        for number, (now, _) in enumerate(lines):
            if number == warm:
                begin = now
            end, counted = now, number - warm
            if begin and now - begin > options.seconds:
                break
    if counted <= 0:
        raise SystemExit("scaling.py: no kernel was judged")
    return counted / (end - begin)


@dataclasses.dataclass
class OneByOne:
    """What evaluations took, one at a time, without those of the first round, when tasks are checked; the mean of the tasks' medians."""

    by_task: dict  # milliseconds
    processor_ms: float  # of the client and `server`, for each

    @property
    def ms(self):
        return statistics.fmean(statistics.median(all) for all in self.by_task.values())

    @property
    def rounded(self):
        return {task: [round(ms, 1) for ms in all] for task, all in sorted(self.by_task.items())}


def one_by_one(options, backend, folder, environment=None, server=None):
    found, before, after = {}, 0, 0
    with evaluation(options, backend, folder, environment) as (process, lines):
        used = lambda: sum(processor_seconds(pid) for pid in (process.pid, server) if pid)
        for number, (now, task) in enumerate(lines):
            if number >= len(TASKS):
                found.setdefault(task, []).append(1000 * (now - last))
            last = now
            # Reading the processor times of all processes takes as long as an evaluation: at the two ends only.
            if number == len(TASKS) - 1:
                before = used()
            elif number == (options.repeat + 1) * len(TASKS) - 1:
                after = used()
    return OneByOne(found, 1000 * (after - before) / (options.repeat * len(TASKS)))


def warm_up(options, kernels, members):
    """Lets every server check all tasks."""
    started = [evaluation(options, remote([server], 2), kernels.folder(1)) for server in members]
    with contextlib.ExitStack() as stack:
        for _, lines in [stack.enter_context(process) for process in started]:
            for _ in lines:
                pass


class Rates:
    def __init__(self, options, kernels, plan):
        self._options, self._kernels, self._plan = options, kernels, plan
        self._all = {}

    def measure(self, kind, servers, backend, environment=None):
        found = rate(self._options, self._kernels, self._plan, servers, backend, environment)
        self._all.setdefault((kind, servers), []).append(found)
        print(f"{kind}, {servers}: {found:.2f}/s ({time.perf_counter() - self._options.begin:.0f} s)", flush=True)

    def farm(self, members):
        for count in self._plan.counts:
            self.measure("farm", count, remote(members[:count], 2 * count * self._plan.cpus))
            if not self._plan.gpus:
                self.alone(count)

    def alone(self, count):
        self.measure("alone", count, *self._plan.alone(count))

    def show(self):
        print("| servers | farm, evaluations/s | of linear | without a farm | of linear | more of a core or GPU for each |")
        print("|---|---|---|---|---|---|")
        first = self._plan.counts[0]
        for count in self._plan.counts:
            row = [str(count)]
            for kind in ("farm", "alone"):
                row += [f"{self._median(kind, count):.1f}", f"{self._median(kind, count) * first / self._median(kind, first) / count:.2f}"]
            lost = 1000 * count * max(1e-9, self._plan.gpus or 1) * (1 / self._median("farm", count) - 1 / self._median("alone", count))
            print("| " + " | ".join([*row, f"{lost:+.1f} ms"]) + " |", flush=True)

    def _median(self, kind, count):
        return statistics.median(self._all.get((kind, count), [math.nan]))


def judge_one_by_one(options, kernels, plan):
    """The backend alone, and its compiler."""
    words, environment = plan.alone(1, at_a_time=1)
    judged = one_by_one(options, words, kernels.folder(options.repeat + 1), environment)
    recording = {"backend": plan.backend, "judged_ms": judged.rounded}
    if plan.backend == "nvrtc":
        words += ["--set", "execute=off", "--set", "arch=sm_90a"]
        compiled = one_by_one(options, words, kernels.folder(options.repeat + 1), environment)
        print(f"compiling takes {compiled.ms:.1f} ms")
        recording["compile_ms"] = compiled.rounded
    return judged, recording


def ask_one_by_one(options, kernels, member):
    port = member.rsplit(":", 1)[1]
    server = next(pid for pid, _, command in processes() if " serve " in command and listens(pid, port))
    folder = kernels.folder(options.repeat + 1)
    return [one_by_one(options, remote([member], 1), folder, server=server) for _ in range(2)]


def measure(options, kernels, plan, cluster):
    print(f"\n## {plan.backend}: {plan.cpus} cores and {plan.gpus:g} GPUs a server {' '.join(plan.changes)}", flush=True)
    rates = Rates(options, kernels, plan)
    shares = 0 < plan.gpus < 1
    if plan.gpus and not shares:
        for _, count in itertools.product(range(options.rounds), plan.counts):
            rates.alone(count)
    with_each = options.repeat and not shares
    if with_each:
        base, recording = judge_one_by_one(options, kernels, plan)
    members = plan.up(cluster)
    if shares:  # a GPU of one node
        members = [member for member in members if member.startswith(members[0].rsplit(":", 1)[0] + ":")]
    warm_up(options, kernels, members[:max(plan.counts)])
    for _ in range(options.rounds):
        rates.farm(members)
    rates.show()
    if with_each:
        judged, known = ask_one_by_one(options, kernels, members[0])
        print(f"one at a time, a kernel: {judged.ms:.1f} ms by the farm, {base.ms:.1f} ms without it; of the processor "
              f"{judged.processor_ms:.1f} and {base.processor_ms:.1f} ms; one that the server knows: {known.ms:.2f} ms", flush=True)
        if options.record:
            (options.record / f"{plan.backend}.json").write_text(json.dumps({**recording, "known_ms": round(known.ms, 3)}) + "\n")


def listens(pid, port):
    """Tells if a process has a socket that listens on this port."""
    ports = {fields[9] for fields in map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
             if fields[3] == "0A" and int(fields[1].split(":")[1], 16) == int(port)}
    with contextlib.suppress(OSError):
        return any(os.readlink(one) == f"socket:[{inode}]" for one in Path(f"/proc/{pid}/fd").iterdir() for inode in ports)
    return False


def start_nodes(options, cluster):
    nodes = options.gpus or options.nodes
    for plan in options.plans:
        if 0 < plan.gpus < 1:  # so that one GPU is full
            plan.servers = nodes * round(1 / plan.gpus)
    cores = max(-(-plan.servers // nodes) * plan.cpus for plan in options.plans)
    cluster.start_nodes([(number, cores, number if options.gpus else None) for number in range(nodes)])
    print(f"{nodes} nodes of {cores} cores ({time.perf_counter() - options.begin:.0f} s)", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, metavar="KERNELRL")
    parser.add_argument("plans", nargs="*", type=Plan.of, metavar="PLAN")
    parser.add_argument("--nodes", type=int, default=2, help="where there are no GPUs")
    parser.add_argument("--gpus", type=int, default=0, help="a node for each")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=15, help="of each measurement")
    parser.add_argument("--repeat", type=int, default=5, help="kernels of each task, one at a time")
    parser.add_argument("--most-each", type=int, default=40, help="evaluations a second of a server, at most")
    parser.add_argument("--record", type=Path, metavar="FOLDER")
    options = parser.parse_intermixed_args()
    options.program = options.program.resolve()
    options.plans = options.plans or [Plan.of("cpu:1:0:1,2")]
    options.begin = time.perf_counter()
    return options


def main():
    options = arguments()
    failed = []
    with tempfile.TemporaryDirectory() as folder, Cluster(options.program) as cluster:
        kernels = Kernels(folder)
        start_nodes(options, cluster)
        for plan in options.plans:
            try:
                measure(options, kernels, plan, cluster)
            except (SystemExit, subprocess.SubprocessError) as error:  # the other plans can be measured
                print(f"not measured: {error}", flush=True)
                failed.append(plan.backend)
            cluster.farm("down")
    if failed:
        raise SystemExit("scaling.py: not measured: " + ", ".join(failed))


if __name__ == "__main__":
    main()
