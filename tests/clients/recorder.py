"""Stands between a client and kernelrl, and writes what they say for tests/serve/replay_test.py.

  recorder.py OUT.json http://…     listens on a free port, which it prints, and passes on what comes; SIGTERM ends it
  recorder.py OUT.json COMMAND…     the same for the standard streams of a command
"""
import http.client
import http.server
import json
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "serve"))
import web_socket  # noqa: E402

OUT, TARGET = pathlib.Path(sys.argv[1]), sys.argv[2:]
URL = urllib.parse.urlparse(TARGET[0])
KEPT_HEADERS = ("Accept", "Content-Type", "Cookie", "X-Session-ID", "X-API-Key", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id")
exchanges = []


class Recorder(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.headers.get("Upgrade", "").lower() == "websocket":
            return self.pass_messages()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name: self.headers[name] for name in KEPT_HEADERS if self.headers[name]}
        server = http.client.HTTPConnection(URL.hostname, URL.port)
        server.request(self.command, self.path, body, headers)
        answer = server.getresponse()
        text = answer.read()
        exchanges.append({"method": self.command, "path": self.path, "headers": headers, "body": body.decode(),
                          "status": answer.status, "session": answer.getheader("Mcp-Session-Id", ""), "answer": text.decode()})
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_DELETE = do_GET

    def pass_messages(self):
        server = socket.create_connection((URL.hostname, URL.port))
        head = f"{self.requestline}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        server.sendall((head + "\r\n").encode())
        stream = server.makefile("rb")
        while line := stream.readline():
            self.connection.sendall(line)
            if not line.strip():
                break
        messages = []
        exchanges.append({"socket": self.path, "messages": messages})

        def copy(source, target, side):
            try:
                while True:
                    opcode, data = web_socket.read_message(source.read)
                    if opcode == 1:
                        messages.append([side, data.decode()])
                    target.sendall(web_socket.frame(data, opcode, masked=side == "client"))
            except (ValueError, OSError):  # the end
                target.close()

        threading.Thread(target=copy, args=(stream, self.connection, "server"), daemon=True).start()
        copy(self.rfile, server, "client")
        self.close_connection = True

    def log_message(self, *_):
        pass


def write(*_):
    OUT.write_text(json.dumps(exchanges, indent=1) + "\n")
    sys.exit()


def pass_lines():
    program = subprocess.Popen(TARGET, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    messages = []
    exchanges.append({"program": TARGET[1:], "messages": messages})

    def copy(source, target, side):
        for line in source:
            messages.append([side, line.decode().rstrip("\n")])
            target.write(line)
            target.flush()

    answers = threading.Thread(target=copy, args=(program.stdout, sys.stdout.buffer, "server"))
    answers.start()
    copy(sys.stdin.buffer, program.stdin, "client")
    program.stdin.close()
    answers.join()
    program.wait()


signal.signal(signal.SIGTERM, write)
if not URL.scheme:
    pass_lines()
    write()
recorder = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
print(recorder.server_port, flush=True)
recorder.serve_forever()
