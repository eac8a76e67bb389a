"""Two sessions of OpenEnv's own client at a server: openenv_client.py URL TASK KERNEL.cu"""
import pathlib
import sys

from openenv import GenericEnvClient

url, task, kernel = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).read_text()

with GenericEnvClient(base_url=url).sync() as env:
    first = env.reset(problem_id=task)
    print("reset:", first.observation["problem_id"], "turn", first.observation["turn"], "of", first.observation["max_turns"])
    for name, code in (("an empty kernel", "__global__ void k() {}"), ("a right kernel", kernel), ("the same", kernel)):
        result = env.step({"code": code})
        told = {key: result.observation[key] for key in ("compilation_success", "correctness_pass", "speedup")}
        print(f"step, {name}: reward {result.reward:.3f}, done {result.done}, {told}")
    print("state:", env.state())
    try:
        env.step({"text": kernel})
    except RuntimeError as error:
        print("a wrong action:", error)

with GenericEnvClient(base_url=url).sync() as env:
    print("another session:", env.reset(seed=3).observation["problem_id"])
