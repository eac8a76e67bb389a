"""OpenEnv's protocol against `kernelrl serve`."""
import json
import pathlib
import tempfile
import time
import unittest

from judge_server import HERE, ROW_SUM, JudgeServer, choice
from web_socket import WebSocket


class Session(WebSocket):
    def ask(self, kind, data=None):
        self.send(json.dumps({"type": kind} if data is None else {"type": kind, "data": data}))
        return json.loads(self.receive())

    def reset(self, **parameters):
        return self.ask("reset", parameters)["data"]

    def step(self, code):
        return self.ask("step", {"code": code})["data"]


class OpenEnv(unittest.TestCase):
    def session(self, server):
        session = Session(server.host, server.port, "/ws")
        self.addCleanup(session.close)
        return session

    def server(self, *changes):
        server = JudgeServer.of_toys(*changes)
        self.addCleanup(server.stop)
        return server

    def test_an_episode(self):
        session = self.session(self.server())
        first = session.reset(problem_id="toy_1")
        observation = first["observation"]
        self.assertEqual((first["reward"], first["done"]), (None, False))
        self.assertEqual((observation["problem_id"], observation["turn"], observation["max_turns"]), ("toy_1", 0, 4))
        self.assertIsNone(observation["feedback"])
        turns = [session.step(choice(number)) for number in (0, 1, 2, 3)]
        self.assertEqual([turn["reward"] for turn in turns], [0, 0, 1, 1])  # the sum is the best score
        self.assertEqual([turn["done"] for turn in turns], [False, False, False, True])
        told = [{key: turn["observation"][key] for key in ("compilation_success", "correctness_pass", "speedup")} for turn in turns]
        self.assertEqual([list(each.values()) for each in told],
                         [[False, None, None], [True, False, None], [True, True, 1], [True, True, 2]])
        self.assertIn("does not compile", turns[0]["observation"]["compilation_error"])
        self.assertIn("y[0] is 1", turns[1]["observation"]["feedback"])
        self.assertIn("y[0] is 1", turns[1]["observation"]["problem_description"])  # the next prompt
        state = session.ask("state")
        self.assertEqual((state["type"], state["data"]["step_count"]), ("state", 4))
        over = session.ask("step", {"code": choice(3)})
        self.assertEqual(over["data"], {"message": "the episode is over; begin another", "code": "EXECUTION_ERROR"})
        self.assertEqual(session.reset(seed=6)["observation"]["problem_id"], "toy_2")

    def test_scores_and_turns_by_choice(self):
        session = self.session(self.server())
        session.reset(problem_id="toy_1", reward="score", max_turns=2)
        self.assertEqual(session.step(choice(3))["reward"], 2)
        last = session.step(choice(2))
        self.assertEqual((last["reward"], last["done"]), (1, True))

    def test_an_answer_as_a_model_writes_it(self):
        session = self.session(self.server())
        session.reset()
        self.assertEqual(session.step(f"<KERNEL>\n```cuda\n{choice(3)}\n```\n</KERNEL>")["reward"], 2)
        none = session.step("```\nI do not know.\n```")
        self.assertIn("the answer holds no kernel", none["observation"]["feedback"])

    def test_errors_have_codes(self):
        session = self.session(self.server("backend.broken_choice=3"))

        def code_of(text):
            session.send(text)
            answer = json.loads(session.receive())
            self.assertEqual(answer["type"], "error")
            return answer["data"]["code"]

        step = json.dumps({"type": "step", "data": {"code": choice(3)}})
        self.assertEqual(code_of("{"), "INVALID_JSON")
        self.assertEqual(code_of("[]"), "UNKNOWN_TYPE")
        self.assertEqual(code_of('{"type": "dance"}'), "UNKNOWN_TYPE")
        self.assertEqual(code_of(step), "EXECUTION_ERROR")  # no episode
        for wrong in ({"problem_id": "nothing"}, {"problem_id": 3}, {"problem_id": {}}, {"reward": "money"}, {"max_turns": 0}, {"split": "test", "index": 0}, []):
            self.assertEqual(code_of(json.dumps({"type": "reset", "data": wrong})), "VALIDATION_ERROR", wrong)
        session.reset()
        for wrong in ({}, {"code": 3}, {"code": "", "language": "cuda"}, "code"):
            self.assertEqual(code_of(json.dumps({"type": "step", "data": wrong})), "VALIDATION_ERROR", wrong)
        self.assertEqual(code_of(step), "EXECUTION_ERROR")  # the judge is broken
        self.assertEqual(session.ask("state")["data"]["step_count"], 0)  # no turn is used up
        self.assertEqual(session.step(choice(2))["reward"], 1)
        session.send('{"type": "close"}')
        self.assertIsNone(session.receive())

    def test_a_full_server_says_so_at_once(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        seen = pathlib.Path(folder.name) / "seen"
        server = JudgeServer("--plan", HERE / "toy_judge.toml", "--set", "backend.held=true",
                             "--set", f"backend.seen={seen}", "--max-waiting", 1)
        self.addCleanup(server.stop)
        self.addCleanup(server.process.kill)

        def begin_step(number):
            session = self.session(server)
            session.reset()
            session.send(json.dumps({"type": "step", "data": {"code": choice(2) + str(number)}}))

        for number in (1, 2):  # these are judged, and the next one waits
            begin_step(number)
            while f"{number} at a time" not in seen.read_text():
                pass
        begin_step(3)
        while server.get("/v1/info").json["waiting"] == 0:
            pass
        full = self.session(server).ask("reset")
        self.assertEqual(full["data"]["code"], "CAPACITY_REACHED")
        self.assertEqual(server.post("/reset").status, 503)
        self.assertIn("Retry-After", server.post("/reset").headers)

    def test_requests(self):
        server = self.server()
        first = server.post("/reset", {"problem_id": "toy_0", "episode_id": "mine"})
        self.assertEqual(first.json["observation"]["turn"], 0)
        step = server.post("/step", {"action": {"code": choice(3)}, "episode_id": "mine", "timeout_s": 30})
        self.assertEqual((step.status, step.json["reward"]), (200, 2))
        self.assertEqual(server.get("/state?episode_id=mine").json["step_count"], 1)
        self.assertEqual(server.get("/state").json, {"episode_id": None, "step_count": 0})
        self.assertEqual(server.post("/step", {"action": {"text": ""}, "episode_id": "mine"}).status, 422)
        self.assertEqual(server.post("/step", {"action": {"code": ""}}).status, 422)
        self.assertEqual(server.get("/ws").status, 426)

    def test_messages_count_towards_the_rate(self):
        server = JudgeServer("--plan", HERE / "toy_judge.toml", "--rate", 0.3)  # 3 at once
        self.addCleanup(server.stop)
        session = self.session(server)  # the first
        answers = [session.ask("state") for _ in range(3)]
        self.assertEqual([answer["type"] for answer in answers], ["state", "state", "error"])
        self.assertEqual(answers[2]["data"], {"message": "you ask more often than you may", "code": "CAPACITY_REACHED"})

    def test_messages_of_mcp(self):
        session = self.session(self.server())
        initialized = session.ask("mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
        self.assertEqual((initialized["type"], initialized["data"]["result"]["serverInfo"]["name"]), ("mcp", "kernelrl"))
        session.send(json.dumps({"type": "mcp", "data": {"jsonrpc": "2.0", "method": "notifications/initialized"}}))
        params = {"name": "evaluate_kernel", "arguments": {"task": "toy_1", "source": choice(3)}, "_meta": {"progressToken": 1}}
        judged = session.ask("mcp", {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params})["data"]
        self.assertEqual((judged["id"], judged["result"]["structuredContent"]["speedup"]), ("a", 2))
        self.assertIn("error", session.ask("mcp", {"jsonrpc": "2.0", "id": 2, "method": "dance"})["data"])

    def test_a_step_waits_as_long_as_its_client(self):
        server = self.server("backend.held=true")
        server.post("/reset", {"episode_id": "mine"})
        step = lambda seconds: server.post("/step", {"action": {"code": choice(3)}, "episode_id": "mine", "timeout_s": seconds})
        self.assertEqual(step(0.5).status, 504)
        self.assertEqual([step(wrong).status for wrong in (0, -1, "long")], [422] * 3)

    def test_idle_sessions_do_not_delay_the_end(self):
        server = JudgeServer.of_toys()
        idle, used = self.session(server), self.session(server)
        used.reset()
        begin = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - begin, 4)  # the server's patience is 5 s
        self.assertEqual((idle.receive(), used.receive()), (None, None))

    def test_what_it_says_of_itself(self):
        server = self.server()
        self.assertEqual(server.get("/health").json, {"status": "healthy"})
        self.assertEqual(server.get("/metadata").json["name"], "kernelrl")
        schema = server.get("/schema").json
        self.assertEqual(schema["action"]["required"], ["code"])
        observation = server.post("/reset").json["observation"]
        self.assertLessEqual(set(observation), set(schema["observation"]["properties"]))
        paths = server.get("/openapi.json").json["paths"]
        self.assertLessEqual({"/ws", "/reset", "/step", "/state", "/health"}, set(paths))

    def test_tasks(self):
        server = self.server()
        self.assertEqual(server.get("/list_environments").json, ["kernelrl"])
        self.assertEqual(server.get("/kernelrl/splits").json, [{"name": "train", "type": "train"}])
        for prefix in ("", "/kernelrl"):
            ask = lambda path, **body: server.post(prefix + path, {"split": "train", **body}).json
            self.assertEqual(ask("/num_tasks"), {"num_tasks": 4})
            self.assertEqual([task["problem_id"] for task in ask("/tasks")["tasks"]], ["toy_0", "toy_1", "toy_2", "toy_3"])
            self.assertEqual(ask("/task", index=2)["task"]["problem_id"], "toy_2")
            self.assertEqual(len(ask("/task_range", start=1, stop=3)["tasks"]), 2)
            self.assertEqual(ask("/task_range", start=-1)["tasks"], ask("/tasks")["tasks"][3:])
        self.assertEqual(server.post("/task", {"split": "train", "index": 9}).status, 400)
        self.assertEqual(server.post("/tasks", {"split": "test"}).status, 400)

    def test_a_kernel(self):
        with JudgeServer.of_cpu() as server, Session(server.host, server.port, "/ws") as session:
            first = session.reset(problem_id="row_sum")["observation"]
            self.assertIn("__global__", first["reference_code"])
            turn = session.step(ROW_SUM)
            self.assertTrue(turn["observation"]["correctness_pass"], turn)
            self.assertGreater(turn["observation"]["speedup"], 1)
            self.assertGreater(turn["reward"], 0)
            wrong = session.step(ROW_SUM.replace("+=", "-="))
            self.assertEqual((wrong["observation"]["correctness_pass"], wrong["reward"]), (False, 0))
            text = json.dumps([first, turn, wrong])
            self.assertNotIn("holdout", text)


if __name__ == "__main__":
    unittest.main()
