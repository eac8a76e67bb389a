"""The Open Reward Standard against `kernelrl serve`."""
import json
import unittest

from judge_server import ROW_SUM, JudgeServer, choice


class Ors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = JudgeServer.of_toys("backend.broken_choice=0")
        cls.addClassCleanup(cls.server.stop)

    def begin(self, server=None, **task):
        """The header of a new session with this task."""
        server = server or self.server
        (kind, sid), end = server.post("/create_session").events
        self.assertEqual((kind, end), ("task_id", ("end", "")))
        session = {"X-Session-ID": sid}
        created = server.post("/create", {"env_name": "kernelrl", "task_spec": task}, session)
        self.assertEqual((created.status, created.json), (200, {"sid": sid}))
        return session

    def call(self, session, code, path="/call", server=None, name="submit"):
        """The result of a call, put together from its chunks, and its id."""
        events = (server or self.server).post(path, {"name": name, "input": {"code": code}}, session).events
        self.assertEqual((events[0][0], events[-1][0]), ("task_id", "end"), events)
        return json.loads("".join(data for _, data in events[1:])), events[0][1]

    def test_a_session(self):
        session = self.begin(problem_id="toy_1", title="p")
        self.assertEqual(self.server.post("/ping", None, session).json, {"status": "ok"})
        prompt, = self.server.get("/prompt", **session).json
        self.assertEqual((prompt["type"], prompt["detail"]), ("text", None))
        outputs = [self.call(session, choice(number), path)[0]["output"]
                   for number, path in ((1, "/call"), (2, "/kernelrl/call"), (3, "/call"), (2, "/call"))]
        self.assertEqual([output["reward"] for output in outputs], [0, 1, 1, 0])  # the sum is the best score
        self.assertEqual([output["finished"] for output in outputs], [False, False, False, True])
        self.assertEqual(outputs[2]["metadata"], {"verdict": "ok", "correct": True, "score": 2})
        self.assertIn("y[0] is 1", outputs[0]["blocks"][0]["text"])
        self.assertIn("y[0] is 1", self.server.get("/kernelrl/messages", **session).json[-1]["blocks"][0]["text"])
        self.assertEqual(self.call(session, choice(3))[0]["reason"], "episode_finished")
        self.assertEqual(self.server.post("/delete", None, session).status, 200)
        self.assertEqual(self.server.post("/ping", None, session).status, 404)
        self.assertEqual(self.server.post("/delete_session", None, session).status, 200)

    def test_scores_by_choice(self):
        session = self.begin(problem_id="toy_1", reward="score")
        self.assertEqual([self.call(session, choice(number))[0]["output"]["reward"] for number in (3, 2)], [2, 1])

    def test_a_task_by_its_index(self):
        session = {"X-Session-ID": "mine"}
        self.assertEqual(self.server.post("/create", {"split": "train", "index": 3}, session).status, 200)
        self.assertEqual(self.server.post("/create", {"split": "train", "index": 3}, session).status, 400)
        self.assertEqual(self.server.post("/create", {"split": "train", "index": 4}, {"X-Session-ID": "other"}).status, 400)
        self.assertEqual(self.server.post("/create", {"split": "train", "index": 4}).status, 400)

    def test_tools(self):
        for path in ("/tools", "/kernelrl/tools"):
            tool, = self.server.get(path).json["tools"]
            self.assertEqual((tool["name"], tool["input_schema"]["required"]), ("submit", ["code"]))
        self.assertEqual(self.server.get("/task_tools", **self.begin()).json, self.server.get("/tools").json)
        self.assertEqual(self.server.get("/task_tools").status, 400)
        self.assertIn("version", self.server.get("/version").json)

    def test_wrong_calls(self):
        session = self.begin()
        self.assertEqual(self.call(session, choice(3), name="run")[0]["reason"], "not_found")
        self.assertEqual(self.call(session, 3)[0], {"ok": False, "error": 'submit takes {"code": "…"}', "reason": "input_validation"})
        self.assertEqual(self.server.post("/call", {"name": "submit", "input": {}}, {"X-Session-ID": "no"}).status, 404)
        self.assertEqual(self.call(session, choice(3))[0]["output"]["reward"], 2)  # no turn was used up

    def test_an_error_is_no_reward(self):
        session = self.begin()
        kind, text = self.server.post("/call", {"name": "submit", "input": {"code": choice(0)}}, session).events[1]
        self.assertEqual(kind, "error")
        self.assertIn("the toy is broken", text)
        self.assertEqual(self.call(session, choice(3))[0]["output"]["reward"], 2)

    def test_a_result_is_there_for_who_lost_the_connection(self):
        session = self.begin()
        first, number = self.call(session, choice(3))
        again = self.server.post("/call", {"name": "submit", "input": {"code": choice(3)}, "task_id": number}, session).events
        self.assertEqual(json.loads("".join(data for _, data in again[1:])), first)
        unknown = self.server.post("/call", {"name": "submit", "input": {}, "task_id": "none"}, session).events
        self.assertEqual(unknown, [("error", "unknown task_id")])

    def test_a_kernel(self):
        with JudgeServer.of_cpu() as server:
            session = self.begin(server, problem_id="row_sum")
            output = self.call(session, ROW_SUM, server=server)[0]["output"]
            self.assertTrue(output["metadata"]["correct"], output)
            self.assertGreater(output["reward"], 0)
            wrong = self.call(session, "#error " + "long " * 3000, server=server)[0]["output"]
            self.assertEqual(wrong["metadata"]["verdict"], "compile_error")


if __name__ == "__main__":
    unittest.main()
