"""The resources server of NeMo Gym, as `kernelrl serve`."""
import json
import unittest

from judge_server import ROW_SUM, JudgeServer, choice

KERNEL = "<KERNEL>\n```cuda\n{}\n```\n</KERNEL>"


def row(task):
    return {"responses_create_params": {"input": [{"role": "user", "content": "Write a kernel."}]},
            "verifier_metadata": {"task": task}, "_ng_task_index": 3}


def message(text):
    return {"type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}


def call(code, name="evaluate_kernel"):
    return {"type": "function_call", "call_id": "1", "name": name, "arguments": json.dumps({"code": code})}


def response(*output, **more):
    return {"id": "resp_1", "object": "response", "model": "m", "output": list(output), **more}


class NeMoGym(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = JudgeServer.of_toys("backend.broken_choice=0")
        cls.addClassCleanup(cls.server.stop)

    def verify(self, *output, task="toy_1", **more):
        return self.server.post("/verify", row(task) | {"response": response(*output, **more)})

    def test_the_request_comes_back_with_a_reward(self):
        request = row("toy_1") | {"response": response(message(KERNEL.format(choice(3)))), "mine": [1, {"a": None}]}
        answer = self.server.post("/verify", request)
        self.assertEqual(answer.status, 200, answer.text)
        self.assertLessEqual(request.items(), answer.json.items())
        more = {key: value for key, value in answer.json.items() if key not in request}
        self.assertTrue(more.pop("feedback").startswith("ok"))
        self.assertEqual(more, {"reward": 2, "reward_components": {"toy.speed": 2}, "compiled": 1, "correct": 1, "speedup": 2, "verdict": "ok"})

    def test_a_wrong_kernel(self):
        answer = self.verify(message(KERNEL.format(choice(1)))).json
        self.assertEqual((answer["reward"], answer["correct"], answer["verdict"]), (0, 0, "wrong_result"))
        self.assertNotIn("speedup", answer)

    def test_the_kernel_is_in_the_last_message_or_call(self):
        right, wrong = KERNEL.format(choice(3)), KERNEL.format(choice(1))
        reward = lambda *output, **more: self.verify(*output, **more).json["reward"]
        self.assertEqual(reward(message(wrong), message(right)), 2)
        self.assertEqual(reward(message(right), message(wrong)), 0)
        self.assertEqual(reward(call(choice(1)), call(choice(3)), message("That is it.")), 2)
        self.assertEqual(reward(call(choice(3), "mcp__kernelrl__evaluate_kernel")), 2)
        self.assertEqual(reward(call(choice(3)), message(KERNEL.format(choice(2)))), 1)
        self.assertEqual(reward(message("None.")), 0)
        self.assertEqual(self.verify().json["verdict"], "format_error")

    def test_an_answer_that_was_cut(self):
        answer = self.verify(message("```cuda\n" + choice(3)), status="incomplete", incomplete_details={"reason": "max_output_tokens"})
        self.assertIn("ended before its kernel was complete", answer.json["feedback"])

    def test_an_error_is_no_reward(self):
        broken = self.verify(message(KERNEL.format(choice(0))))
        self.assertEqual((broken.status, "reward" in broken.json), (503, False))
        self.assertIn("Retry-After", broken.headers)
        self.assertEqual(self.verify(message(""), task="nothing").status, 404)
        for wrong in ({}, {"response": {}}, row("toy_1"), row("toy_1") | {"response": {"output": "text"}}):
            answer = self.server.post("/verify", wrong)
            self.assertEqual((answer.status, "reward" in answer.json), (400, False), wrong)

    def test_a_tool_by_cookie(self):
        seeded = self.server.post("/seed_session", row("toy_1"))
        self.assertEqual(seeded.json, {})
        cookie = {"Cookie": "other=1; " + seeded.headers["Set-Cookie"].split(";")[0]}
        told = self.server.post("/evaluate_kernel", {"code": choice(3)}, cookie)
        self.assertEqual((told.status, told.json["calls_left"]), (200, 3))
        self.assertIn("ok", told.json["headline"])
        self.assertEqual(self.server.post("/evaluate_kernel", {"code": choice(0)}, cookie).status, 503)
        self.assertEqual(self.server.post("/evaluate_kernel", {}, cookie).status, 400)
        self.assertEqual(self.server.post("/evaluate_kernel", {"code": choice(3)}).status, 404)
        self.assertEqual(self.server.post("/seed_session", row("nothing")).status, 404)

    def test_metrics(self):
        rows = [{"_ng_task_index": i // 2, "_ng_rollout_index": i % 2, "reward": reward, "correct": reward > 0}
                for i, reward in enumerate([0, 2, 1, 1])]
        metrics = self.server.post("/aggregate_metrics", {"verify_responses": rows}).json
        self.assertEqual([group["mean/reward"] for group in metrics["group_level_metrics"]], [1, 1])
        self.assertEqual(metrics["agent_metrics"]["max/reward"], 2)
        self.assertEqual(metrics["agent_metrics"]["median/reward"], 1)
        self.assertAlmostEqual(metrics["agent_metrics"]["std/reward"], (2 / 3) ** 0.5)
        self.assertEqual(metrics["key_metrics"], {"mean/reward": 1, "mean/correct": 0.75})
        self.assertEqual(self.server.get("/reverify_mode").json, "stateless")
        self.assertEqual(self.server.post("/aggregate_metrics", {}).status, 400)

    def test_a_kernel(self):
        with JudgeServer.of_cpu() as server:
            answer = server.post("/verify", row("row_sum") | {"response": response(message(KERNEL.format(ROW_SUM)))}).json
            self.assertEqual(answer["correct"], 1, answer)
            self.assertGreater(answer["reward"], 0)


if __name__ == "__main__":
    unittest.main()
