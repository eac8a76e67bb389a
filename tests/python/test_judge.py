"""Judge and AsyncJudge against a server that misbehaves on demand."""

import asyncio
import json
import logging
import math
import os
import pickle
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from fake_server import Call, FakeServer, evaluation
from kernelrl import (
    AsyncJudge,
    DeadlinePassed,
    Evaluation,
    InfrastructureError,
    Judge,
    JudgeError,
    Refused,
    Unauthorized,
    Unavailable,
)


def setUpModule():
    logging.getLogger("kernelrl").setLevel(logging.ERROR)


def refuse(status, code, **headers):
    def script(call):
        call.json({"error": {"code": code, "message": "so it is"}}, status, **headers)

    return script


def fail(**error):
    def script(call):
        call.begin_events()
        call.event("error", index=0, error=error)
        call.event("end")
        call.chunk(b"")

    return script


def break_off(call):
    call.begin_events()
    call.event("queued", index=0, position=0)
    call.hang_up()


class Requests(unittest.TestCase):
    def test_request_and_answer(self):
        with FakeServer() as server, Judge(server.url + "/", token="sesame") as judge:
            result = judge.evaluate("t", "source", contract="host", stages=("compile",), seed=3)
            call = server.calls[0]
            self.assertEqual(call.path, "/v1/evaluate")
            self.assertEqual(call.headers["Authorization"], "Bearer sesame")
            self.assertEqual(
                call.body, {"task": "t", "source": "source", "contract": "host", "stages": ["compile"], "seed": 3}
            )
            self.assertTrue(result.ok)
            self.assertEqual((result.id, result.task, result.feedback, result.kept), ("e1", "t", "well done", False))
            self.assertEqual(result.extra, {})

    def test_large_answers_in_any_pieces(self):
        log = "x" * 300_000 + "é\n"

        def script(call):
            text = f"event:result\r\ndata:{json.dumps(evaluation(compile_log=log))}\r\n\r\n".encode()
            call.begin_events()
            call.chunk(b": a comment\n\n")
            for begin in range(0, len(text), 7001):
                call.chunk(text[begin : begin + 7001])
            call.chunk(b"")

        with FakeServer(script) as server, Judge(server.url) as judge:
            self.assertEqual(judge.evaluate("t", "s").compile_log, log)

    def test_connections_are_kept(self):
        with FakeServer() as server, Judge(server.url) as judge:
            for _ in range(5):
                judge.evaluate("t", "s")
            self.assertEqual(server.connections, 1)

    def test_many_in_order_with_bounded_connections(self):
        def slowest_first(call):
            time.sleep(0.05 if call.body["source"] == "0" else 0)
            call.verdict()

        with FakeServer(default=slowest_first) as server, Judge(server.url, connections=4) as judge:
            sources = [str(i) for i in range(40)]
            results = judge.evaluate_many([("t", source) for source in sources])
            self.assertEqual([result.compile_log for result in results], sources)
            self.assertLessEqual(server.connections, 4)

    def test_stream(self):
        with FakeServer(Call.verdict, fail(code="not_found", message="no such task")) as server:
            with Judge(server.url, connections=1) as judge:
                events = list(judge.stream([("t", "a"), ("u", "b")]))
        self.assertEqual(
            [(e.kind, e.index, e.position) for e in events],
            [("queued", 0, 2), ("started", 0, None), ("result", 0, None), ("error", 1, None)],
        )
        self.assertEqual(events[2].evaluation.compile_log, "a")
        self.assertIsInstance(events[3].error, Refused)

    def test_other_routes(self):
        answers = {
            "/v1/tasks": {"tasks": [{"id": "a/b", "title": "A", "tier": 1}]},
            "/v1/tasks/a%2Fb": {"id": "a/b", "prompt": "write", "naive": "n", "later": [1]},
            "/v1/best?task=a%2Fb": {"best": [evaluation() | {"task": "a/b", "source": "s"}]},
            "/v1/info": {"version": "0.1.0", "identity": "i", "concurrency": 2, "waiting": 0, "later": 1},
            "/healthz": {"status": "ok"},
        }

        def script(call):
            call.json(call.body if call.command == "POST" else answers[call.path])

        with FakeServer(default=script) as server, Judge(server.url) as judge:
            self.assertEqual([(t.id, t.tier, t.prompt) for t in judge.tasks()], [("a/b", 1, None)])
            self.assertEqual(judge.task("a/b").extra, {"later": [1]})
            self.assertEqual([(b.source, b.evaluation.verdict) for b in judge.best("a/b")], [("s", "ok")])
            self.assertEqual((judge.info().concurrency, judge.info().extra), (2, {"later": 1}))
            self.assertEqual(judge.add_task({"id": "own"}).id, "own")
            self.assertTrue(judge.healthy())

    def test_the_server_of_the_environment(self):
        with FakeServer() as server:
            with mock.patch.dict(os.environ, {"KERNELRL_URL": server.url, "KERNELRL_TOKEN": "sesame"}):
                with Judge() as judge, Judge(server.url) as named:
                    judge.evaluate("t", "s")
                    named.evaluate("t", "s")
            self.assertEqual([call.headers["Authorization"] for call in server.calls], ["Bearer sesame", None])
        with mock.patch.dict(os.environ, clear=True), self.assertRaisesRegex(ValueError, "set KERNELRL_URL"):
            Judge()

    def test_addresses(self):
        for wrong in ("127.0.0.1:8000", "ftp://host", "http://"):
            with self.assertRaisesRegex(ValueError, "not the address of a server"):
                Judge(wrong)


class Trouble(unittest.TestCase):
    def test_a_full_server_is_asked_again(self):
        for busy in (
            refuse(429, "resource_exhausted", Retry_After=0),
            refuse(503, "unavailable"),
            fail(code="resource_exhausted", message="wait", retry_after_s=0.01),
            fail(code="unavailable", message="wait"),
        ):
            with FakeServer(busy, busy) as server, Judge(server.url) as judge:
                self.assertTrue(judge.evaluate("t", "s").ok)
                self.assertEqual(len(server.calls), 3)

    def test_retry_after_is_respected(self):
        with FakeServer(refuse(503, "unavailable", Retry_After=1)) as server, Judge(server.url) as judge:
            begin = time.monotonic()
            judge.evaluate("t", "s")
            self.assertGreaterEqual(time.monotonic() - begin, 1)

    def test_broken_connections_are_made_again(self):
        def garbage(call):
            call.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
            call.hang_up()

        for broken in (Call.hang_up, break_off, garbage):
            with FakeServer(broken, broken) as server, Judge(server.url) as judge:
                self.assertTrue(judge.evaluate("t", "s").ok)
                self.assertEqual(len(server.calls), 3)

    def test_a_kept_connection_that_the_server_closed(self):
        def and_close(call):
            call.verdict()
            call.hang_up()

        with FakeServer(and_close) as server, Judge(server.url) as judge:
            judge.evaluate("t", "s")
            self.assertTrue(judge.evaluate("t", "s").ok)

    def test_one_warning_for_all_calls(self):
        log = logging.getLogger("kernelrl")
        with FakeServer(default=Call.hang_up) as server, Judge(server.url, patience_s=0.1) as judge:
            with mock.patch.object(log, "level", logging.WARNING), self.assertLogs(log, "WARNING") as logged:
                list(judge.stream([("t", "s")] * 5))
            self.assertEqual(len(logged.output), 1)
            self.assertIn("closed the connection", logged.output[0])

    def test_patience_ends(self):
        with FakeServer(default=Call.hang_up) as server, Judge(server.url, patience_s=0.3) as judge:
            with self.assertRaises(Unavailable):
                judge.evaluate("t", "s")
            self.assertGreater(len(server.calls), 1)
            self.assertFalse(judge.healthy())
        with self.assertRaisesRegex(Unavailable, "no connection"):
            Judge(server.url, patience_s=0).evaluate("t", "s")

    def test_errors_that_asking_again_would_not_change(self):
        for script, kind in (
            (refuse(400, "invalid_argument"), Refused),
            (refuse(401, "unauthenticated"), Unauthorized),
            (refuse(422, "failed_precondition"), Refused),
            (refuse(500, "internal"), InfrastructureError),
            (refuse(504, "deadline_exceeded"), DeadlinePassed),
            (fail(code="internal", message="the machine died"), InfrastructureError),
            (lambda call: call.verdict(verdict="infra_error"), InfrastructureError),
        ):
            with FakeServer(script) as server, Judge(server.url) as judge:
                with self.assertRaises(kind) as raised:
                    judge.evaluate("t", "s")
                self.assertIs(type(raised.exception), kind)
                self.assertEqual(len(server.calls), 1)

    def test_a_proxy_that_answers_in_html(self):
        def script(call):
            call.send_response(404)
            call.send_header("Content-Length", "6")
            call.end_headers()
            call.wfile.write(b"<html>")

        with FakeServer(script) as server, Judge(server.url) as judge:
            with self.assertRaisesRegex(Refused, "HTTP status 404"):
                judge.info()

    def test_deadline(self):
        held = threading.Event()
        with FakeServer(default=lambda call: held.wait()) as server, Judge(server.url) as judge:
            with self.assertRaises(DeadlinePassed):
                judge.evaluate("t", "s", deadline_s=0.2)
            self.assertEqual(server.calls[0].body["deadline_s"], 1)  # in whole seconds
            with self.assertRaises(DeadlinePassed):
                judge.evaluate_many([("t", "s")] * 3, deadline_s=0.2)
            held.set()

    def test_deadlines_at_any_step(self):
        held = threading.Event()
        with FakeServer(default=lambda call: held.wait()) as server, Judge(server.url) as judge:
            for i in range(200):  # while it connects, sends, or waits
                with self.assertRaises(DeadlinePassed):
                    judge.evaluate("t", "s", deadline_s=i * 2e-5)
            held.set()

    def test_the_first_error_ends_many_requests(self):
        held = threading.Event()

        def script(call):
            if call.body["source"] == "bad":
                refuse(422, "failed_precondition")(call)
            else:
                held.wait()

        with FakeServer(default=script) as server, Judge(server.url) as judge:
            with self.assertRaises(Refused):
                judge.evaluate_many([("t", "good"), ("t", "bad"), ("t", "good")])
            held.set()

    def test_leaving_closes_the_connection(self):
        gone = threading.Event()

        def script(call):
            call.begin_events()
            call.event("queued", index=0, position=0)
            if not call.rfile.read(1):  # until the client leaves
                gone.set()
            call.hang_up()

        with FakeServer(default=script) as server, Judge(server.url) as judge:
            for event in judge.stream([("t", "s")]):
                self.assertEqual(event.kind, "queued")
                break
            self.assertTrue(gone.wait(10))


class Programs(unittest.TestCase):
    def test_threads(self):
        with FakeServer() as server, Judge(server.url) as judge, ThreadPoolExecutor(8) as pool:
            logs = pool.map(lambda i: judge.evaluate("t", str(i)).compile_log, range(50))
            self.assertEqual(list(logs), [str(i) for i in range(50)])

    def test_pickled_and_forked(self):
        with FakeServer() as server, Judge(server.url, token="sesame") as judge:
            judge.evaluate("t", "s")
            self.assertTrue(pickle.loads(pickle.dumps(judge)).evaluate("t", "s").ok)
            child = os.fork()
            if child == 0:
                os._exit(0 if judge.evaluate("t", "s").ok else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertTrue(judge.evaluate("t", "s").ok)

    def test_asyncio(self):
        async def use(judge):
            async with judge:
                return await ask(judge)

        async def ask(judge):
            one, many = await asyncio.gather(judge.evaluate("t", "a"), judge.evaluate_many([("t", "b"), ("t", "c")]))
            events = [event.kind async for event in judge.stream([("t", "d")])]
            return [e.compile_log for e in (one, *many)], events, await judge.healthy()

        with FakeServer(default=lambda call: call.json({}) if call.command == "GET" else call.verdict()) as server:
            judge = AsyncJudge(server.url)
            with ThreadPoolExecutor(2) as pool:  # each call in an event loop of its own, some at the same time
                for result in pool.map(lambda _: asyncio.run(use(judge)), range(6)):
                    self.assertEqual(result, (["a", "b", "c"], ["queued", "started", "result"], True))

    def test_cancelled_tasks_leave(self):
        gone = threading.Event()

        def script(call):
            if not call.rfile.read(1):
                gone.set()
            call.hang_up()

        async def impatient(url):
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(AsyncJudge(url).evaluate("t", "s"), 0.2)
            await asyncio.get_running_loop().run_in_executor(None, gone.wait, 10)

        with FakeServer(default=script) as server:
            asyncio.run(impatient(server.url))
            self.assertTrue(gone.is_set())


class Evaluations(unittest.TestCase):
    def test_figures(self):
        def case(kind, verdict="ok", **figures):
            return {"kind": kind, "verdict": verdict, **figures}

        answer = evaluation(
            cases=[
                case("shown", speedup_low=2.0, max_rel_error="inf"),
                case("shown", speedup_low=8.0),
                case("shown", speedup_low=None),
                case("holdout", "wrong_result", speedup_low=0.1),
                case("fresh", "wrong_result", news=1),
            ],
            kernels=[{"name": "k", "registers": 40, "max_threads": -1, "occupancy": None}],
            values=[{"case": c, "name": "dram_bytes", "unit": "B", "value": v} for c, v in ((0, 1.0), (1, 3.0))],
            diagnostics=[{"severity": 1, "line": 7, "text": "unused"}],
        )
        with FakeServer(lambda call: call.verdict(**answer["evaluation"])) as server, Judge(server.url) as judge:
            result = judge.evaluate("t", "s")
        self.assertAlmostEqual(result.speedup, 4)
        self.assertEqual(result.pass_rate, 0.75)
        self.assertEqual((result.value("dram_bytes"), result.value("other")), (2, None))
        self.assertEqual(result.cases[0].max_rel_error, math.inf)
        self.assertEqual(result.cases[4].extra, {"news": 1})
        self.assertEqual((result.kernels[0].registers, result.kernels[0].max_threads), (40, None))
        self.assertEqual(result.values[0].case, 0)
        self.assertEqual(result.diagnostics[0].line, 7)

    def test_not_timed(self):
        self.assertIsNone(Evaluation.from_json({"verdict": "ok"}).speedup)
        for low, speedup in ((0.0, 0), ("inf", None), (None, None)):
            case = {"kind": "shown", "verdict": "ok", "speedup_low": low}
            self.assertEqual(Evaluation.from_json({"verdict": "ok", "cases": [case]}).speedup, speedup)

    def test_errors_are_no_scores(self):
        self.assertTrue(issubclass(Unavailable, JudgeError))
        with self.assertRaises(TypeError):
            float(JudgeError("no verdict"))


if __name__ == "__main__":
    unittest.main()
