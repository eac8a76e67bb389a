"""Stands between clients and a server, and writes what they say for tests/serve/replay_test.py: recorder.py URL OUT.json

Prints its own port. SIGTERM ends it.
"""
import http.client
import http.server
import json
import pathlib
import signal
import socket
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "serve"))
import web_socket  # noqa: E402

URL = urllib.parse.urlparse(sys.argv[1])
KEPT_HEADERS = ("Accept", "Content-Type", "Cookie", "X-Session-ID", "X-API-Key", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")
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
                          "status": answer.status, "answer": text.decode()})
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


def end(*_):
    pathlib.Path(sys.argv[2]).write_text(json.dumps(exchanges, indent=1) + "\n")
    sys.exit()


signal.signal(signal.SIGTERM, end)
recorder = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
print(recorder.server_port, flush=True)
recorder.serve_forever()
