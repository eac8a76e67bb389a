"""An environment for SkyRL, of several turns: after each the model is told what the judge found, and tries again. A
turn is paid what it gains over the best one before, so that the sum is the score of the best kernel.

In a program that starts SkyRL:

    skyrl_gym.register(id="kernelrl", entry_point="skyrl_env:KernelEnv")

In the dataset env_class is "kernelrl", and reward_spec.ground_truth is the task's id. As a script this file plays an
episode:

KERNELRL_URL=http://127.0.0.1:8400 python skyrl_env.py
"""

from typing import Any

from kernelrl import Judge
from kernelrl.rewards import Scorer
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

scorer = Scorer()


class KernelEnv(BaseTextEnv):
    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
        super().__init__()
        extras = extras or {}
        self.task = extras["reward_spec"]["ground_truth"]
        self.max_turns = extras.get("max_turns", 3)
        self.best = 0.0

    def step(self, action: str) -> BaseTextEnvStepOutput:
        self.turns += 1
        score, feedback = scorer.skyrl(self.task, action)
        gain = max(score - self.best, 0.0)
        self.best += gain
        over = self.turns >= self.max_turns
        told = [] if over else [{"role": "user", "content": f"{feedback}\n\nWrite a faster kernel that is right."}]
        return BaseTextEnvStepOutput(observations=told, reward=gain, done=over, metadata={"score": score})


if __name__ == "__main__":
    with Judge() as judge:
        naive = judge.task("vector_add").naive
    env = KernelEnv(extras={"reward_spec": {"ground_truth": "vector_add"}})
    for answer in ("I am not sure.", f"```cuda\n{naive}```", f"```cuda\n{naive}```"):
        step = env.step(answer)
        print(step["reward"], step["done"], *(message["content"] for message in step["observations"]))
