"""A kernel a step; the observation says what became of it."""
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.types import Action, Observation, State


class KernelAction(Action):
    code: str


class KernelObservation(Observation):
    problem_id: str = ""
    problem_description: str = ""
    reference_code: str = ""
    gpu_info: str = ""
    turn: int = 0
    max_turns: int = 0
    feedback: str = ""
    compilation_success: bool | None = None
    compilation_error: str | None = None
    correctness_pass: bool | None = None
    max_diff: float | None = None
    speedup: float | None = None


class KernelEnv(EnvClient[KernelAction, KernelObservation, State]):
    def _step_payload(self, action):
        return {"code": action.code}

    def _parse_result(self, payload):
        known = KernelObservation.model_fields
        seen = {key: value for key, value in payload.get("observation", {}).items() if key in known}
        seen.update(done=payload.get("done", False), reward=payload.get("reward"))
        return StepResult(observation=KernelObservation(**seen), reward=seen["reward"], done=seen["done"])

    def _parse_state(self, payload):
        return State(episode_id=payload.get("episode_id"), step_count=payload.get("step_count", 0))
