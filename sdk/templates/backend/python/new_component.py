"""Refuses kernels whose brackets do not match: replace it with a compiler and a machine that runs the kernels."""

from kernelrl import Candidate, Case, Evaluation


class NewComponent:
    signals = ("compile",)  # what is measured: "correctness", "time", … as well
    toolchain = "new_component 0.1"

    def evaluate(self, candidate: Candidate) -> Evaluation:
        """A wrong kernel is a verdict. Raise kernelrl.Unavailable where the machine is to blame."""
        if candidate.source.count("{") != candidate.source.count("}"):
            return Evaluation(verdict="compile_error", why="the brackets do not match")
        return Evaluation(verdict="ok", cases=[Case(label="brackets", verdict="ok", kind="shown")])
