"""A server that answers as a script says, to test how clients take what no real server does on demand."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def evaluation(source="", **fields):
    """An answer of POST /v1/evaluate; its log repeats the source."""
    fields = {"verdict": "ok", "why": "", "compile_log": source} | fields
    return {"id": "e1", "task": "t", "evaluation": fields, "headline": "ok", "feedback": "well done", "kept": False}


class Call(BaseHTTPRequestHandler):
    """A request under way. A script answers it by one of `json`, `events` and `hang_up`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.server.connections += 1

    def take(self):
        self.body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "null")
        with self.server.lock:
            self.server.calls.append(self)
            script = self.server.scripts.pop(0) if self.server.scripts else self.server.default
        script(self)

    do_GET = do_POST = take

    def log_message(self, *_):
        pass

    def handle(self):
        with contextlib.suppress(ConnectionError):  # the client left
            super().handle()

    def json(self, answer, status=200, **headers):
        text = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in ({"Content-Length": len(text)} | headers).items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(text)

    def begin_events(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def event(self, name, **data):
        self.chunk(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())

    def verdict(self, **fields):
        """All events of a request that goes well."""
        self.begin_events()
        self.event("queued", index=0, position=2)
        self.event("started", index=0)
        self.event("result", index=0, **evaluation(self.body["source"], **fields))
        self.event("end")
        self.chunk(b"")

    def hang_up(self):
        self.close_connection = True


class FakeServer(ThreadingHTTPServer):
    """`scripts` answer the first requests, one each, and `default` the others."""

    daemon_threads = True

    def __init__(self, *scripts, default=Call.verdict):
        super().__init__(("127.0.0.1", 0), Call)
        self.scripts, self.default = list(scripts), default
        self.calls, self.connections, self.lock = [], 0, threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return super().__enter__()

    def __exit__(self, *error):
        self.shutdown()
        super().__exit__(*error)
