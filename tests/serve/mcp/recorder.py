"""Stands between an MCP client and the judge, and records what they say as JSON lines.

  recorder.py FILE COMMAND…     on the standard streams; starts the command
  recorder.py FILE http://…     listens on a free port, which it prints, and forwards there
"""
import http.client
import http.server
import json
import subprocess
import sys
import threading
import urllib.parse

KEPT = ("accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id")
LOCK = threading.Lock()


def record(file, entry):
    with LOCK, open(file, "a") as out:
        out.write(json.dumps(entry) + "\n")


def relay(file, command):
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def answers():
        for line in program.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    reader = threading.Thread(target=answers)
    reader.start()
    for line in sys.stdin.buffer:
        record(file, {"body": json.loads(line)})
        program.stdin.write(line)
        program.stdin.flush()
    program.stdin.close()
    reader.join()
    program.wait()


def forward(file, url):
    target = urllib.parse.urlsplit(url)

    class Forward(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_method(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {k.lower(): v for k, v in self.headers.items() if k.lower() in KEPT}
            record(file, {"method": self.command, "headers": headers, "body": json.loads(body) if body else None})
            server = http.client.HTTPConnection(target.hostname, target.port)
            server.request(self.command, target.path, body, headers)
            reply = server.getresponse()
            text = reply.read()
            self.send_response(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                    self.send_header(name, value)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET = do_DELETE = handle_method

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forward)
    print(f"http://127.0.0.1:{server.server_port}{target.path}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    (forward(sys.argv[1], sys.argv[2]) if sys.argv[2].startswith("http") else relay(sys.argv[1], sys.argv[2:]))
