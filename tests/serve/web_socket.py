"""A client of WebSockets (RFC 6455) in standard Python, for texts up to 64 KiB, and a reader of messages."""
import base64
import os
import socket
import struct

import kept_secret


def frame(data, opcode=1, masked=True):
    """The frame of a message; clients mask it."""
    bit = 0x80 if masked else 0
    size = struct.pack("!BB", 0x80 | opcode, bit | len(data)) if len(data) < 126 else struct.pack("!BBH", 0x80 | opcode, bit | 126, len(data))
    if not masked:
        return size + data
    mask = os.urandom(4)
    return size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def read_message(read):
    """The opcode and the data of the next message, of its frames together; `read(n)` gives exactly n bytes."""
    opcode, message, is_last = 0, b"", False
    while not is_last:
        first, second = read(2)
        size = second & 0x7F
        if size == 126:
            size, = struct.unpack("!H", read(2))
        elif size == 127:
            size, = struct.unpack("!Q", read(8))
        mask = read(4) if second & 0x80 else bytes(4)
        message += bytes(b ^ mask[i % 4] for i, b in enumerate(read(size)))
        opcode, is_last = opcode or first & 0x0F, bool(first & 0x80)
    return opcode, message


class WebSocket:
    def __init__(self, host, port, path, timeout=60, headers=""):
        self.connection = socket.create_connection((host, port), timeout)
        self.stream = self.connection.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.sendall((f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                 f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n").encode())
        self.status = int(self.stream.readline().split()[1])
        while self.stream.readline().strip():
            pass

    def send(self, text):
        self.connection.sendall(frame(text.encode()))

    def receive(self):
        """The next text; None once the server has closed."""
        while True:
            try:
                opcode, data = read_message(self.stream.read)
            except ValueError:  # the end
                return None
            if opcode == 8:
                return None
            if opcode == 1:
                return kept_secret.check(data.decode())

    def close(self):
        self.stream.close()
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
