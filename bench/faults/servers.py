"""`kernelrl serve` processes that are killed and started again on the same port, and what they leave behind."""
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.request

TOKEN = "token-of-the-storm"


def adopt_orphans():
    """Processes whose parents die become this one's children, so that none goes unseen."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def processes_below(pid):
    """The processes that `pid` started, directly or not, and that live."""
    parents = {}
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = file.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue  # it has ended
        if state != "Z":
            parents.setdefault(int(parent), []).append(int(file.parent.name))
    found, open_ones = [], [pid]
    while open_ones:
        children = parents.get(open_ones.pop(), [])
        found += children
        open_ones += children
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Server:
    def __init__(self, program, name, folder, *options):
        self.name, self.port, self.process = name, 0, None
        self.kills = []  # [(from, to)]: when it was away
        self._command = [program, "serve", *map(str, options)]
        self._log = folder / f"{name}.log"
        temporary = folder / "disk" / name
        temporary.mkdir(parents=True, exist_ok=True)
        self.temporary = temporary
        self._environment = dict(os.environ, TMPDIR=str(temporary), KERNELRL_CACHE_DIR=str(folder / "disk" / "cache"), STORM_TOKEN=TOKEN)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        """Begins it; False if it ends by itself, as it may where the disk is full."""
        with open(self._log, "a") as log:
            said = log.tell()
            self.process = subprocess.Popen([*self._command, "--port", str(self.port)], stdout=log, stderr=log, env=self._environment)
        while self.process.poll() is None:
            if found := re.search(r"listening on http://[\d.]+:(\d+)", self._log.read_text()[said:]):
                self.port = int(found[1])
                return True
            time.sleep(0.02)
        return False

    def kill(self):
        self.kills.append([time.time(), float("inf")])
        self.process.kill()
        self.process.wait()

    def start_again(self):
        while not self.start():
            time.sleep(0.5)
        self.kills[-1][1] = time.time() + 0.5  # connections that were being made

    def was_away(self, begin, end):
        return any(gone < end + 0.5 and begin < back for gone, back in self.kills)

    def stop(self):
        """Ends it as an operator does; its exit status."""
        self.process.terminate()
        return self.process.wait(150)

    def ask(self, path, body=None):
        request = urllib.request.Request(self.url + path, None if body is None else json.dumps(body).encode(),
                                         {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.load(answer)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory_mb(self):
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024
