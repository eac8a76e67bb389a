"""HTTP/1.1 over asyncio: connections that are kept open, answers in pieces, server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import weakref
from collections.abc import AsyncIterator, Awaitable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from kernelrl.errors import Unauthorized, Unavailable

T = TypeVar("T")

CONNECT_S = 10.0
SILENCE_S = 60.0  # a server that judges says so every 10 s: after this long it is gone


@dataclass
class Response:
    """The head of an answer; its body can be read once."""

    status: int
    headers: dict[str, str]  # names in lower case
    connection: _Connection
    complete: bool = False

    @property
    def reusable(self) -> bool:
        return self.complete and self.headers.get("connection", "").lower() != "close"

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int((await self.connection.line()).split(b";")[0], 16):
                async for piece in self._exactly(size):
                    yield piece
                await self.connection.line()
            while await self.connection.line():
                pass  # trailers
        elif (length := self.headers.get("content-length")) is not None:
            async for piece in self._exactly(int(length)):
                yield piece
        else:
            raise Unavailable("the answer has no length")
        self.complete = True

    async def read(self) -> bytes:
        return b"".join([piece async for piece in self.pieces()])

    async def events(self) -> AsyncIterator[tuple[str, bytes]]:
        """The server-sent events of the body: their names and data."""
        rest, name, data = b"", "message", list[bytes]()
        async for piece in self.pieces():
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                key, _, value = line.rstrip(b"\r").partition(b":")
                value = value.removeprefix(b" ")
                if key == b"event":
                    name = value.decode()
                elif key == b"data":
                    data.append(value)
                elif line.rstrip(b"\r") == b"":
                    if data:
                        yield name, b"\n".join(data)
                    name, data = "message", []

    async def _exactly(self, size: int) -> AsyncIterator[bytes]:
        while size > 0:
            piece = await self.connection.read(min(size, 1 << 16))
            size -= len(piece)
            yield piece


class _Connection:
    """An open connection. Every wait ends if the server is silent for too long."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @property
    def is_open(self) -> bool:
        return not self._reader.at_eof() and not self._writer.is_closing()

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._spoken(self._writer.drain())

    async def line(self) -> bytes:
        return (await self._spoken(self._reader.readuntil(b"\n"))).rstrip(b"\r\n")

    async def read(self, most: int) -> bytes:
        data = await self._spoken(self._reader.read(most))
        if not data:
            raise EOFError
        return data

    def close(self) -> None:
        self._writer.close()

    async def _spoken(self, waiting: Awaitable[T]) -> T:
        silence = asyncio.get_running_loop().call_later(SILENCE_S, self._writer.transport.abort)
        try:
            return await waiting
        finally:
            silence.cancel()


class _Pool:
    """The connections of one event loop."""

    def __init__(self, most: int) -> None:
        self.idle: list[_Connection] = []
        self.free = asyncio.Semaphore(most)


class Connections:
    """Up to `most` connections to one server for each event loop that uses them."""

    def __init__(self, url: str, token: str | None, ca_file: str | None, most: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"'{url}' is not the address of a server; one is http://127.0.0.1:8400")
        self._host, self._port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        self._prefix = parts.path.rstrip("/")
        self._head = f"Host: {parts.netloc.rpartition('@')[2]}\r\n"
        if token is not None:
            self._head += f"Authorization: Bearer {token}\r\n"
        self._tls = ssl.create_default_context(cafile=ca_file) if parts.scheme == "https" else None
        self._most = most
        self._arguments = (url, token, ca_file, most)
        self._pools = weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool]()

    def __reduce__(self) -> tuple[object, ...]:  # open connections stay in their process
        return Connections, self._arguments

    @contextlib.asynccontextmanager
    async def exchange(
        self, method: str, path: str, body: bytes = b"", accept: str = "application/json"
    ) -> AsyncIterator[Response]:
        """Sends a request, once a connection is free, and gives the head of the answer. Raises `Unavailable` if the
        connection fails. Leaving before the end of the answer closes the connection, which cancels the request."""
        pool = self._pools.setdefault(asyncio.get_running_loop(), _Pool(self._most))
        async with pool.free:
            connection = await self._connect(pool)
            response = None
            try:
                head = f"{method} {self._prefix}{path} HTTP/1.1\r\n{self._head}Accept: {accept}\r\n"
                head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
                await connection.send(head.encode() + b"\r\n" + body)
                response = await _response(connection)
                yield response
            except EOFError:
                raise Unavailable("the server closed the connection, or fell silent, before its answer") from None
            except (OSError, ValueError, IndexError, asyncio.LimitOverrunError) as error:
                raise Unavailable(f"the connection broke, or this is not HTTP: {error}") from error
            finally:
                if response is not None and response.reusable:
                    pool.idle.append(connection)
                else:
                    connection.close()

    async def close(self) -> None:
        for connection in self._pools.pop(asyncio.get_running_loop(), _Pool(0)).idle:
            connection.close()

    async def _connect(self, pool: _Pool) -> _Connection:
        while pool.idle:
            connection = pool.idle.pop()
            if connection.is_open:
                return connection
            connection.close()
        opening = asyncio.open_connection(self._host, self._port, ssl=self._tls)
        try:
            return _Connection(*await within(CONNECT_S, opening))
        except ssl.SSLCertVerificationError as error:
            raise Unauthorized(f"the server's certificate is not trusted: {error}") from error
        except asyncio.TimeoutError:
            raise Unavailable(f"no connection within {CONNECT_S:.0f} s") from None
        except OSError as error:
            raise Unavailable(f"no connection: {error}") from error


async def _response(connection: _Connection) -> Response:
    status = int((await connection.line()).split(b" ")[1])
    headers = dict[str, str]()
    while line := await connection.line():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    return Response(status, headers, connection)


async def within(seconds: float, waiting: Coroutine[Any, Any, T]) -> T:
    """asyncio.wait_for, which before Python 3.12 forgets that it was cancelled if the result comes at the same time."""
    task = asyncio.ensure_future(waiting)
    try:
        await asyncio.wait([task], timeout=seconds)
        if not task.done():
            raise asyncio.TimeoutError
        return task.result()
    finally:
        task.cancel()
