#!/usr/bin/env python3
"""Evaluations a second of a farm on Ray, by its servers, and of the backend without a farm.

    scaling.py KERNELRL                                             # cpu: two nodes, one and two servers of a core each
    scaling.py KERNELRL --nodes 4 --servers 1,2,4,8,16              # on a machine with more cores
    scaling.py KERNELRL --backend nvrtc --gpus 2 --cpus 8           # a node for each GPU, a server for each node
    scaling.py KERNELRL --backend nvrtc --gpus 1 --per-gpu 4        # four servers that share a GPU

Starts a cluster of nodes on this machine and as many servers as the largest of --servers. In each round, for each number N in
it, the backend `remote` asks the first N servers, and the backend itself judges N times as much at a time, one after the other.
All kernels are new: those of bench/kernels, a comment apart. An evaluation counts once the tasks are known everywhere.
Then one server judges, and is asked again for what it knows, with one request at a time. --record FILE adds what that took to
a recording, which simulate.py reads.
"""

import argparse
import contextlib
import dataclasses
import json
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
    words = [options.program, "eval", "--task", CHECKOUT / "configs/tasks", *backend, folder]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1,
                          env={**os.environ, **(environment or {})}) as process:

        def lines():
            for line in process.stdout:
                name, _, headline = line.partition(".cu: ")
                if not headline:
                    break
                if not headline.startswith("ok"):
                    raise SystemExit(f"scaling.py: {line}")
                yield time.perf_counter(), Path(name).name

        yield process, lines()
        process.send_signal(signal.SIGINT)
        process.stdout.read()


def remote(servers, at_a_time):
    return ["--backend", "remote", "--set", f"servers={json.dumps(servers)}", "--set", f"concurrency={at_a_time}",
            "--set", "hedge=0"]


def changes(options, prefix=""):
    return [word for change in options.set for word in ("--set", prefix + change)]


def alone(options, servers):
    """The backend without a farm, with the cores and GPUs of so many servers."""
    words = ["--backend", options.backend, "--set", "cache=off", *changes(options),
             "--set", f"concurrency={servers * options.cpus}"]
    gpus = ",".join(map(str, range(-(-servers // options.per_gpu))))
    return words, {"CUDA_VISIBLE_DEVICES": gpus} if options.gpus else {}


def rate(options, kernels, servers, backend, environment=None):
    """Evaluations a second."""
    warm = 2 * len(TASKS) + 4 * servers * options.cpus
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
    found, before = {}, 0
    with evaluation(options, backend, folder, environment) as (process, lines):
        used = lambda: sum(processor_seconds(pid) for pid in (process.pid, server) if pid)
        for number, (now, task) in enumerate(lines):
            if number >= len(TASKS):
                found.setdefault(task, []).append(1000 * (now - last))
            elif number == len(TASKS) - 1:
                before = used()
            last, after = now, used()
    return OneByOne(found, 1000 * (after - before) / (number + 1 - len(TASKS)))


def warm_up(options, kernels, members):
    """Lets every server check all tasks."""
    started = [evaluation(options, remote([server], 2), kernels.folder(1)) for server in members]
    with contextlib.ExitStack() as stack:
        for _, lines in [stack.enter_context(process) for process in started]:
            for _ in lines:
                pass


def scale(options, kernels, members):
    counts = [int(count) for count in options.servers.split(",")]
    rates = {(kind, count): [] for kind in ("farm", "alone") for count in counts}
    for _ in range(options.rounds):
        for count in counts:
            asked = remote(members[:count], 2 * count * options.cpus)
            rates["farm", count].append(rate(options, kernels, count, asked))
            rates["alone", count].append(rate(options, kernels, count, *alone(options, count)))
    median = {key: statistics.median(all) for key, all in rates.items()}
    print("| servers | farm, evaluations/s | of linear | without a farm | of linear | more of a core or GPU for each |")
    print("|---|---|---|---|---|---|")
    for count in counts:
        farm, base = median["farm", count], median["alone", count]
        share = [median[kind, count] * counts[0] / median[kind, counts[0]] / count for kind in ("farm", "alone")]
        shown = {kind: ", ".join(f"{one:.1f}" for one in rates[kind, count]) for kind in ("farm", "alone")}
        print(f"| {count} | {farm:.1f} ({shown['farm']}) | {share[0]:.2f} | {base:.1f} ({shown['alone']}) | {share[1]:.2f} "
              f"| {1000 * count * (1 / farm - 1 / base):+.1f} ms |", flush=True)


def one_at_a_time(options, kernels, member):
    port = member.rsplit(":", 1)[1]
    server = next(pid for pid, _, command in processes() if " serve " in command and listens(pid, port))
    folder = kernels.folder(options.repeat + 1)
    judged = one_by_one(options, remote([member], 1), folder, server=server)
    known = one_by_one(options, remote([member], 1), folder, server=server)
    words, environment = alone(options, 1)
    base = one_by_one(options, words, kernels.folder(options.repeat + 1), environment)
    print(f"one at a time, a kernel: {judged.ms:.1f} ms by the farm, {base.ms:.1f} ms without it; of the processor "
          f"{judged.processor_ms:.1f} and {base.processor_ms:.1f} ms; one that the server knows: {known.ms:.2f} ms")
    recording = {"backend": options.backend, "judged_ms": base.rounded, "known_ms": round(known.ms, 3)}
    if options.backend == "nvrtc":
        compiled = one_by_one(options, [*words, "--set", "execute=off"], kernels.folder(options.repeat + 1), environment)
        print(f"of which compiling takes {compiled.ms:.1f} ms")
        recording["compile_ms"] = compiled.rounded
    if options.record:
        options.record.write_text(json.dumps(recording) + "\n")


def listens(pid, port):
    """Tells if a process has a socket that listens on this port."""
    ports = {fields[9] for fields in map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
             if fields[3] == "0A" and int(fields[1].split(":")[1], 16) == int(port)}
    with contextlib.suppress(OSError):
        return any(os.readlink(one) == f"socket:[{inode}]" for one in Path(f"/proc/{pid}/fd").iterdir() for inode in ports)
    return False


def start_farm(options, cluster, most):
    nodes = options.gpus or options.nodes
    each = -(-most // nodes)
    for node in range(nodes):
        cluster.start_node(node, each * options.cpus, node if options.gpus else None)
    share = ["--gpus", str(1 / options.per_gpu)] if options.gpus else []
    cluster.up("--backend", options.backend, "--replicas", str(most), "--cpus", str(options.cpus), *share,
               "--set", "backend.cache=off", *changes(options, "backend."))
    members = cluster.members(most)
    hosts = sorted({member.rsplit(":", 1)[0] for member in members})
    print(f"{most} servers on {len(hosts)} nodes", flush=True)
    by_host = [[member for member in members if member.startswith(host + ":")] for host in hosts]
    in_turn = [(place, number, member) for number, all in enumerate(by_host) for place, member in enumerate(all)]
    return [member for *_, member in sorted(in_turn)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, metavar="KERNELRL")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="of the backend")
    parser.add_argument("--nodes", type=int, default=2, help="where there are no GPUs")
    parser.add_argument("--gpus", type=int, default=0, help="a node for each")
    parser.add_argument("--per-gpu", type=int, default=1, help="servers on each GPU")
    parser.add_argument("--cpus", type=int, default=1, help="of a server")
    parser.add_argument("--servers", help="numbers of servers (1,2, or 1 and all GPUs)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=15, help="of each measurement")
    parser.add_argument("--repeat", type=int, default=5, help="kernels of each task, one at a time")
    parser.add_argument("--most-each", type=int, default=40, help="evaluations a second of a server, at most")
    parser.add_argument("--record", type=Path, metavar="FILE")
    options = parser.parse_args()
    options.program = options.program.resolve()
    options.servers = options.servers or ("1,2" if not options.gpus else f"1,{options.gpus * options.per_gpu}".replace("1,1", "1"))
    return options


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder, Cluster(options.program) as cluster:
        kernels = Kernels(folder)
        members = start_farm(options, cluster, max(map(int, options.servers.split(","))))
        warm_up(options, kernels, members)
        scale(options, kernels, members)
        if options.repeat:
            one_at_a_time(options, kernels, members[0])


if __name__ == "__main__":
    main()
