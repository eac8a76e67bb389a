"""Answers every request with the same kernel: replace it with a model, or with a server that has one.

A policy that learns has tokenize, logprobs, forward_backward, optimizer_step, save and load as well: docs/python_components.md.
"""

from collections.abc import Iterator

from kernelrl import Sample, SampleRequest

ANSWER = "<KERNEL>\n```cuda\n__global__ void kern() {}\n```\n</KERNEL>"


class NewComponent:
    description = "one answer"

    def __init__(self, answer: str = ANSWER) -> None:
        self.answer = answer

    def sample(self, requests: list[SampleRequest]) -> Iterator[Sample]:
        for number, request in enumerate(requests):
            for index in range(request.n_samples):
                yield Sample(text=self.answer, request=number, index=index)
