"""A taskset for verifiers, which prime-rl trains on: a prompt for each task, and the judge as its reward.

pip install verifiers kernelrl
KERNELRL_URL=http://127.0.0.1:8400 PYTHONPATH=. vf-eval kernelrl_tasks -m MODEL \\
  --env.agent.harness.id null --env.agent.runtime.type subprocess

As a script this file lists the tasks.
"""

from collections.abc import Iterator

import verifiers.v1 as vf
from kernelrl import Judge
from kernelrl.rewards import Scorer

__all__ = ["KernelTaskset"]
scorer = Scorer()


class KernelTask(vf.Task[vf.TaskData]):
    @vf.reward
    async def kernel(self, trace: vf.Trace) -> float:
        return await scorer.verifiers(self.data, trace)


class KernelTaskset(vf.Taskset[KernelTask, vf.TasksetConfig]):
    def load(self) -> Iterator[KernelTask]:
        with Judge() as judge:
            for task in judge.tasks():
                data = vf.TaskData(name=task.id, description=task.title, prompt=judge.task(task.id).prompt)
                yield KernelTask(data, self.config.task)


if __name__ == "__main__":
    for task in KernelTaskset(vf.TasksetConfig()):
        print(task.data.name, "-", task.data.description)
