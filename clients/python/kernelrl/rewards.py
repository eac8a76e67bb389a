"""Rewards for trainers: one score, in the form that each of them calls.

    scorer = Scorer("http://judge:8400")
    trainer = GRPOTrainer(model, reward_funcs=scorer.trl, train_dataset=…)

A kernel that is wrong, or none at all, scores `wrong`. A right one scores

    right + gain · (s − 1)

where s is its speedup over the task's naive kernel, at least 1 and at most `cap`: the lower end of the measured
interval, so that noise earns nothing. A failure of the infrastructure is never a score: it raises a `JudgeError`, or is
None where the trainer has that word for "no reward". clients/python/examples has a script for each trainer.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from typing import Any

from kernelrl.async_judge import AsyncJudge
from kernelrl.errors import DeadlinePassed, InfrastructureError, Unavailable
from kernelrl.evaluation import Evaluation
from kernelrl.judge import blocking

log = logging.getLogger("kernelrl")


class Scorer:
    """Scores answers by the server at an address, by an `AsyncJudge`, or by the server that KERNELRL_URL names. Its
    methods may be given to trainers as functions."""

    def __init__(
        self,
        judge: str | AsyncJudge | None = None,
        *,
        wrong: float = 0.0,
        right: float = 0.3,
        gain: float = 1.0,
        cap: float = 10.0,
    ) -> None:
        self.judge = judge if isinstance(judge, AsyncJudge) else AsyncJudge(judge)
        self._wrong, self._right, self._gain, self._cap = wrong, right, gain, cap

    def of(self, evaluation: Evaluation) -> float:
        """The score of an evaluation."""
        if evaluation.verdict == "infra_error":  # in a ledger
            raise InfrastructureError(evaluation.why)
        if not evaluation.ok:
            return self._wrong
        return self._right + self._gain * (min(max(evaluation.speedup or 1.0, 1.0), self._cap) - 1.0)

    async def evaluate(self, task: str, answer: str) -> Evaluation:
        """Judges the kernel in a model's answer."""
        source = extract_kernel(answer)
        if source is None:
            return Evaluation(verdict="format_error", why="the answer holds no kernel", task=task)
        return await self.judge.evaluate(task, source)

    async def score(self, task: str, answer: str) -> float:
        """The score of the kernel in a model's answer."""
        return self.of(await self.evaluate(task, answer))

    # ---- trainers ----------------------------------------------------------------------------------------------------

    async def verl(
        self, data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None, **_: Any
    ) -> dict[str, float]:
        """verl's compute_score; the dataset's ground truth is the task's id."""
        evaluation = await self.evaluate(ground_truth, solution_str)
        return {"score": self.of(evaluation), "acc": float(evaluation.ok)}

    def trl(self, completions: Sequence[Any], task: Sequence[str], **_: Any) -> list[float | None]:
        """A reward function of TRL; the dataset has a column `task`. TRL before 1.10 takes None for 0."""

        async def one(task: str, completion: Any) -> float | None:
            answer = completion if isinstance(completion, str) else completion[-1]["content"]
            try:
                return await self.score(task, answer)
            except (Unavailable, DeadlinePassed, InfrastructureError) as error:
                log.warning("no reward for an answer to %s: %s", task, error)
                return None

        async def all_of_them() -> list[float | None]:
            return await asyncio.gather(*map(one, task, completions))

        return blocking(all_of_them())

    async def slime(self, args: Any, sample: Any, **_: Any) -> Any:
        """slime's --custom-rm-path, for one sample or, with --group-rm, a list; the label is the task's id."""
        if isinstance(sample, list):
            return await asyncio.gather(*(self.score(each.label, each.response) for each in sample))
        return await self.score(sample.label, sample.response)

    def skyrl(self, task: str, action: str) -> tuple[float, str]:
        """The reward and the feedback for a step of a SkyRL environment."""
        evaluation = blocking(self.evaluate(task, action))
        return self.of(evaluation), evaluation.feedback or evaluation.why

    async def verifiers(self, task: Any, trace: Any) -> float:
        """A reward of a verifiers task, as prime-rl trains on; the name of its data is the task's id."""
        return await self.score(task.name, trace.last_reply)


def extract_kernel(answer: str) -> str | None:
    """The kernel in a model's answer, as kernelrl's own training finds it: the last fenced block of CUDA or C++ with a
    `__global__`, or else what stands between <KERNEL> tags. What the model thought, up to </think>, is no answer."""
    before, closed, after = answer.partition("</think>")
    rest: str = after if closed else before.partition("<think>")[0]
    blocks = re.findall(r"^```([^\n]*)\n(.*?)(?:^```|\Z)", rest, re.DOTALL | re.MULTILINE)
    for language, block in reversed(blocks):
        if language.strip() in ("", "cuda", "cpp", "c++", "cu", "c") and "__global__" in block:
            return str(block)
    tagged = re.search(r"<KERNEL>(.*?)</KERNEL>", rest, re.DOTALL)
    return tagged[1].strip() + "\n" if tagged and "__global__" in tagged[1] else None
