"""The program as tests speak MCP with it, over HTTP and on its standard streams. Standard library only."""
import http.client
import json
import os
import subprocess

PROGRAM = os.environ.get("KERNELRL", "kernelrl")


class Http:
    """`kernelrl serve`; each post is a connection of its own."""

    def __init__(self, *options):
        self.process = subprocess.Popen([PROGRAM, "serve", "--port", "0", *options], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on http://"), line
        self.address = line.split("://")[1].split(",")[0]
        self.session = None

    def request(self, method, body, headers=()):
        """The status, the headers, and all messages of the answer."""
        connection = http.client.HTTPConnection(self.address)
        text = body if isinstance(body, (str, type(None))) else json.dumps(body)
        connection.request(method, "/mcp", text, {"Accept": "application/json, text/event-stream", **dict(headers)})
        reply = connection.getresponse()
        text = reply.read().decode()
        is_stream = "event-stream" in reply.getheader("Content-Type", "")
        messages = [line[6:] for line in text.splitlines() if line.startswith("data: ")] if is_stream else [text] if text else []
        return reply.status, reply.headers, [json.loads(m) for m in messages]

    def close(self):
        self.process.terminate()
        self.process.stdout.close()
        return self.process.wait()


class Stdio:
    """`kernelrl mcp`."""

    def __init__(self, *options):
        self.process = subprocess.Popen([PROGRAM, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, message):
        self.process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, message):
        """All messages until the response."""
        self.send(message)
        messages = [self.receive()]
        while "method" in messages[-1]:
            messages.append(self.receive())
        return messages

    def close(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait(), rest
