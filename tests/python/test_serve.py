"""The client with `kernelrl serve` on the cpu backend, and read_run with a run. KERNELRL names the program, and
KERNELRL_TESTS the folder with the components that tests use."""

import asyncio
import importlib.util
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import kernelrl
from kernelrl.rewards import Scorer

WRONG = """// @launch kern<<<ceil_div(n, 128), 128>>>(out, n)
__global__ void kern(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 7;
}
"""


@unittest.skipUnless("KERNELRL" in os.environ, "KERNELRL does not name a program")
class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        logging.getLogger("kernelrl").setLevel(logging.ERROR)
        cls.judge = cls.enterClassContext(kernelrl.local())
        cls.naive = cls.judge.task("vector_add").naive

    def test_what_it_is(self):
        info = self.judge.info()
        self.assertTrue(info.version and info.identity and info.concurrency)
        self.assertIn("emulated", info.device)
        self.assertTrue(self.judge.healthy())
        tasks = {task.id: task for task in self.judge.tasks()}
        self.assertEqual(tasks["vector_add"].tier, 0)
        self.assertIn("Write a CUDA kernel", self.judge.task("vector_add").prompt)

    def test_local_outlives_no_killed_process(self):
        script = "import time, kernelrl\nwith kernelrl.local() as judge: print(judge.url, flush=True); time.sleep(600)"
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
            with kernelrl.Judge(process.stdout.readline().strip()) as judge:
                self.assertTrue(judge.healthy())
                process.kill()
                while judge.healthy():
                    pass

    def test_right(self):
        result = self.judge.evaluate("vector_add", self.naive)
        self.assertTrue(result.ok)
        self.assertEqual((result.task, result.extra), ("vector_add", {}))
        self.assertAlmostEqual(result.speedup, 1)
        self.assertEqual(result.pass_rate, 1)
        self.assertGreater(result.value("dram_bytes"), 0)
        self.assertEqual((result.kernels[0].name, result.kernels[0].extra), ("kern", {}))
        self.assertEqual({field for case in result.cases for field in case.extra}, set())
        self.assertGreater(len(result.feedback), len(result.headline))
        self.assertTrue(self.judge.evaluate("vector_add", self.naive).kept)
        best = {best.task: best for best in self.judge.best()}["vector_add"]
        self.assertIn(self.naive, best.source)
        self.assertTrue(best.evaluation.ok)
        self.assertEqual(self.judge.best("row_sum"), [])

    def test_not_right(self):
        results = self.judge.evaluate_many([("vector_add", WRONG), ("vector_add", WRONG.replace("7", "seven"))])
        self.assertEqual([result.verdict for result in results], ["wrong_result", "compile_error"])
        self.assertIn("seven", results[1].diagnostics[0].text)
        self.assertEqual(results[1].diagnostics[0].line, 4)
        self.assertIsNone(results[0].speedup)

    def test_refused(self):
        with self.assertRaisesRegex(kernelrl.Refused, "nope"):
            self.judge.evaluate("nope", self.naive)
        with self.assertRaises(kernelrl.Refused):
            self.judge.evaluate({"id": "half"}, self.naive)
        with self.assertRaises(kernelrl.Refused):
            self.judge.evaluate("vector_add", self.naive, stages=("guess",))
        with self.assertRaises(kernelrl.DeadlinePassed):
            self.judge.evaluate("vector_add", self.naive + "// late\n", deadline_s=0.001)

    def test_stages_and_seeds(self):
        compiled = self.judge.evaluate("vector_add", self.naive, stages=("compile",), seed=5)
        self.assertEqual((compiled.verdict, compiled.cases), ("ok", []))

    def test_stream(self):
        sources = [self.naive + f"// {i}\n" for i in range(3)] * 2
        last = {}
        for event in self.judge.stream([("vector_add", source) for source in sources]):
            self.assertNotIn(event.index, last)
            if event.kind in ("result", "error"):
                last[event.index] = event.evaluation.verdict
        self.assertEqual(last, dict.fromkeys(range(6), "ok"))

    def test_rewards(self):
        scorer = Scorer(self.judge.url)
        answers = [f"So:\n```cuda\n{self.naive}```", f"```cuda\n{WRONG}```", "?"]
        self.assertEqual(scorer.trl(answers, task=["vector_add"] * 3), [0.3, 0, 0])
        self.assertEqual(asyncio.run(scorer.verl("", answers[0], "vector_add")), {"score": 0.3, "acc": 1})

    def test_examples(self):
        examples = Path(__file__).parents[2] / "clients/python/examples"

        def run(name, *words):
            command = [sys.executable, examples / name, *words]
            environment = os.environ | {"KERNELRL_URL": self.judge.url}
            return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

        lines = run("judge_kernels.py").splitlines()
        self.assertEqual([line.split()[1] for line in lines[1:]], ["ok", "ok", "wrong_result", "compile_error"])
        self.assertRegex(lines[2], r"^faster +ok +[2-9]")
        with tempfile.TemporaryDirectory() as folder:
            for name in ("verl_reward.py", "slime_reward.py"):
                run(name, f"{folder}/{name}.jsonl")
                rows = [json.loads(line) for line in Path(f"{folder}/{name}.jsonl").read_text().splitlines()]
                self.assertEqual(len(rows), len(self.judge.tasks()))
                self.assertIn("Write a CUDA kernel", rows[0]["prompt"][0]["content"])
        if importlib.util.find_spec("skyrl_gym"):
            self.assertRegex(run("skyrl_env.py"), r"(?s)^0\.0 False.*\n0\.3 False.*\n0\.0 True")
        if importlib.util.find_spec("verifiers"):
            self.assertIn("vector_add - Vector addition", run("kernelrl_tasks.py"))

    def test_tokens(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("us the-token-of-this-test\n")
            file.flush()
            with kernelrl.local(arguments=["--token-file", file.name]) as stranger:
                with self.assertRaises(kernelrl.Unauthorized):
                    stranger.info()
                with kernelrl.Judge(stranger.url, token="the-token-of-this-test") as judge:
                    self.assertTrue(judge.evaluate("vector_add", self.naive).ok)

    def test_a_server_that_dies(self):
        with kernelrl.local() as mine, kernelrl.Judge(mine.url, patience_s=0.5) as judge:
            served = threading.Event()
            errors = []

            def ask():
                try:
                    for event in judge.stream([("matmul", self.naive + f"// {i}\n") for i in range(200)]):
                        served.set()
                        if event.kind == "error":
                            errors.append(event.error)
                except Exception as error:  # noqa: BLE001
                    errors.append(error)

            asking = threading.Thread(target=ask)
            asking.start()
            served.wait(30)
            os.kill(server_of(mine.url), signal.SIGKILL)
            asking.join(60)
            self.assertTrue(errors)
            self.assertEqual({type(error) for error in errors}, {kernelrl.Unavailable})


def server_of(url):
    """The process that listens at an address."""
    port = f":{int(url.rpartition(':')[2]):04X}"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    socket = next(f"socket:[{line[9]}]" for line in lines if line[1].endswith(port) and line[3] == "0A")
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(descriptor) == socket:
                return int(descriptor.parts[2])
        except OSError:
            pass
    raise ProcessLookupError(url)


@unittest.skipUnless("KERNELRL_TESTS" in os.environ, "KERNELRL_TESTS does not name a folder")
class RealRun(unittest.TestCase):
    def test_read_run(self):
        plan = Path(__file__).parents[1] / "cli/data/small.toml"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [os.environ["KERNELRL"], "--plan", plan, "--plugin-path", os.environ["KERNELRL_TESTS"]]
                + ["--set", "run.name=small", "--set", "log.samples_every=1"],
                cwd=folder,
                check=True,
                capture_output=True,
            )
            run = kernelrl.read_run(f"{folder}/runs/small")
            self.assertEqual(run.status["state"], "finished")
            self.assertEqual([row["iteration"] for row in run.metrics], [1, 2])
            self.assertEqual({row["iteration"] for row in run.samples}, {1, 2})
            for row in run.ledger:
                evaluation = kernelrl.Evaluation.from_json(row["evaluation"])
                self.assertEqual(evaluation.verdict, row["verdict"])
                self.assertEqual(evaluation.speedup is None, row["speedup"] is None)
            self.assertTrue(run.ledger and run.best)


if __name__ == "__main__":
    unittest.main()
