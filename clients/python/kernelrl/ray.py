"""Judges on a Ray cluster: `kernelrl serve` in Ray actors, as applications of Ray Serve.

    python -m kernelrl.ray up --backend nvrtc --gpus 1 --replicas 1:64
    python -m kernelrl.ray status
    python -m kernelrl.ray down

Ray places, watches and scales the servers; clients read their addresses at http://HEAD:8000/members and speak to them
directly. The cluster is the one of RAY_ADDRESS, or one that is started here. This module needs ray[serve], and sends
itself to the other nodes: they need the program `kernelrl` only. docs/farm.md tells more.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import ray
from ray import serve
from ray.serve.config import AutoscalingConfig, AutoscalingPolicy

MEMBERS = "kernelrl-members"
JUDGES = "kernelrl-judges"
HEARTBEAT_S = 1.0
FORGOTTEN_S = 5.0  # after the last heartbeat a server is no member any more
START_S = 300.0
DRAIN_S = 120.0  # in which a server answers what is under way
HEAD_FILE = Path(tempfile.gettempdir()) / f"kernelrl-ray-{os.getuid()}.json"
WELCOME = re.compile(r"listening on (https?)://\S*:(\d+),")


class Members:
    """The list of the servers, by their heartbeats: one replica, whose HTTP answer is {"members": [URL, …], …}."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, dict[str, Any]]] = {}

    async def beat(self, url: str, info: dict[str, Any]) -> None:
        self._seen[url] = (time.monotonic(), info)

    async def leave(self, url: str) -> None:
        self._seen.pop(url, None)

    async def __call__(self, request: Any = None) -> dict[str, Any]:
        old = time.monotonic() - FORGOTTEN_S
        self._seen = {url: seen for url, seen in self._seen.items() if seen[0] > old}
        return {"members": sorted(self._seen), "servers": {url: info for url, (_, info) in sorted(self._seen.items())}}


class Judge:
    """A `kernelrl serve` for as long as this replica lives; it dies with it, however that ends."""

    async def __init__(self, command: list[str], token: str | None) -> None:  # type: ignore[misc]  # Ray awaits it
        self._token = token
        self._members = serve.get_app_handle(MEMBERS)
        self._info: dict[str, Any] = {}
        # No proxy lies between a server and its node. Ray sends this module's variables, an opener cannot be sent.
        self._directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._output = tempfile.NamedTemporaryFile()
        host = ray.util.get_node_ip_address()
        self._server = subprocess.Popen(
            [*command, "--address", host, "--port", "0"],
            stdout=self._output, stderr=self._output, env=_environment(), preexec_fn=_die_with_parent,
        )
        scheme, port = await self._address()
        self.url = f"{scheme}://{host}:{port}"
        self._heart = asyncio.get_running_loop().create_task(self._beat())

    def _said(self) -> str:
        return Path(self._output.name).read_text(errors="replace").strip()

    async def _address(self) -> tuple[str, str]:
        end = time.monotonic() + START_S
        while True:
            over = self._server.poll() is not None or time.monotonic() > end
            if found := WELCOME.search(self._said()):
                return found[1], found[2]
            if over:
                raise RuntimeError(f"kernelrl serve did not start: {self._said()[-2000:]}")
            await asyncio.sleep(0.05)

    def _ask(self, path: str) -> dict[str, Any]:
        request = urllib.request.Request(self.url + path)
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        with self._directly.open(request, timeout=5) as answer:
            return dict(json.loads(answer.read()))

    async def _beat(self) -> None:
        while True:
            try:
                self._info = await asyncio.to_thread(self._ask, "/v1/info")
                await self._members.beat.remote(self.url, self._info)
            except Exception as error:  # check_health finds what is wrong
                print(f"kernelrl: no heartbeat: {error}", file=sys.stderr)
            await asyncio.sleep(HEARTBEAT_S)

    async def check_health(self) -> None:
        if self._server.poll() is not None:
            raise RuntimeError(f"kernelrl serve has ended: {self._said()[-2000:]}")
        await asyncio.to_thread(self._ask, "/healthz")

    async def record_autoscaling_stats(self) -> dict[str, float]:
        """The evaluations that wait or run here, for each that may run at a time."""
        wanted = self._info.get("waiting", 0) + self._info.get("running", 0)
        return {"load": wanted / max(1, self._info.get("concurrency", 1))}

    async def __call__(self) -> str:
        return self.url

    async def __del__(self) -> None:
        self._heart.cancel()
        await self._members.leave.remote(self.url)
        self._server.terminate()
        await asyncio.to_thread(self._server.wait)


def _die_with_parent() -> None:
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _environment() -> dict[str, str]:
    """The node's, without what Ray sets for its own workers."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("RAY_", "OMP_"))}


class ByLoad:
    """As many servers as are wanted for `target` evaluations waiting or running for each place."""

    def __init__(self, target: float) -> None:
        self._target = target

    def __call__(self, context: Any) -> tuple[int, dict[str, Any]]:
        loads = (context.aggregated_metrics or {}).get("load", {})
        wanted = math.ceil(sum(loads.values()) / self._target) if loads else context.target_num_replicas
        bounded = max(context.capacity_adjusted_min_replicas, min(context.capacity_adjusted_max_replicas, wanted))
        return bounded, {}


def _token_of(file: str | None) -> str | None:
    if not file:
        return None
    for line in Path(file).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            return line.split()[-1]
    return None


# ---- the cluster ----------------------------------------------------------------------------------------------------


def _connect(start: bool) -> bool:
    """Joins the cluster of RAY_ADDRESS, or the one that is running here; else may start one. False if there is none."""
    quiet = {"log_to_driver": False, "logging_level": "warning", "namespace": "kernelrl"}
    for attempt in range(2):
        try:
            ray.init(address="auto", **quiet)
            return True
        except ConnectionError:
            if attempt > 0 or not start or os.environ.get("RAY_ADDRESS"):
                return False
            _start_head()
    return False


def _start_head() -> None:
    ray_program = shutil.which("ray") or str(Path(sys.executable).with_name("ray"))
    command = [ray_program, "start", "--head", "--block", "--disable-usage-stats", "--include-dashboard=false"]
    log = HEAD_FILE.with_suffix(".log").open("w")
    head = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    HEAD_FILE.write_text(json.dumps({"pid": head.pid}))
    end = time.monotonic() + START_S
    while "Ray runtime started" not in Path(log.name).read_text():
        if head.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"kernelrl.ray: Ray did not start: see {log.name}")
        time.sleep(0.2)
    print("started Ray on this machine")


def _stop_head() -> None:
    """By SIGTERM to the one that was started here: `ray stop` would end those of others too."""
    pid = json.loads(HEAD_FILE.read_text())["pid"]
    HEAD_FILE.unlink()
    try:
        os.kill(pid, signal.SIGTERM)
        print("stopped Ray on this machine")
    except ProcessLookupError:
        pass


# ---- the applications -----------------------------------------------------------------------------------------------


def _command(options: argparse.Namespace) -> list[str]:
    program = options.program or os.environ.get("KERNELRL") or shutil.which("kernelrl")
    if program is None:
        raise SystemExit("kernelrl.ray: no kernelrl in the PATH: set KERNELRL or --program, as on all nodes")
    command = [program, "serve", "--seed", options.seed]
    for name in ("plan", "backend", "tasks", "token_file"):
        if value := getattr(options, name):
            command += ["--" + name.replace("_", "-"), value]
    sets = list(options.set)
    if not any(change.startswith("backend.concurrency=") for change in sets):
        sets.append(f"backend.concurrency={math.ceil(options.cpus)}")
    for change in sets:
        command += ["--set", change]
    return command


def _pairs(words: list[str], option: str) -> dict[str, str]:
    pairs = dict(word.partition("=")[::2] for word in words)
    if not all(pairs.values()):
        raise SystemExit(f"kernelrl.ray: {option} takes NAME=VALUE")
    return pairs


def _judges(options: argparse.Namespace) -> serve.Application:
    least, _, most = options.replicas.partition(":")
    needs: dict[str, Any] = {"num_cpus": options.cpus, "num_gpus": options.gpus}
    if options.resource:
        needs["resources"] = {name: float(value) for name, value in _pairs(options.resource, "--resource").items()}
    if options.label:
        needs["label_selector"] = _pairs(options.label, "--label")
    scaling: dict[str, Any] = {"num_replicas": int(least)}
    if most:
        scaling = {"autoscaling_config": AutoscalingConfig(
            min_replicas=int(least), max_replicas=int(most), initial_replicas=int(least), metrics_interval_s=2,
            look_back_period_s=6, upscale_delay_s=options.upscale_delay_s, downscale_delay_s=options.downscale_delay_s,
            policy=AutoscalingPolicy(policy_function=ByLoad, policy_kwargs={"target": options.load}),
        )}
    deployment = serve.deployment(Judge).options(
        name="judge", ray_actor_options=needs, health_check_period_s=2, health_check_timeout_s=10,
        graceful_shutdown_timeout_s=DRAIN_S, **scaling,
    )
    return deployment.bind(_command(options), _token_of(options.token_file))


def _shown(host: str) -> str:
    return str(ray.util.get_node_ip_address()) if host in ("0.0.0.0", "::") else host


def up(options: argparse.Namespace) -> None:
    if not _connect(start=True):
        raise SystemExit("kernelrl.ray: no Ray cluster at RAY_ADDRESS")
    serve.start(proxy_location="HeadOnly", http_options={"host": options.host, "port": options.port})
    members = serve.deployment(Members).options(
        name="members", num_replicas=1, ray_actor_options={"num_cpus": 0}, health_check_period_s=2)
    serve.run(members.bind(), name=MEMBERS, route_prefix="/members")
    serve.run(_judges(options), name=JUDGES, route_prefix=None)
    print(f"members: http://{_shown(options.host)}:{options.port}/members")


def status(_: argparse.Namespace) -> None:
    if not _connect(start=False):
        raise SystemExit("kernelrl.ray: no Ray cluster")
    applications = serve.status().applications
    if MEMBERS not in applications:
        raise SystemExit("kernelrl.ray: no judges on this cluster: python -m kernelrl.ray up")
    for name in (MEMBERS, JUDGES):
        if name in applications:
            deployments = applications[name].deployments.values()
            states = ", ".join(f"{n} {state}".lower() for d in deployments for state, n in d.replica_states.items())
            print(f"{name}: {applications[name].status.lower()} ({states})")
    listed = serve.get_app_handle(MEMBERS).remote().result(timeout_s=30)
    for url, info in listed["servers"].items():
        print(f"{url}  {info['device']}  {info['running']} of {info['concurrency']} running, {info['waiting']} waiting")


def down(_: argparse.Namespace) -> None:
    if _connect(start=False):
        for name in (JUDGES, MEMBERS):
            serve.delete(name)
        print("the judges have ended")
    if HEAD_FILE.exists():
        ray.shutdown()
        _stop_head()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m kernelrl.ray", description="Judges on a Ray cluster.")
    commands = parser.add_subparsers(required=True, metavar="up|down|status")
    starts = commands.add_parser("up", help="start the judges, or change them", description=up.__doc__)
    starts.set_defaults(run=up)
    add = starts.add_argument
    add("--backend", metavar="ID", help="what judges (cpu)")
    add("--tasks", metavar="PATH", help="tasks, as of kernelrl serve")
    add("--plan", metavar="PLAN", help="instead, a plan that says what judges")
    add("--set", metavar="KEY=VALUE", action="append", default=[], help="change the plan (repeatable)")
    add("--program", metavar="PATH", help="the program kernelrl on the nodes (KERNELRL, or the PATH's)")
    add("--replicas", metavar="N|MIN:MAX", default="1", help="servers; with MIN:MAX as many as there is work for (1)")
    add("--cpus", metavar="N", type=float, default=4, help="cores of each, and evaluations or compiles at a time (4)")
    add("--gpus", metavar="N", type=float, default=0, help="GPUs of each (0)")
    add("--resource", metavar="NAME=N", action="append", default=[], help="a custom resource that each needs")
    add("--label", metavar="NAME=VALUE", action="append", default=[], help="a label of the nodes that may have one")
    add("--load", metavar="N", type=float, default=1.5, help="evaluations for each place, by which servers come and go (1.5)")
    add("--upscale-delay-s", metavar="S", type=float, default=5, help="(5)")
    add("--downscale-delay-s", metavar="S", type=float, default=120, help="(120)")
    add("--seed", metavar="N|client", default="client", help="as of kernelrl serve; the same for all (client)")
    add("--token-file", metavar="FILE", help="clients need a token; the file must be on all nodes")
    add("--host", metavar="ADDRESS", default="127.0.0.1", help="where the list of members is served (127.0.0.1)")
    add("--port", metavar="PORT", type=int, default=8000, help="(8000)")
    commands.add_parser("down", help="end them, and Ray if it was started here").set_defaults(run=down)
    commands.add_parser("status", help="show them").set_defaults(run=status)
    return parser


def main() -> None:
    options = _parser().parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
