"""`kernelrl serve` for a test, and requests to it. KERNELRL is the program, KERNELRL_TOYS the folder with the plugin "toy".

Every answer is searched for secrets.
"""
import http.client
import json
import os
import pathlib
import re
import subprocess

import kept_secret
from kept_secret import CHECKOUT

HERE = pathlib.Path(__file__).parent

# A right kernel of the built-in task row_sum.
ROW_SUM = (CHECKOUT / "bench" / "kernels" / "row_sum.cu").read_text()


def choice(number):
    """A kernel of the toy world: 0 does not compile, 1 is wrong, 2 is as fast as the baseline, 3 twice as fast."""
    return f"__global__ void k() {{}}  // choice {number}"


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = kept_secret.check(response.read().decode())

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def events(self):
        """The events of a stream: [(type, data)]."""
        fields = [dict(line.split(": ", 1) for line in event.split("\n") if not line.startswith(":"))
                  for event in self.text.split("\n\n") if event]
        return [(event["event"], event["data"]) for event in fields if event]


class JudgeServer:
    def __init__(self, *options):
        environment = dict(os.environ, KERNELRL_PLUGIN_PATH=os.environ.get("KERNELRL_TOYS", ""))
        self.process = subprocess.Popen([os.environ["KERNELRL"], "serve", "--port", "0", "--seed", kept_secret.SEED, *map(str, options)],
                                        stdout=subprocess.PIPE, text=True, env=environment)
        line = self.process.stdout.readline()
        self.host, self.port = "127.0.0.1", int(re.search(r":(\d+),", line)[1])
        self.url = f"http://{self.host}:{self.port}"

    @classmethod
    def of_toys(cls, *changes):
        """One whose judgements take no time, with 4 turns an episode. `changes`: of its plan."""
        return cls("--plan", HERE / "toy_judge.toml", *[word for change in changes for word in ("--set", change)])

    @classmethod
    def of_cpu(cls):
        return cls()

    def ask(self, method, path, body=None, headers={}):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            text = None if body is None else body if isinstance(body, str) else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json", **headers} if text else headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, None, headers)

    def post(self, path, body=None, headers={}):
        return self.ask("POST", path, {} if body is None else body, headers)

    def stop(self):
        """Ends it; its exit status."""
        self.process.terminate()
        self.process.stdout.close()
        return self.process.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
