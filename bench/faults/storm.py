#!/usr/bin/env python3
"""Servers of `kernelrl` under load, while servers, their processes, clients and the disk fail: storm.py BUILD_FOLDER [SECONDS]

Two servers judge by `cpu`; a third judges by the backend `remote`, that is by these two. Clients of each protocol ask all three for
kernels whose verdicts are known, and nothing is retried but by them; others send what is slow, cut, too large, malformed or not theirs. At random, a server, one of its
processes or a client is killed (SIGKILL), or the disk is filled. In the second half the third server lives, and must not grow.

Prints a table with the end of every request and what was done, and ends with 1 if one has a wrong end, or anything is left behind.
Needs root, for a disk of its own (tmpfs in a mount namespace).
"""
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import clients
import kept_secret  # found by clients
import kernels
from servers import TOKEN, Server, adopt_orphans, kill, processes_below

DISK_MB = 200
GROWTH_MB = 64  # more than kept results and polled evaluations can take


class Storm:
    def __init__(self, build, seconds):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kernelrl-storm-"))
        (self.folder / "disk").mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "storm", self.folder / "disk"], check=True)
        (self.folder / "tokens").write_text(f"storm {TOKEN}\n")
        self.seconds, self.done = seconds, collections.Counter()
        program = str(pathlib.Path(build) / "bin" / "kernelrl")
        options = ["--token-file", self.folder / "tokens", "--seed", kept_secret.SEED, "--keep-mb", 4, "--set", "run.retries=0"]
        self.judges = [Server(program, name, self.folder, *options) for name in ("judge-1", "judge-2")]
        for judge in self.judges:
            assert judge.start(), "a server does not start"
        urls = json.dumps([judge.url for judge in self.judges])
        self.front = Server(program, "front", self.folder, *options, "--backend", "remote", "--set", f"backend.servers={urls}",
                            "--set", 'backend.token_env="STORM_TOKEN"', "--set", "backend.patience_s=1")
        assert self.front.start(), "the server before the others does not start"
        self.servers = [self.front, *self.judges]
        self.clients = {}

    # ---- before -------------------------------------------------------------------------------------------------------------

    def check_verdicts(self):
        """The undisturbed verdicts are the known ones."""
        requests = [{"task": task, "source": source} for task, source, _ in kernels.KERNELS]
        answers = self.front.ask("/v1/evaluate", {"requests": requests})["results"]
        for (task, _, expected), answer in zip(kernels.KERNELS, answers):
            assert answer.get("evaluation", {}).get("verdict") == expected, (task, expected, answer)

    def start_client(self, role):
        file = self.folder / f"{role}.{time.time():.3f}.log"
        command = [sys.executable, clients.__file__, role, str(file), *[server.url for server in self.servers]]
        self.clients[role] = subprocess.Popen(command)

    # ---- what is done to them -------------------------------------------------------------------------------------------------

    def kill_servers(self, victims):
        for server in victims:
            server.kill()
            self.done["server killed"] += 1
        time.sleep(random.choice((0.2, 1, 8)))
        for server in victims:
            server.start_again()

    def kill_process(self):
        below = [pid for server in self.judges for pid in processes_below(server.process.pid)]
        if below:
            kill(random.choice(below))
            self.done["process of a server killed"] += 1

    def kill_client(self):
        role = random.choice(list(self.clients))
        self.clients[role].kill()
        self.clients[role].wait()
        self.done["client killed"] += 1
        self.start_client(role)

    def fill_disk(self):
        file = self.folder / "disk" / "filler"
        with open(file, "wb") as filler:
            try:
                while True:
                    filler.write(bytes(1 << 20))
                    filler.flush()
            except OSError:
                self.done["disk filled"] += 1
        time.sleep(random.uniform(1, 4))
        file.unlink()

    def rage(self):
        begin = time.time()
        memory = None
        while (left := begin + self.seconds - time.time()) > 0:
            time.sleep(random.uniform(0.1, 2))
            if memory is None and left < self.seconds / 2:
                memory = self.front.memory_mb()
            may_die = self.judges + ([self.front] if memory is None else [])
            deed = random.choice([lambda: self.kill_servers([random.choice(may_die)])] * 3 + [lambda: self.kill_servers(self.judges)]
                                 + [self.kill_process] * 12 + [self.kill_client] * 3 + [self.fill_disk] * 2)
            deed()
        return memory

    # ---- after ----------------------------------------------------------------------------------------------------------------

    def stop_clients(self):
        (self.folder / "over").touch()
        return [f"the client {role} does not end" for role, client in self.clients.items() if not ended(client)]

    def outcomes(self):
        """The table of the ends of requests by role, and what is wrong with them."""
        table, wrong = collections.Counter(), []
        by_url = {server.url: server for server in self.servers}
        for file in self.folder.glob("*.*.log"):
            open_requests = {}
            for line in file.read_text().splitlines():
                at, role, word, number, what, *detail = json.loads(line)
                if word == "begin":
                    open_requests[number] = at, by_url[what]
                    continue
                since, server = open_requests.pop(number)
                if what == "lost" and not server.was_away(since, at):
                    what = "FAULT"
                if what == "FAULT":
                    wrong.append(f"{role} at {server.name}, {time.strftime('%T', time.localtime(at))}: {detail[0]}")
                table[role, what] += 1
            table[file.name.partition(".")[0], "client killed"] += len(open_requests)
        return table, wrong

    def leftovers(self, before, memory):
        """What is left once all is over."""
        wrong = []
        time.sleep(2)
        descriptors, grown = self.front.descriptors() - before, self.front.memory_mb() - memory
        print(f"the server that lived: {memory:.0f} MB and {grown:+.0f} MB in the second half; {descriptors:+d} file descriptors")
        if descriptors > 4:
            wrong.append(f"{descriptors} more file descriptors than before")
        if grown > GROWTH_MB:
            wrong.append(f"{grown:.0f} MB more memory")
        for server in self.servers:
            if (status := server.stop()) != 0:
                wrong.append(f"{server.name} ends with {status}")
        time.sleep(1)
        for pid in processes_below(os.getpid()):
            wrong.append("a process is left: " + pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "))
        for server in self.servers:
            wrong += [f"a temporary file is left: {file.relative_to(self.folder)}" for file in server.temporary.iterdir()]
        return wrong


def ended(process):
    try:
        process.wait(2 * clients.PATIENCE_S)
        return True
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


def print_table(table):
    kinds = ["verdict", "error", "refused", "lost", "client killed", "FAULT"]
    print("| client | " + " | ".join(kinds) + " |\n|---" * 1 + "|---" * len(kinds) + "|")
    for role in [role.__name__ for role in clients.ROLES]:
        print(f"| {role} | " + " | ".join(str(table[role, kind]) for kind in kinds) + " |")
    print("| all | " + " | ".join(str(sum(table[role.__name__, kind] for role in clients.ROLES)) for kind in kinds) + " |")


def pass_over(build, seconds):
    """What is wrong after a storm."""
    shared = set(os.listdir("/dev/shm"))
    storm = Storm(build, seconds)
    storm.check_verdicts()
    before = storm.front.descriptors()
    for role in clients.ROLES:
        storm.start_client(role.__name__)
    memory = storm.rage()
    wrong = storm.stop_clients()
    table, faults = storm.outcomes()
    wrong += faults + storm.leftovers(before, memory)
    print_table(table)
    print("; ".join(f"{count} times: {what}" for what, count in storm.done.items()))
    wrong += [f"left in /dev/shm: {name}" for name in set(os.listdir("/dev/shm")) - shared if "test" not in name]
    if wrong:
        print("logs:", storm.folder)
    else:
        subprocess.run(["umount", "-l", storm.folder / "disk"], check=True)
        shutil.rmtree(storm.folder)
    return wrong


def main(build, seconds=600):
    adopt_orphans()
    try:
        wrong = pass_over(build, float(seconds))
    finally:
        for pid in processes_below(os.getpid()):
            kill(pid)
    for what in wrong:
        print("WRONG:", what)
    return 1 if wrong else 0


if __name__ == "__main__":
    if os.environ.get("STORM_MOUNTS") is None:  # a mount namespace of its own
        os.environ["STORM_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])
    sys.exit(main(*sys.argv[1:]))
