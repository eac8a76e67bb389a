"""Asks a `kernelrl serve` for verdicts, with asyncio. `Judge` is the same for all other programs.

An evaluation depends only on its request, so that a call whose connection breaks, or that a full server puts off, is
made again: a verdict comes, or a `JudgeError`. A call ended early, by an exception or a cancelled task, is cancelled on
the server as well.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import random
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from kernelrl.connection import Connections, Response, within
from kernelrl.errors import DeadlinePassed, InfrastructureError, JudgeError, Unavailable, error_of
from kernelrl.evaluation import Best, Evaluation, Info, Json, Task

T = TypeVar("T")
log = logging.getLogger("kernelrl")
_WARN_EVERY_S = 10.0


class Request(NamedTuple):
    """A kernel to judge: `(task, source)` and what else the request says. The server has defaults for what is None."""

    task: str | Mapping[str, Any]  # the id of a task, or a definition as in a task file
    source: str
    contract: str | None = None  # "device" or "host"
    stages: tuple[str, ...] | None = None  # of "compile", "check", "time", "counters", "holdout", "pool"
    seed: int | None = None


@dataclass(frozen=True)
class Event:
    """News of the request at `index`; the last news of each are a `result` or an `error`."""

    kind: str  # "queued", "started", "result" or "error"
    index: int
    position: int | None = None  # in the queue
    evaluation: Evaluation | None = None
    error: JudgeError | None = None


class AsyncJudge:
    """A server that judges kernels.

    Without a `url`, the environment variables KERNELRL_URL and KERNELRL_TOKEN name it. `connections` limits the
    evaluations under way. A call that fails for `patience_s` raises `Unavailable`; one with a `deadline_s` raises
    `DeadlinePassed` after it.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        ca_file: str | None = None,
        connections: int = 64,
        patience_s: float = 120,
    ) -> None:
        if url is None:
            url, token = os.environ.get("KERNELRL_URL"), token or os.environ.get("KERNELRL_TOKEN")
        if url is None:
            raise ValueError("no server given: set KERNELRL_URL to the address of a `kernelrl serve`")
        self.url = url
        self._connections = Connections(url, token, ca_file, connections)
        self._patience_s = patience_s
        self._answered_at = self._warned_at = -math.inf  # by the event loop's clock

    async def evaluate(
        self,
        task: str | Mapping[str, Any],
        source: str,
        *,
        contract: str | None = None,
        stages: tuple[str, ...] | None = None,
        seed: int | None = None,
        deadline_s: float | None = None,
    ) -> Evaluation:
        """Judges a kernel."""
        return await self._evaluate(Request(task, source, contract, stages, seed), _at(deadline_s))

    async def evaluate_many(
        self, requests: Iterable[Request | tuple[str, str]], *, deadline_s: float | None = None
    ) -> list[Evaluation]:
        """Judges kernels, as many at once as there are connections, and returns the evaluations in the order of the
        requests. The first error ends the call; `stream` gives each request its own."""
        deadline = _at(deadline_s)
        tasks = [asyncio.ensure_future(self._evaluate(Request(*request), deadline)) for request in requests]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def stream(
        self, requests: Iterable[Request | tuple[str, str]], *, deadline_s: float | None = None
    ) -> AsyncGenerator[Event, None]:
        """Judges kernels, and tells the news as they come."""
        news = asyncio.Queue[Event | None]()
        deadline = _at(deadline_s)

        async def one(index: int, request: Request) -> None:
            def report(kind: str, position: int | None) -> None:
                news.put_nowait(Event(kind, index, position))

            try:
                evaluation = await self._evaluate(request, deadline, report)
                news.put_nowait(Event("result", index, evaluation=evaluation))
            except JudgeError as error:
                news.put_nowait(Event("error", index, error=error))
            finally:
                news.put_nowait(None)

        tasks = [asyncio.ensure_future(one(i, Request(*request))) for i, request in enumerate(requests)]
        try:
            for _ in tasks:
                while (event := await news.get()) is not None:
                    yield event
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def tasks(self) -> list[Task]:
        """The tasks of the server."""
        return [Task.from_json(task) for task in (await self._get("/v1/tasks"))["tasks"]]

    async def task(self, id: str) -> Task:
        """A task with its prompt and its naive kernel."""
        return Task.from_json(await self._get(f"/v1/tasks/{quote(id, safe='')}"))

    async def add_task(self, definition: Mapping[str, Any]) -> Task:
        """Gives the server a definition, as in a task file, which it checks; its id stands for it in later requests."""
        body = json.dumps(definition).encode()
        return Task.from_json(await self._patiently(lambda: self._call("POST", "/v1/tasks", body), None))

    async def best(self, task: str | None = None) -> list[Best]:
        """The fastest right kernel that the server has judged for each task, or for one."""
        query = "" if task is None else f"?task={quote(task, safe='')}"
        kernels = (await self._get("/v1/best" + query))["best"]
        return [Best(kernel["task"], kernel["source"], Evaluation.from_json(kernel)) for kernel in kernels]

    async def info(self) -> Info:
        """The server's backend, device and version."""
        return Info.from_json(await self._get("/v1/info"))

    async def healthy(self) -> bool:
        """True if the server takes requests now. Never waits for long, and never raises."""
        try:
            await within(5, self._call("GET", "/healthz"))
            return True
        except (JudgeError, asyncio.TimeoutError):
            return False

    async def close(self) -> None:
        """Closes the connections that this event loop keeps open."""
        await self._connections.close()

    async def __aenter__(self) -> AsyncJudge:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _evaluate(
        self,
        request: Request,
        deadline: float | None,
        report: Callable[[str, int | None], None] = lambda kind, position: None,
    ) -> Evaluation:
        fields = {name: value for name, value in request._asdict().items() if value is not None}

        async def ask() -> Evaluation:
            if deadline is not None:
                fields["deadline_s"] = max(math.ceil(deadline - _now()), 1)
            body = json.dumps(fields).encode()
            outcome: Evaluation | JudgeError = Unavailable("the server ended its answer before the verdict")
            async with self._connections.exchange("POST", "/v1/evaluate", body, "text/event-stream") as response:
                await _accepted(response)
                async for kind, data in response.events():
                    event = json.loads(data)
                    if kind == "queued" or kind == "started":
                        report(kind, event.get("position"))
                    elif kind == "result":
                        event.pop("index", None)
                        outcome = _verdict(Evaluation.from_json(event))
                    elif kind == "error":
                        outcome = error_of(event["error"])
            if isinstance(outcome, JudgeError):
                raise outcome
            return outcome

        return await self._patiently(ask, deadline)

    async def _get(self, path: str) -> Json:
        return await self._patiently(lambda: self._call("GET", path), None)

    async def _call(self, method: str, path: str, body: bytes = b"") -> Json:
        async with self._connections.exchange(method, path, body) as response:
            await _accepted(response)
            answer: Json = json.loads(await response.read())
            return answer

    async def _patiently(self, ask: Callable[[], Coroutine[Any, Any, T]], deadline: float | None) -> T:
        """Asks until there is an answer, or an error that asking again would not change."""
        failed_at, tries = 0.0, 0
        while True:
            try:
                answer = await _before(deadline, ask())
                self._answered_at = _now()
                return answer
            except Unavailable as error:
                reason = error
            if tries == 0:
                failed_at = _now()
                self._warn(reason)
            # A server that is full of this program's own requests is given as long as it answers them.
            since = failed_at if reason.retry_after_s is None else max(failed_at, self._answered_at)
            pause = random.uniform(1, 1.5) * (reason.retry_after_s or min(0.1 * 2**tries, 10))
            if _now() + pause > since + self._patience_s:
                raise Unavailable(f"{self.url}: {reason}") from reason
            tries += 1
            await _before(deadline, asyncio.sleep(pause))

    def _warn(self, reason: Unavailable) -> None:
        if _now() > self._warned_at + _WARN_EVERY_S:
            log.warning("%s: %s; asking again for up to %.0f s", self.url, reason, self._patience_s)
            self._warned_at = _now()


def _now() -> float:
    return asyncio.get_running_loop().time()


def _at(deadline_s: float | None) -> float | None:
    return None if deadline_s is None else _now() + deadline_s


async def _before(deadline: float | None, waiting: Coroutine[Any, Any, T]) -> T:
    if deadline is None:
        return await waiting
    try:
        return await within(deadline - _now(), waiting)
    except asyncio.TimeoutError:
        raise DeadlinePassed("no verdict before the deadline") from None


def _verdict(evaluation: Evaluation) -> Evaluation | JudgeError:
    """A server of kernelrl sends no such verdict, but others may stand in for it."""
    return InfrastructureError(evaluation.why) if evaluation.verdict == "infra_error" else evaluation


async def _accepted(response: Response) -> None:
    """Raises the error that the answer is, if it is one."""
    if response.status == 200:
        return
    try:
        error = json.loads(await response.read())["error"]
    except (ValueError, TypeError, KeyError):  # not from kernelrl: a proxy
        error = {"message": f"HTTP status {response.status}"}
    error.setdefault("retry_after_s", _seconds(response.headers.get("retry-after")))
    raise error_of(error, response.status)


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdigit() else None
