"""HTTP/1.1 over asyncio: connections that are kept open, answers in pieces, server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import weakref
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from typing import TypeVar
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
    reader: asyncio.StreamReader
    complete: bool = False

    @property
    def reusable(self) -> bool:
        return self.complete and self.headers.get("connection", "").lower() != "close"

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int((await _line(self.reader)).split(b";")[0], 16):
                async for piece in self._exactly(size):
                    yield piece
                await _line(self.reader)
            while await _line(self.reader):
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
            piece = await _spoken(self.reader.read(min(size, 1 << 16)))
            if not piece:
                raise Unavailable("the server closed the connection within an answer")
            size -= len(piece)
            yield piece


class _Pool:
    """The connections of one event loop."""

    def __init__(self, most: int) -> None:
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.free = asyncio.Semaphore(most)


class Connections:
    """Up to `most` connections to one server for each event loop that uses them."""

    def __init__(self, url: str, token: str | None, ca_file: str | None, most: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"'{url}' is not the address of a server; one is http://127.0.0.1:8000")
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port or (443 if self._secure else 80)
        self._prefix = parts.path.rstrip("/")
        self._head = f"Host: {parts.netloc.rpartition('@')[2]}\r\n"
        if token is not None:
            self._head += f"Authorization: Bearer {token}\r\n"
        self._ca_file, self._most = ca_file, most
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
            reader, writer = await self._connect(pool)
            response = None
            try:
                head = f"{method} {self._prefix}{path} HTTP/1.1\r\n{self._head}Accept: {accept}\r\n"
                head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
                writer.write(head.encode() + b"\r\n" + body)
                await _spoken(writer.drain())
                response = await _response(reader)
                yield response
            except (OSError, ValueError, EOFError, IndexError, asyncio.LimitOverrunError) as error:
                raise Unavailable(f"the connection broke, or this is not HTTP: {error}") from error
            finally:
                if response is not None and response.reusable:
                    pool.idle.append((reader, writer))
                else:
                    writer.close()

    async def close(self) -> None:
        for _, writer in self._pools.pop(asyncio.get_running_loop(), _Pool(0)).idle:
            writer.close()

    async def _connect(self, pool: _Pool) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while pool.idle:
            reader, writer = pool.idle.pop()
            if not reader.at_eof() and not writer.is_closing():
                return reader, writer
            writer.close()
        context = ssl.create_default_context(cafile=self._ca_file) if self._secure else None
        opening = asyncio.open_connection(self._host, self._port, ssl=context)
        try:
            return await asyncio.wait_for(opening, CONNECT_S)
        except ssl.SSLCertVerificationError as error:
            raise Unauthorized(f"the server's certificate is not trusted: {error}") from error
        except asyncio.TimeoutError:
            raise Unavailable(f"no connection within {CONNECT_S:.0f} s") from None
        except OSError as error:
            raise Unavailable(f"no connection: {error}") from error


async def _response(reader: asyncio.StreamReader) -> Response:
    status = int((await _line(reader)).split(b" ")[1])
    headers = dict[str, str]()
    while line := await _line(reader):
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    return Response(status, headers, reader)


async def _line(reader: asyncio.StreamReader) -> bytes:
    return (await _spoken(reader.readuntil(b"\n"))).rstrip(b"\r\n")


async def _spoken(waiting: Awaitable[T]) -> T:
    try:
        return await asyncio.wait_for(waiting, SILENCE_S)
    except asyncio.TimeoutError:
        raise Unavailable(f"the server has been silent for {SILENCE_S:.0f} s") from None
