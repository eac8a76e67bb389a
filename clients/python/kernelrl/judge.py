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
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any, Concatenate, ParamSpec, TypeVar

from kernelrl.async_judge import AsyncJudge, Event, Request

T = TypeVar("T")
P = ParamSpec("P")


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


def _waiting(
    method: Callable[Concatenate[AsyncJudge, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Judge, P], T]:
    """The method of a `Judge` that waits for this one, with the same arguments."""

    @functools.wraps(method)
    def call(self: Judge, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return blocking(method(self._judge, *args, **kwargs))

    return call


class Judge:
    """A server that judges kernels: an `AsyncJudge` for programs without asyncio, made and asked alike. Any number of
    threads may use a judge; it may be pickled and survives a fork."""

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

    evaluate = _waiting(AsyncJudge.evaluate)
    evaluate_many = _waiting(AsyncJudge.evaluate_many)
    tasks = _waiting(AsyncJudge.tasks)
    task = _waiting(AsyncJudge.task)
    add_task = _waiting(AsyncJudge.add_task)
    best = _waiting(AsyncJudge.best)
    info = _waiting(AsyncJudge.info)
    healthy = _waiting(AsyncJudge.healthy)
    close = _waiting(AsyncJudge.close)

    def stream(
        self, requests: Iterable[Request | tuple[str, str]], *, deadline_s: float | None = None
    ) -> Iterator[Event]:
        """Judges kernels, and tells the news as they come."""
        news = self._judge.stream(requests, deadline_s=deadline_s)

        async def following() -> Event | None:
            return await anext(news, None)

        try:
            while (event := blocking(following())) is not None:
                yield event
        finally:
            blocking(news.aclose())

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
