#!/usr/bin/env python3
"""What bfloat16 changes in Hugging Face transformers: a model in bfloat16 against itself in float32, for the tokens of a file,
and what `generate` sampled in bfloat16 against a forward pass, as bench/noise_bench says it of kernelrl. Without a GPU on the CPU.

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


@torch.no_grad()
def sample(model, sequences, new_tokens=64):
    """Each prompt with an answer sampled at temperature 1, and the log-probabilities with which its tokens were drawn."""
    prompts = [sequence["prompt"] for sequence in sequences]
    longest = max(map(len, prompts))
    padding = [longest - len(prompt) for prompt in prompts]
    tokens = torch.tensor([[0] * n + prompt for n, prompt in zip(padding, prompts)], device=model.device)
    mask = torch.tensor([[0] * n + [1] * len(prompt) for n, prompt in zip(padding, prompts)], device=model.device)
    torch.manual_seed(17)
    drawn = model.generate(input_ids=tokens, attention_mask=mask, do_sample=True, temperature=1.0, top_k=0, top_p=1.0,
                           max_new_tokens=new_tokens, eos_token_id=None, pad_token_id=0,
                           output_logits=True, return_dict_in_generate=True)
    answers = drawn.sequences[:, longest:]
    logprobs = torch.stack([step.float().log_softmax(1).gather(1, token.unsqueeze(1)).squeeze(1)
                            for step, token in zip(drawn.logits, answers.T)], 1)
    return [{"prompt": prompt, "answer": answer} for prompt, answer in zip(prompts, answers.tolist())], logprobs


def logprobs_of(model, sequences):
    rows = []
    for sequence in sequences:
        chosen = torch.tensor(sequence["answer"], device=model.device).unsqueeze(1)
        rows.append(predictions(model, sequence).log_softmax(1).gather(1, chosen).squeeze(1))
    return torch.stack(rows)


def compare_sampler(fine, coarse, sequences):
    sampled, recorded = sample(coarse, sequences)
    in_bfloat16, in_float32 = logprobs_of(coarse, sampled), logprobs_of(fine, sampled)
    pairs = {
        "sampled in bfloat16 against a forward pass in bfloat16": (recorded, in_bfloat16),
        "sampled in bfloat16 against a forward pass in float32": (recorded, in_float32),
        "of these tokens a forward pass in bfloat16 against one in float32": (in_bfloat16, in_float32),
    }
    for what, (a, b) in pairs.items():
        difference = Differences()
        difference.add(a, b)
        print(f"transformers, {what}, {difference.count} tokens: log-probability of the token "
              f"mean {difference.mean():.5f} max {difference.largest:.4f}")


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
    compare_sampler(fine, coarse, sequences)


if __name__ == "__main__":
    main()
