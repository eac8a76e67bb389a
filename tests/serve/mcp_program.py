"""`kernelrl mcp` for a test."""
import json
import os
import subprocess

import kept_secret


class Stdio:
    def __init__(self, *options):
        self.process = subprocess.Popen([os.environ["KERNELRL"], "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, message):
        self.process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self.process.stdin.flush()

    def receive(self):
        """The next line; empty at the end."""
        return kept_secret.check(self.process.stdout.readline())

    def ask(self, message):
        """All messages until the response."""
        self.send(message)
        messages = [json.loads(self.receive())]
        while "method" in messages[-1]:
            messages.append(json.loads(self.receive()))
        return messages

    def close(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait(), rest
