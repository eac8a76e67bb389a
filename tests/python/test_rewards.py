"""Scores, kernels found in answers, and the functions for trainers, called as they call them."""

import asyncio
import logging
import types
import unittest

from fake_server import FakeServer
from kernelrl import AsyncJudge, Evaluation, InfrastructureError, Refused
from kernelrl.rewards import Scorer, extract_kernel

KERNEL = "__global__ void k() {}\n"
ANSWER = f"Here it is:\n```cuda\n{KERNEL}```\n"


def setUpModule():
    logging.getLogger("kernelrl").setLevel(logging.ERROR)


def judged(call):
    """The task says what becomes of a kernel: "wrong", "broken", "unknown", or a speedup."""
    task = call.body["task"]
    if task == "wrong":
        call.verdict(verdict="wrong_result", why="element 3 is 1, not 2")
    elif task == "broken":
        call.json({"error": {"code": "internal", "message": "the GPU fell off"}}, 500)
    elif task == "unknown":
        call.json({"error": {"code": "not_found", "message": "no such task"}}, 404)
    else:
        cases = [{"kind": "shown", "verdict": "ok", "speedup_low": float(task)}] if task else []
        call.verdict(cases=cases)


class Rewards(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(FakeServer(default=judged))
        self.scorer = Scorer(self.server.url)

    def test_formula(self):
        def score(task, answer=ANSWER, **options):
            return asyncio.run(Scorer(self.server.url, **options).score(task, answer))

        self.assertAlmostEqual(score("2.5"), 0.3 + 1.5)
        self.assertAlmostEqual(score("0.5"), 0.3)
        self.assertAlmostEqual(score("100"), 0.3 + 9)
        self.assertAlmostEqual(score(""), 0.3)  # right, not timed
        self.assertEqual(score("wrong"), 0)
        self.assertAlmostEqual(score("4", right=1, gain=2, cap=3), 5)
        self.assertEqual(score("wrong", wrong=-1), -1)
        judged_before = len(self.server.calls)
        self.assertEqual(score("2.5", "I do not know.", wrong=-1), -1)
        self.assertEqual(len(self.server.calls), judged_before)

    def test_an_infrastructure_error_is_no_score(self):
        with self.assertRaises(InfrastructureError):
            self.scorer.of(Evaluation(verdict="infra_error", why="the GPU fell off"))

    def test_only_the_kernel_is_sent(self):
        asyncio.run(self.scorer.score("1", ANSWER))
        self.assertEqual(self.server.calls[0].body, {"task": "1", "source": KERNEL})

    def test_verl(self):
        def compute(task):
            return asyncio.run(
                self.scorer.verl(data_source="kernelrl", solution_str=ANSWER, ground_truth=task, extra_info={}, more=1)
            )

        self.assertEqual(compute("2"), {"score": 1.3, "acc": 1.0})
        self.assertEqual(compute("wrong"), {"score": 0.0, "acc": 0.0})
        self.assertRaises(InfrastructureError, compute, "broken")

    def test_trl(self):
        rewards = self.scorer.trl(
            prompts=["p"] * 4,
            completions=[ANSWER, [{"role": "assistant", "content": ANSWER}], ANSWER, "no kernel"],
            task=["2", "wrong", "broken", "2"],
            trainer_state=None,
        )
        self.assertEqual(rewards, [1.3, 0.0, None, 0.0])
        with self.assertRaises(Refused):
            self.scorer.trl([ANSWER], task=["unknown"])

    def test_slime(self):
        samples = [types.SimpleNamespace(label=task, response=ANSWER) for task in ("2", "wrong", "broken")]
        self.assertEqual(asyncio.run(self.scorer.slime(None, samples[0])), 1.3)
        self.assertEqual(asyncio.run(self.scorer.slime(None, samples[:2])), [1.3, 0.0])
        with self.assertRaises(InfrastructureError):
            asyncio.run(self.scorer.slime(None, samples[2], evaluation=True))

    def test_a_judge_of_ones_own(self):
        scorer = Scorer(AsyncJudge(self.server.url, connections=1), right=1)
        self.assertEqual(scorer.trl([ANSWER] * 3, task=["1"] * 3), [1, 1, 1])

    def test_skyrl(self):
        self.assertEqual(self.scorer.skyrl("2", ANSWER), (1.3, "well done"))
        self.assertEqual(self.scorer.skyrl("2", "no kernel"), (0.0, "the answer holds no kernel"))
        self.assertRaises(InfrastructureError, self.scorer.skyrl, "broken", ANSWER)

    def test_verifiers(self):
        trace = types.SimpleNamespace(last_reply=ANSWER)
        self.assertEqual(asyncio.run(self.scorer.verifiers(types.SimpleNamespace(name="2"), trace)), 1.3)


class ExtractKernel(unittest.TestCase):
    def test_answers(self):
        other = KERNEL.replace("k()", "other()")
        for answer, kernel in {
            ANSWER: KERNEL,
            f"<think>```cuda\n{other}```</think>{ANSWER}": KERNEL,
            f"thought without a beginning ```\n{other}``` </think>\n```\n{KERNEL}```": KERNEL,
            f"{ANSWER}or\n```cpp\n{other}```\nand\n```cpp\nint main() {{}}\n```": other,
            f"```python\n{KERNEL}```": None,
            f"```python\npass\n```\nthen\n{ANSWER}": KERNEL,
            f"```c++\n{KERNEL}": KERNEL,  # never closed
            f"<KERNEL>\n{KERNEL}</KERNEL>": KERNEL,
            f"<KERNEL>\n```cuda\n{KERNEL}```\n</KERNEL>": KERNEL,
            f"<think>{ANSWER}": None,
            "```cuda\nvoid f();\n```": None,
            KERNEL: None,
        }.items():
            self.assertEqual(extract_kernel(answer), kernel, answer)


if __name__ == "__main__":
    unittest.main()
