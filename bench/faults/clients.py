"""Clients that ask for verdicts which they know, or that misbehave: clients.py ROLE FILE URL…; the storm starts them.

Each request is a line "begin" in FILE and one "end" with its outcome: `verdict` as it must be, `error` in the form of the API,
`lost` with the connection; anything else is a fault.
"""
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import sys
import time
import urllib.parse

import kernels
from servers import TOKEN

sys.path.insert(0, str(kernels.CHECKOUT / "tests" / "serve"))
sys.path.insert(0, str(kernels.CHECKOUT / "clients" / "python"))
import kept_secret  # noqa: E402
from web_socket import WebSocket  # noqa: E402

HEADERS = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
PATIENCE_S = 90  # longer than the deadline of any request
# The API's words for what is no verdict; those of a wrong request may not come.
ERRORS = {"unavailable", "internal", "deadline_exceeded", "resource_exhausted"}


class Fault(Exception):
    """An answer that may not be."""


class Lost(Exception):
    """The connection ended before the answer."""


class Log:
    def __init__(self, file, role):
        self.file, self.role, self.last = open(file, "a", buffering=1), role, 0

    def begin(self, server):
        self.last += 1
        self.write("begin", self.last, server)
        return self.last

    def end(self, number, outcome, detail=""):
        self.write("end", number, outcome, detail[:300])

    def write(self, *words):
        self.file.write(json.dumps([time.time(), self.role, *words]) + "\n")


class Reply:
    def __init__(self, answer):
        self.status, self.headers = answer.status, answer.headers
        self.text = kept_secret.check(answer.read().decode())

    @property
    def json(self):
        try:
            return json.loads(self.text)
        except ValueError:
            raise Fault(f"no JSON, status {self.status}: {self.text[:100]}") from None

    @property
    def events(self):
        lines = [[line.partition(": ")[::2] for line in event.split("\n") if not line.startswith(":")] for event in self.text.split("\n\n")]
        return [(dict(event).get("event", ""), dict(event).get("data", "")) for event in lines if event and event != [("", "")]]


def ask(url, method, path, body=None, **headers):
    """A request on a connection of its own, which must say nothing after the answer."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=PATIENCE_S)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), HEADERS | headers)
        reply = Reply(connection.getresponse())
        if connection.sock is not None:
            connection.sock.settimeout(0.001)
            try:
                if connection.sock.recv(1):
                    raise Fault("words after the answer")
            except TimeoutError:
                pass
        return reply
    except TimeoutError:
        raise Fault(f"{path}: no answer within {PATIENCE_S} s") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Lost(f"{path}: {error!r}") from None
    finally:
        connection.close()


def error_of(json_error, status=None):
    """The outcome of an error in the API's form."""
    error = json_error.get("error", {})
    if error.get("code") not in ERRORS or not error.get("message"):
        raise Fault(f"status {status}: {json_error}")
    return "error", f"{error['code']}: {error['message']}"


def outcome_of(told, expected):
    """The outcome of what is a verdict or an error."""
    if "error" in told:
        if {"evaluation", "reward", "verdict", "score"} & set(told):
            raise Fault("both an error and a verdict")
        return error_of(told)
    return verdict(told["evaluation"]["verdict"], expected, told["evaluation"].get("why", ""))


def verdict(found, expected, why=""):
    if found != expected:
        raise Fault(f"{found} for {expected}: {why}")
    return "verdict", found


def no_figures(told):
    """Checks that what reports an error has no figure that a trainer could take for a score."""
    text = json.dumps(told)
    for word in ("reward", "score", "speedup", "verdict"):
        if f'"{word}"' in text:
            raise Fault(f"an error with a {word}: {text[:200]}")


def request_of(kernel):
    return {"task": kernel[0], "source": kernel[1], "deadline_s": 40}


# ---- those who ask ----------------------------------------------------------------------------------------------------------


def with_log(log, url, work):
    number = log.begin(url)
    log.end(number, *settled(work))


def settled(work):
    try:
        return work()
    except Lost as lost:
        time.sleep(0.1)
        return "lost", str(lost)
    except (Fault, AssertionError) as fault:
        return "FAULT", str(fault)
    except (KeyError, TypeError, AttributeError) as error:
        return "FAULT", f"an answer of another form: {error!r}"


def several(log, url, batch, work):
    """`work` gives the outcomes by index; each of the batch's requests must have exactly one."""
    numbers = [log.begin(url) for _ in batch]
    outcomes = settled(work)
    if isinstance(outcomes, tuple):
        outcomes = {index: [outcomes] for index in range(len(batch))}
    for index, number in enumerate(numbers):
        found = outcomes.get(index, [])
        log.end(number, *(found[0] if len(found) == 1 else ("FAULT", f"{len(found)} outcomes: {found}")))


def native(url, log):
    kernel = kernels.any_kernel()
    with_log(log, url, lambda: outcome_of(ask(url, "POST", "/v1/evaluate", request_of(kernel)).json, kernel[2]))


def batch(url, log):
    batch = [kernels.any_kernel() for _ in range(8)]

    def work():
        reply = ask(url, "POST", "/v1/evaluate", {"requests": [request_of(kernel) for kernel in batch]})
        if reply.status != 200:
            return error_of(reply.json, reply.status)
        return {index: [settled(lambda: outcome_of(told, batch[index][2]))] for index, told in enumerate(reply.json["results"])}
    several(log, url, batch, work)


def events(url, log):
    batch = [kernels.any_kernel() for _ in range(8)]

    def work():
        reply = ask(url, "POST", "/v1/evaluate", {"requests": [request_of(kernel) for kernel in batch]}, Accept="text/event-stream")
        if reply.status != 200:
            return error_of(reply.json, reply.status)
        outcomes = {}
        for kind, data in reply.events:
            if kind in ("result", "error"):
                told = json.loads(data)
                outcomes.setdefault(told["index"], []).append(settled(lambda: outcome_of(told, batch[told["index"]][2])))
        if reply.events[-1][0] != "end":
            return "lost", "the stream has no end"
        return outcomes
    several(log, url, batch, work)


def poll(url, log):
    kernel = kernels.any_kernel()

    def work():
        reply = ask(url, "POST", "/v1/evaluate?wait=0.1", request_of(kernel))
        path = f"/v1/evaluations/{reply.json.get('id')}"
        while reply.status == 202:
            reply = ask(url, "GET", path + "?wait=1")
            if reply.status == 404:
                return "lost", "the server began anew"
        outcome = outcome_of(reply.json, kernel[2])
        again = ask(url, "GET", path).json if "id" in reply.json else reply.json
        if "evaluation" in reply.json and again.get("evaluation", reply.json["evaluation"]) != reply.json["evaluation"]:
            raise Fault("two verdicts")
        return outcome
    with_log(log, url, work)


def openenv(url, log):
    """An episode by WebSocket: four turns, each a request."""
    place = urllib.parse.urlsplit(url)
    task, _, _ = kernels.any_kernel()
    turns = [kernel for kernel in (kernels.any_kernel() for _ in range(40)) if kernel[0] == task][:4]
    try:
        session = WebSocket(place.hostname, place.port, "/ws", PATIENCE_S, headers=f"Authorization: Bearer {TOKEN}\r\n")
    except (OSError, IndexError, ValueError):
        return time.sleep(0.1)

    def tell(kind, data):
        try:
            session.send(json.dumps({"type": kind, "data": data}))
            text = session.receive()
        except TimeoutError:
            raise Fault(f"no answer within {PATIENCE_S} s") from None
        except OSError as error:
            raise Lost(repr(error)) from None
        if text is None:
            raise Lost("the server closed the session")
        return json.loads(text)

    def step(kernel):
        answer = tell("step", {"code": kernel[1]})
        if answer["type"] == "error":
            no_figures(answer)
            return "error", f"{answer['data']['code']}: {answer['data']['message']}"
        told = answer["data"]["observation"]
        found = [told["compilation_success"], told["correctness_pass"]]
        if not isinstance(answer["data"]["reward"], (int, float)) or (kernel[2] == "ok") != (found == [True, True]) or \
                (kernel[2] == "compile_error") != (found == [False, None]):
            raise Fault(f"{answer} for {kernel[2]}")
        return "verdict", kernel[2]

    with session:
        begun = settled(lambda: ("begun", tell("reset", {"problem_id": task})["type"]))
        if begun[0] != "begun":
            return
        for kernel in turns:
            with_log(log, url, lambda: step(kernel))


def mcp(url, log):
    kernel = kernels.any_kernel()
    number = random.getrandbits(31)

    def work():
        reply = ask(url, "POST", "/mcp", {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
            "name": "evaluate_kernel", "arguments": {"task": kernel[0], "source": kernel[1]}}},
            Accept="application/json, text/event-stream")
        if reply.status != 200:
            return error_of(reply.json, reply.status)
        is_stream = "event-stream" in reply.headers["Content-Type"]
        answers = [json.loads(data) for _, data in reply.events] if is_stream else [reply.json]
        answers = [answer for answer in answers if "method" not in answer]
        if [answer["id"] for answer in answers] != [number]:
            return ("lost", "the stream has no end") if not answers else ("FAULT", f"{answers}")
        result = answers[0]["result"]
        told = result["structuredContent"]
        if not result["isError"]:
            return verdict(told["verdict"], kernel[2], told.get("reason", ""))
        no_figures(told)
        if not told["infrastructure"]:
            raise Fault(f"{told}")
        return "error", result["content"][0]["text"]
    with_log(log, url, work)


def nemo_gym(url, log):
    kernel = kernels.any_kernel()

    def work():
        text = f"<KERNEL>\n```cuda\n{kernel[1]}\n```\n</KERNEL>"
        message = {"type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text}]}
        reply = ask(url, "POST", "/verify", {"verifier_metadata": {"task": kernel[0]}, "response": {"id": "1", "output": [message]},
                                             "responses_create_params": {"input": []}})
        if reply.status == 200:
            if not isinstance(reply.json["reward"], (int, float)):
                raise Fault("no reward")
            return verdict(reply.json["verdict"], kernel[2])
        no_figures(reply.json)
        return error_of(reply.json, reply.status)
    with_log(log, url, work)


def ors(url, log):
    kernel = kernels.any_kernel()

    def work():
        session = {"X-Session-ID": f"{random.getrandbits(64):x}"}
        created = ask(url, "POST", "/create", {"env_name": "kernelrl", "task_spec": {"problem_id": kernel[0]}}, **session)
        if created.status != 200:
            return error_of(created.json, created.status)
        reply = ask(url, "POST", "/call", {"name": "submit", "input": {"code": kernel[1]}}, **session)
        if reply.status == 404:
            return "lost", "the server began anew"
        events = reply.events[1:]
        if not events:
            return "lost", "the stream has no end"
        if events[-1][0] == "error":
            return "error", events[-1][1]
        if events[-1][0] != "end":
            return "lost", "the stream has no end"
        result = json.loads("".join(data for _, data in events))
        if not isinstance(result["output"]["reward"], (int, float)):
            raise Fault("no reward")
        return verdict(result["output"]["metadata"]["verdict"], kernel[2])
    with_log(log, url, work)


def python_client(url, log):
    """The package: it asks again by itself, so that each request has a verdict."""
    import kernelrl
    kernel = kernels.any_kernel()

    def work():
        with kernelrl.Judge(url, TOKEN, patience_s=PATIENCE_S) as judge:
            try:
                return verdict(judge.evaluate(kernel[0], kernel[1]).verdict, kernel[2])
            except kernelrl.JudgeError as error:
                return "error", f"{type(error).__name__}: {error}"
    with_log(log, url, work)


# ---- those who misbehave ----------------------------------------------------------------------------------------------------


def raw(url, data, half_close=False, slow=False, leave=False):
    """The status of the answer to these bytes; 0 where the server closes without a word."""
    place = urllib.parse.urlsplit(url)
    try:
        with socket.create_connection((place.hostname, place.port), 60) as connection:
            for piece in [data[i:i + 7] for i in range(0, len(data), 7)] if slow else [data]:
                connection.sendall(piece)
                time.sleep(0.05 if slow else 0)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
            if leave:
                return 0
            line = connection.makefile("rb").readline().split()
            return int(line[1]) if line else 0
    except TimeoutError:
        raise Fault("neither an answer nor an end within 60 s") from None
    except OSError as error:
        raise Lost(repr(error)) from None


def post(body, length=None, token=TOKEN, path="/v1/evaluate", **headers):
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n{more}"
    return f"{head}Content-Length: {len(body) if length is None else length}\r\n\r\n".encode() + body


def hostile(url, log):
    kernel = json.dumps(request_of(kernels.any_kernel())).encode()
    get = f"GET /v1/evaluations/{'0' * 32} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
    ways = {
        "slow": (lambda: raw(url, post(kernel)[:400], slow=True, leave=True), {0}),
        "half-closed request": (lambda: raw(url, post(kernel)[:-20], half_close=True), {0, 400}),
        "half-closed after it": (lambda: raw(url, post(kernel), half_close=True), {0, 200, 500, 503, 504}),
        "left at once": (lambda: raw(url, post(kernel), leave=True), {0}),
        "oversized body": (lambda: raw(url, post(b"x" * 100, length=1 << 40)), {413}),
        "oversized source": (lambda: raw(url, post(json.dumps({"task": "relu", "source": "/" * (3 << 20)}).encode())), {400, 413}),
        "oversized head": (lambda: raw(url, post(kernel, X_Long="x" * (1 << 16))), {431}),
        "no HTTP": (lambda: raw(url, os.urandom(100) + b"\r\n\r\n"), {0, 400}),
        "no JSON": (lambda: raw(url, post(b'{"task": "relu", ')), {400}),
        "deep JSON": (lambda: raw(url, post(b"[" * 200000)), {400}),
        "no source": (lambda: raw(url, post(b'{"task": "relu"}')), {400}),
        "no such task": (lambda: raw(url, post(b'{"task": "reluu", "source": ""}')), {404}),
        "wrong token": (lambda: raw(url, post(kernel, token="storm")), {401}),
        "another's evaluation": (lambda: raw(url, get), {404}),
        "wrong session of MCP": (lambda: raw(url, post(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', path="/mcp", Mcp_Session_Id="no")), {404}),
        "wrong session of ORS": (lambda: raw(url, post(b'{"name": "submit", "input": {}}', path="/call", X_Session_ID="no")), {404}),
        "wrong session of OpenEnv": (lambda: raw(url, post(b'{"action": {"code": ""}, "episode_id": "no"}', path="/step")), {404, 422}),
    }
    ways |= {"without an end": (lambda: raw(url, post(kernel)[:-20]), {408})} if random.random() < 0.1 else {}
    name, (work, expected) = random.choice(list(ways.items()))

    def outcome():
        status = work()
        if status == 0 and 0 not in expected:
            raise Lost(f"{name}: closed without a word")
        if status not in expected | {503}:
            raise Fault(f"{name}: status {status}")
        return "refused", name
    with_log(log, url, outcome)
    time.sleep(0.02)


ROLES = [native, batch, events, poll, openenv, mcp, nemo_gym, ors, python_client, hostile]


def main(role, file, front, *others):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    random.seed(os.urandom(8))
    log = Log(file, role)
    work = next(each for each in ROLES if each.__name__ == role)
    while not pathlib.Path(file).with_name("over").exists():
        work(front if random.random() < 0.7 else random.choice(others), log)


if __name__ == "__main__":
    main(*sys.argv[1:])
