import json
import os

import kernelrl


def says_hello(requests):
    for number, request in enumerate(requests):
        for index in range(request.n_samples):
            text = f"{request.messages[-1].text} {request.max_tokens} {request.temperature}"
            yield kernelrl.Sample(text=text, request=number, index=index)


class Learner:
    """Knows one number, which its gradient moves."""

    description, context_tokens, vocabulary = "one number", 100, 256

    def __init__(self, at=0.0):
        self.at, self.gradient, self.version = at, 0.0, 0

    def sample(self, requests):
        return [self._sample("abc", n) for n, _ in enumerate(requests)]

    def _sample(self, text, request=0):
        tokens = list(text.encode())
        return kernelrl.Sample(
            text=text, request=request, prompt_tokens=[1], tokens=tokens, logprobs=[self.at] * len(tokens), version=self.version
        )

    def tokenize(self, messages, answer):
        return self._sample(answer)

    def logprobs(self, temperature, examples):
        return [[self.at / temperature] * len(example.tokens) for example in examples]

    def forward_backward(self, loss, examples):
        assert loss.name == "ppo" and loss.aggregation == "token_mean" and loss.parameters == {"clip_low": 0.2}, loss
        self.gradient += sum(sum(example.advantages) for example in examples) / loss.normaliser
        return {"loss": self.gradient}

    def optimizer_step(self, optimizer):
        if optimizer.lr > 1:
            os._exit(1)
        self.at += optimizer.lr * self.gradient
        self.gradient, self.version = 0.0, self.version + 1
        return {"grad_norm": 0.5}

    def save(self, directory):
        with open(os.path.join(directory, "number.json"), "w") as file:
            json.dump([self.at, self.version], file)

    def load(self, directory):
        with open(os.path.join(directory, "number.json")) as file:
            self.at, self.version = json.load(file)
