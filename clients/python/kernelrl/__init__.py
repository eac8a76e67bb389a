"""Verdicts on GPU kernels from a kernelrl server, reward functions made of them, and the folders of runs."""

from kernelrl.async_judge import AsyncJudge, Event, Request
from kernelrl.errors import DeadlinePassed, InfrastructureError, JudgeError, Refused, Unauthorized, Unavailable
from kernelrl.evaluation import Best, Case, Diagnostic, Evaluation, Info, Kernel, Task, Value
from kernelrl.judge import Judge
from kernelrl.run import Run, Table, read_run
from kernelrl.server import local

__all__ = [
    "AsyncJudge",
    "Best",
    "Case",
    "DeadlinePassed",
    "Diagnostic",
    "Evaluation",
    "Event",
    "Info",
    "InfrastructureError",
    "Judge",
    "JudgeError",
    "Kernel",
    "Refused",
    "Request",
    "Run",
    "Table",
    "Task",
    "Unauthorized",
    "Unavailable",
    "Value",
    "local",
    "read_run",
]
