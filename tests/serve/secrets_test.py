"""No answer of any protocol tells what is kept: hold-outs, the pool's shapes, expected values there, seeds.

The task's shapes and values are numbers that occur nowhere else; kernels are wrong just where a client cannot look.
"""
import json
import pathlib
import re
import tempfile
import unittest

from judge_server import JudgeServer
from kept_secret import SEED
from openenv_test import Session

TASK = """
id        = "shifted"
prompt    = "y = x + shift"
axes      = { n = "var" }
reference = "def run(x, shift: int):\\n    return x + shift\\n"
cases     = [{ n = 64 }, { n = 1009 }]
holdout   = [{ n = 7919 }]
ranges    = { n = [1, 10000] }

[[input]]
name   = "x"
dtype  = "int32"
shape  = ["n"]
bounds = ["0", "2"]

[[scalar]]
name  = "shift"
dtype = "int32"
value = "3 * n"

[[output]]
name  = "y"
dtype = "int32"
shape = ["n"]
"""
KERNEL = """// @launch shifted<<<ceil_div(n, 256), 256>>>(x, y, shift, n)
__global__ void shifted(const int* x, int* y, int shift, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i] + shift;
  WRONG
}
"""
AT_HOLDOUT, ELSEWHERE = "n == 7919", "n != 64 && n != 1009"
KERNELS = {name: KERNEL.replace("WRONG", wrong) for name, wrong in (
    ("right", ""), ("wrong at the hold-out", f"if ({AT_HOLDOUT}) y[i] = 0;"), ("strays at the hold-out", f"if ({AT_HOLDOUT}) y[n + i] = 0;"),
    ("hangs at the hold-out", f"if ({AT_HOLDOUT} && i == 0) __trap();"), ("races at the hold-out", f"if ({AT_HOLDOUT}) y[0] = i;"),
    ("wrong elsewhere", f"if ({ELSEWHERE}) y[i] = 0;"), ("strays elsewhere", f"if ({ELSEWHERE}) y[n + i] = 0;"))}
HIDDEN = re.compile(rf"\b(7919|2375[78]|31676|{SEED}|987650123)\b")  # also bytes of a tensor, and the request's seed
STAGES = ["compile", "check", "time", "counters", "holdout", "pool"]


class Secrets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        (pathlib.Path(folder.name) / "shifted.toml").write_text(TASK)
        cls.server = JudgeServer("--tasks", folder.name)
        cls.addClassCleanup(cls.server.stop)

    def check(self, text, kernel=""):
        """That the text shows at most one shape that is not shown in prompts: the first that failed."""
        told = text.replace(json.dumps(kernel)[1:-1], "")
        self.assertIsNone(HIDDEN.search(told), told)
        self.assertNotIn('"seed"', told)
        shapes = {int(size) for size in re.findall(r"\bn=(\d+)", told)} - {64, 1009}
        self.assertLessEqual(len(shapes), 1, told)
        return text

    def judge(self, name, **more):
        return {"task": "shifted", "source": KERNELS[name], "seed": 987650123, "stages": STAGES, **more}

    def test_what_is_known_without_a_kernel(self):
        for path in ("/v1/tasks", "/v1/tasks/shifted", "/v1/best", "/v1/info", "/metrics", "/healthz", "/metadata", "/kernelrl/splits", "/prompt"):
            self.check(self.server.get(path).text)
        for path in ("/tasks", "/task"):
            self.check(self.server.post(path, {"split": "train", "index": 0}).text)

    def test_verdicts(self):
        expected = {"right": "ok", "wrong at the hold-out": "wrong_result", "wrong elsewhere": "wrong_result",
                    "strays at the hold-out": "runtime_fault", "strays elsewhere": "runtime_fault"}
        for name, source in KERNELS.items():
            text = self.check(self.server.post("/v1/evaluate", self.judge(name)).text, source)
            told = json.loads(text)["evaluation"]
            self.assertEqual(told["verdict"], expected.get(name, told["verdict"]), text)
            self.assertEqual([case["label"] for case in told["cases"] if case["kind"] == "holdout"], [""])
            self.assertGreater(len(told["cases"]), 20)  # the pool's
            self.check(self.server.post("/v1/evaluate?wait=60", self.judge(name, stages=["check", "holdout"])).text, source)
        answer = self.server.post("/v1/evaluate", {"requests": [self.judge(name) for name in KERNELS]}, {"Accept": "text/event-stream"})
        for _, data in answer.events:
            self.check(data)

    def test_dialects(self):
        for name, source in KERNELS.items():
            with Session(self.server.host, self.server.port, "/ws") as session:
                session.reset(problem_id="shifted")
                self.check(json.dumps(session.step(source)), source)
            for tool in ("evaluate_kernel", "profile_kernel"):
                self.check(self.tool(tool, {"task": "shifted", "source": source}), source)
            row = {"verifier_metadata": {"task": "shifted"}, "responses_create_params": {"input": []}, "response": {"id": "1", "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"```cuda\n{source}\n```"}]}]}}
            answer = self.server.post("/verify", row)
            self.assertEqual(answer.status, 200, answer.text)
            self.check(json.dumps({key: value for key, value in answer.json.items() if key not in row}))
            session = {"X-Session-ID": name}
            self.server.post("/create", {"env_name": "kernelrl", "task_spec": {"problem_id": "shifted"}}, session)
            self.check(self.server.post("/call", {"name": "submit", "input": {"code": source}}, session).text, source)
            self.check(self.server.get("/messages", **session).text, source)
        kernels = [{"name": name, "source": source} for name, source in KERNELS.items() if "elsewhere" not in name]
        self.check(self.tool("compare_kernels", {"task": "shifted", "kernels": kernels}))
        self.check(self.tool("show_task", {"task": "shifted"}))

    def tool(self, name, arguments):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        answer = self.server.post("/mcp", message, {"Accept": "application/json, text/event-stream"})
        self.assertEqual(answer.status, 200, answer.text)
        return answer.text


if __name__ == "__main__":
    unittest.main()
