"""Asks a `kernelrl serve` for verdicts.

    judge = Judge("http://127.0.0.1:8400")
    evaluation = judge.evaluate("softmax_rows", source)
    print(evaluation.verdict, evaluation.speedup)

Each call runs on a background thread, which all judges of a process share.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from kernelrl.async_judge import AsyncJudge, Event, Request
from kernelrl.evaluation import Best, Evaluation, Info, Task

T = TypeVar("T")


class Judge:
    """A server that judges kernels. Any number of threads may use a judge; it may be pickled and survives a fork.

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
        self._judge = AsyncJudge(url, token, ca_file=ca_file, connections=connections, patience_s=patience_s)

    @property
    def url(self) -> str:
        return self._judge.url

    def evaluate(
        self,
        task: str | Mapping[str, Any],
        source: str,
        *,
        contract: str | None = None,
        stages: tuple[str, ...] | None = None,
        seed: int | None = None,
        deadline_s: float | None = None,
    ) -> Evaluation:
        """Judges a kernel. `task` is an id or a definition as in a task file; the server has defaults for the rest."""
        return blocking(
            self._judge.evaluate(task, source, contract=contract, stages=stages, seed=seed, deadline_s=deadline_s)
        )

    def evaluate_many(
        self, requests: Iterable[Request | tuple[str, str]], *, deadline_s: float | None = None
    ) -> list[Evaluation]:
        """Judges kernels, as many at once as there are connections, and returns the evaluations in the order of the
        requests. The first error ends the call; `stream` gives each request its own."""
        return blocking(self._judge.evaluate_many(requests, deadline_s=deadline_s))

    def stream(
        self, requests: Iterable[Request | tuple[str, str]], *, deadline_s: float | None = None
    ) -> Iterator[Event]:
        """Judges kernels, and tells the news as they come."""
        news = self._judge.stream(requests, deadline_s=deadline_s)

        async def following() -> Event | None:
            return await anext(news, None)

        async def end() -> None:
            await news.aclose()

        try:
            while (event := blocking(following())) is not None:
                yield event
        finally:
            blocking(end())

    def tasks(self) -> list[Task]:
        """The tasks of the server."""
        return blocking(self._judge.tasks())

    def task(self, id: str) -> Task:
        """A task with its prompt and its naive kernel."""
        return blocking(self._judge.task(id))

    def add_task(self, definition: Mapping[str, Any]) -> Task:
        """Gives the server a definition, as in a task file, which it checks; its id stands for it in later requests."""
        return blocking(self._judge.add_task(definition))

    def best(self, task: str | None = None) -> list[Best]:
        """The fastest right kernel that the server has judged for each task, or for one."""
        return blocking(self._judge.best(task))

    def info(self) -> Info:
        """The server's backend, device and version."""
        return blocking(self._judge.info())

    def healthy(self) -> bool:
        """True if the server takes requests now. Never waits for long, and never raises."""
        return blocking(self._judge.healthy())

    def close(self) -> None:
        """Closes the connections that are kept open."""
        blocking(self._judge.close())

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine on the background thread of this process; an exception here, such as Ctrl-C, cancels it."""
    future = asyncio.run_coroutine_threadsafe(coroutine, _background_loop(os.getpid()))
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


@functools.cache  # by process: a fork copies no threads
def _background_loop(process: int) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="kernelrl", daemon=True).start()
    return loop
