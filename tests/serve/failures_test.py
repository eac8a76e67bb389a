"""Where the judge fails, no protocol of `kernelrl serve` gives a number; and what fails changes no sum of rewards."""
import json
import pathlib
import tempfile
import unittest

import ors_test
from judge_server import JudgeServer, choice
from kernelgym_test import SOURCE, imported_task
from nemo_gym_test import KERNEL, message, response, row
from openenv_test import Session

BROKEN = 1  # the choice that the judge fails at; the score of another is its speedup: 0, 1 or 2
SCORES = {0: 0, 2: 1, 3: 2}
FIGURES = {"reward", "score", "speedup", "correct", "correctness", "correctness_pass", "passed", "verdict", "evaluation",
           "kernel_runtime", "finished", "done"}


def figures(answer):
    """The names of what would be a figure, or a verdict, in a JSON answer."""
    if isinstance(answer, list):
        return set().union(*map(figures, answer))
    if not isinstance(answer, dict):
        return set()
    return {name for name, value in answer.items() if name in FIGURES} | set().union(*map(figures, answer.values()))


class Failures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        imported_task(pathlib.Path(folder.name))
        cls.server = JudgeServer.of_toys(f"backend.broken_choice={BROKEN}", "rollout.turns=64")
        cls.importer = JudgeServer.of_toys("backend.broken=true", "dataset.0.use=tasks", f"dataset.0.path={folder.name}")
        cls.addClassCleanup(cls.server.stop)
        cls.addClassCleanup(cls.importer.stop)

    def openenv(self):
        session = Session(self.server.host, self.server.port, "/ws")
        self.addCleanup(session.close)
        session.reset(problem_id="toy_1")
        return session

    def answers_to_a_failure(self):
        """By protocol: the status, and the answers in JSON."""
        source = choice(BROKEN)
        request = {"task": "toy_1", "source": source}
        asked = {
            "native": self.server.post("/v1/evaluate", request),
            "batch": self.server.post("/v1/evaluate", {"requests": [request]}),
            "polled": self.server.post("/v1/evaluate?wait=60", request),
            "nemo_gym": self.server.post("/verify", row("toy_1") | {"response": response(message(KERNEL.format(source)))}),
            "kernelgym": self.importer.post("/evaluate", {"task_id": "1", "reference_code": SOURCE, "kernel_code": source}),
            "mcp": self.server.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                                             "params": {"name": "evaluate_kernel", "arguments": request}})}
        answers = {name: (answer.status, [answer.json]) for name, answer in asked.items()}
        for name, streamed in (("events", self.server.post("/v1/evaluate", request, {"Accept": "text/event-stream"})),
                               ("ors", self.server.post("/call", {"name": "submit", "input": {"code": source}}, ors_test.Ors.begin(self, self.server)))):
            answers[name] = streamed.status, [json.loads(data) for kind, data in streamed.events if data.startswith("{")]
        self.server.post("/reset", {"episode_id": "e", "problem_id": "toy_1"})
        step = self.server.post("/step", {"action": {"code": source}, "episode_id": "e"})
        answers["openenv"] = step.status, [step.json]
        answers["openenv /ws"] = 200, [self.openenv().ask("step", {"code": source})]
        return answers

    def test_a_failure_is_no_number(self):
        for protocol, (status, answers) in self.answers_to_a_failure().items():
            with self.subTest(protocol):
                self.assertEqual(figures(answers), set(), answers)
                may_succeed = protocol in ("batch", "events", "mcp", "ors", "openenv /ws")  # the error is in the answer
                self.assertEqual(status, 200 if may_succeed else 503, answers)

    def test_rewards_add_up_to_the_best_score_whatever_fails_between(self):
        for choices in ([BROKEN, 2, BROKEN, 3, BROKEN, 2], [3, BROKEN, 0, 2], [0, BROKEN, BROKEN, 2, 0], [BROKEN]):
            session, header = self.openenv(), ors_test.Ors.begin(self, self.server, problem_id="toy_1")
            sums, turns = [0, 0], 0
            for number in choices:
                step = session.ask("step", {"code": choice(number)})
                call = self.server.post("/call", {"name": "submit", "input": {"code": choice(number)}}, header).events[1]
                self.assertEqual((step["type"], call[0]), ("error", "error") if number == BROKEN else ("observation", "end"))
                if number != BROKEN:
                    turns += 1
                    self.assertEqual(step["data"]["observation"]["turn"], turns)
                    sums = [sums[0] + step["data"]["reward"], sums[1] + json.loads(call[1])["output"]["reward"]]
            best = max([SCORES[number] for number in choices if number != BROKEN], default=0)
            self.assertEqual(sums, [best, best], choices)
            self.assertEqual(session.ask("state")["data"]["step_count"], turns)


if __name__ == "__main__":
    unittest.main()
