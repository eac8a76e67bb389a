"""The traffic of real clients (tests/clients/run.sh records it), sent again: the answers must have the same form."""
import contextlib
import json
import re
import unittest

from judge_server import HERE, JudgeServer
from mcp_program import Stdio
from web_socket import WebSocket

KEPT = ("verdict", "code", "isError")


def form(value):
    """The value's names and types; of texts, numbers and truths only the type, but for KEPT."""
    if isinstance(value, dict):
        return {key: item if key in KEPT and not isinstance(item, dict) else form(item) for key, item in value.items()}
    if isinstance(value, list):
        return [form(item) for item in value]
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def form_of_text(text):
    try:
        return form(json.loads(text))
    except ValueError:  # a stream, whose progress depends on what the server knows already
        return {re.match(r"event: .*|", event)[0] for event in text.split("\n\n")}


class Ids:
    """The ids of the new answers by those of the recorded ones."""
    ID = re.compile(r"\b[0-9a-f]{32}\b")

    def __init__(self):
        self.known = {}

    def learn(self, recorded, text):
        self.known.update(zip(self.ID.findall(recorded), self.ID.findall(text)))

    def put_in(self, text):
        return self.ID.sub(lambda match: self.known.get(match[0], match[0]), text)


class Replay(unittest.TestCase):
    def replay(self, name):
        ids = Ids()
        exchanges = json.loads((HERE / "recordings" / f"{name}.json").read_text())
        self.assertTrue(exchanges)
        for exchange in exchanges:
            if "messages" in exchange:
                self.replay_messages(exchange, ids)
                continue
            headers = {key: ids.put_in(value) for key, value in exchange["headers"].items()}
            answer = self.server.ask(exchange["method"], exchange["path"], ids.put_in(exchange["body"]) or None, headers)
            told = exchange["method"], exchange["path"], answer.text
            self.assertEqual(answer.status, exchange["status"], told)
            self.assertEqual(form_of_text(answer.text), form_of_text(exchange["answer"]), told)
            ids.learn(exchange["session"], answer.headers.get("Mcp-Session-Id", ""))
            ids.learn(exchange["answer"], answer.text)

    def replay_messages(self, exchange, ids):
        has_socket = "socket" in exchange
        other = WebSocket(self.server.host, self.server.port, exchange["socket"]) if has_socket else Stdio()
        with contextlib.closing(other):
            for side, text in exchange["messages"]:
                if side == "client":
                    other.send(ids.put_in(text))
                    continue
                answer = other.receive()
                self.assertEqual(form_of_text(answer), form_of_text(text), answer)
                ids.learn(text, answer)

    @classmethod
    def setUpClass(cls):
        cls.server = JudgeServer.of_cpu()
        cls.addClassCleanup(cls.server.stop)


for recording in sorted((HERE / "recordings").glob("*.json")):
    setattr(Replay, f"test_{recording.stem}", lambda self, name=recording.stem: self.replay(name))

if __name__ == "__main__":
    unittest.main()
