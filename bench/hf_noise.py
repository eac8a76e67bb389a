#!/usr/bin/env python3
"""What bfloat16 changes in Hugging Face transformers: a model in bfloat16 against itself in float32, for the tokens of a file,
as bench/noise_bench says it of kernelrl. Without a GPU on the CPU.

    python bench/hf_noise.py MODEL_DIRECTORY [FILE]
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM


class Differences:
    """Mean and largest of absolute differences."""

    def __init__(self):
        self.sum, self.largest, self.count = 0.0, 0.0, 0

    def add(self, a, b):
        difference = (a - b).abs()
        self.sum += difference.sum(dtype=torch.float64).item()
        self.largest = max(self.largest, difference.max().item())
        self.count += difference.numel()

    def mean(self):
        return self.sum / self.count


@torch.no_grad()
def predictions(model, sequence):
    tokens = torch.tensor([sequence["prompt"] + sequence["answer"][:-1]], device=model.device)
    return model(input_ids=tokens).logits[0, len(sequence["prompt"]) - 1:].float()


def main():
    directory = sys.argv[1]
    path = sys.argv[2] if len(sys.argv) > 2 else "tests/unit/policies/data/smollm2_greedy.json"
    with open(path) as file:
        sequences = json.load(file)["prompts"]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = False
    fine, coarse = (AutoModelForCausalLM.from_pretrained(directory, dtype=dtype).to(device).eval()
                    for dtype in (torch.float32, torch.bfloat16))
    logits, logprobs = Differences(), Differences()
    divergence, others = 0.0, 0
    for sequence in sequences:
        expected, got = predictions(fine, sequence), predictions(coarse, sequence)
        chosen = torch.tensor(sequence["answer"], device=device).unsqueeze(1)
        p, q = expected.log_softmax(1), got.log_softmax(1)
        logits.add(expected, got)
        logprobs.add(p.gather(1, chosen), q.gather(1, chosen))
        divergence += (p.exp() * (p - q)).sum(dtype=torch.float64).item()
        others += (expected.argmax(1) != got.argmax(1)).sum().item()
    count = logprobs.count
    print(f"transformers on {device}, bfloat16 against float32, {count} tokens: logits mean {logits.mean():.4f} "
          f"max {logits.largest:.3f}, log-probability of the token mean {logprobs.mean():.5f} max {logprobs.largest:.4f}, "
          f"KL mean {divergence / count:.2e}, another likeliest token {100 * others / count:.2f} %")


if __name__ == "__main__":
    main()
