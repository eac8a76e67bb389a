"""A Ray cluster of several nodes on this machine, one process group each, and a farm of judges on it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
START_S = 300  # of a busy machine


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_until(is_so, what, seconds=START_S):
    end = time.monotonic() + seconds
    while not (found := is_so()):
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not within {seconds} s")
        time.sleep(0.1)
    return found


class Cluster:
    """Nodes 127.0.0.2, 127.0.0.3, …; the first is Ray's head. They end with the block."""

    def __init__(self, program):
        self.program = Path(program).resolve()
        self.folder = Path(tempfile.mkdtemp(prefix="kfarm"))
        self.nodes = {}  # number: process
        self.port, self.list_port = free_port(), free_port()
        self.address = f"127.0.0.2:{self.port}"
        self.members_url = f"http://127.0.0.1:{self.list_port}/members"

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # the nodes end first
        return self

    def __exit__(self, *_):
        for node in self.nodes.values():
            node.terminate()  # not `ray stop`, which ends the nodes of others too
        for number in sorted(self.nodes, reverse=True):
            self.kill_node(number, signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_node(self, number, cpus, gpu=None):
        self.start_nodes([(number, cpus, gpu)])

    def start_nodes(self, nodes):
        """Starts nodes, (number, cores, index of the GPU or None) each; number 0 is the head, and first."""
        if nodes[0][0] == 0:
            self._wait_for(*self._begin(*nodes[0]))
            nodes = nodes[1:]
        for node in [self._begin(*node) for node in nodes]:
            self._wait_for(*node)

    def _begin(self, number, cpus, gpu):
        log = self.folder / f"node{number}.log"
        words = ["--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={self.folder}/ray"]
        if number:
            words = [f"--address={self.address}"]
        words += [f"--node-ip-address=127.0.0.{2 + number}", f"--num-cpus={cpus}", f"--num-gpus={0 if gpu is None else 1}",
                  "--object-store-memory=100000000", "--disable-usage-stats", "--block"]
        environment = dict(os.environ) if gpu is None else {**os.environ, "CUDA_VISIBLE_DEVICES": str(gpu)}
        self.nodes[number] = subprocess.Popen([sys.executable, "-m", "ray.scripts.scripts", "start", *words], env=environment,
                                              stdout=log.open("w"), stderr=subprocess.STDOUT, start_new_session=True)
        return self.nodes[number], log

    def _wait_for(self, node, log):
        wait_until(lambda: "runtime started" in log.read_text() or node.poll() is not None, "a node")
        if node.poll() is not None:
            raise SystemExit(f"a node did not start:\n{log.read_text()}")

    def kill_node(self, number, how=signal.SIGKILL):
        """Ends a node as its machine would: with all that it runs."""
        node = self.nodes.pop(number)
        below = descendants(node.pid)
        node.send_signal(how)
        if how == signal.SIGTERM:
            with contextlib.suppress(subprocess.TimeoutExpired):
                node.wait(5)
        for pid in [node.pid, *below]:
            kill(pid)
        node.wait()

    def running(self, what, nodes=None):
        """The processes on these nodes, or on all, whose command line has `what`, as (id, parent)."""
        below = {pid for number, node in self.nodes.items() if nodes is None or number in nodes for pid in descendants(node.pid)}
        return [(pid, parent) for pid, parent, command in processes() if pid in below and what in command]

    def farm(self, *words):
        """python -m kernelrl.ray WORDS."""
        environment = {**os.environ, "RAY_ADDRESS": self.address, "KERNELRL": str(self.program)}
        done = subprocess.run([sys.executable, "-m", "kernelrl.ray", *words], cwd=CHECKOUT / "clients/python",
                              env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise SystemExit(f"kernelrl.ray {' '.join(words)}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def up(self, *words):
        self.farm("up", "--port", str(self.list_port), *words)

    def servers(self):
        """What each member says of itself, by address; none while the list cannot be read."""
        try:
            with urllib.request.urlopen(self.members_url, timeout=5) as answer:
                return json.loads(answer.read())["servers"]
        except OSError:
            return {}

    def members(self, number):
        """The addresses of `number` servers, once there are so many."""
        return sorted(wait_until(lambda: len(all := self.servers()) == number and all, f"{number} servers"))


def processes():
    """Of this machine: id, parent and command line."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            yield int(folder.name), parent, (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            pass


def descendants(pid):
    """The processes below `pid`, in this moment."""
    children = {}
    for one, parent, _ in processes():
        children.setdefault(parent, []).append(one)
    found, rest = [], [pid]
    while rest:
        below = children.get(rest.pop(), [])
        found += below
        rest += below
    return found


def processor_seconds(pid):
    """Of a process, those below it, and those of them that have ended."""
    seconds = 0
    for one in [pid, *descendants(pid)]:
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            seconds += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            pass
    return seconds


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
