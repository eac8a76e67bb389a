#!/usr/bin/env python3
"""Makes smollm2_greedy.json: what transformers computes with SmolLM2-135M-Instruct, in float32.

    python3 make_smollm2_fixture.py MODEL_DIRECTORY [OUTPUT]

The model directory comes from scripts/get_smollm2.sh; needs torch and transformers. The file holds the ids of 200 prompts
and of the greedy answers to them, and logits of the last token of every tenth prompt at some ids of the vocabulary.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

OPERATIONS = [
    "adds two vectors", "scales a vector by a constant", "computes the sum of every row of a matrix",
    "transposes a matrix", "applies ReLU", "computes a softmax over rows", "multiplies two matrices",
    "computes a histogram", "finds the largest element of every column", "gathers rows by index",
    "computes a prefix sum", "adds a bias and applies GELU", "normalises rows to unit length",
    "computes a dot product", "copies every second element", "clips values to a range",
    "counts the zeros of an array", "reverses an array", "computes the mean of each row",
    "convolves a signal with three taps",
]
REQUESTS = [
    "Write a CUDA kernel that {}.", "Explain in one sentence what a CUDA kernel does that {}.",
    "Name the arguments of a function which {}.", "Which launch configuration suits a kernel that {}?",
    "Is a kernel that {} bound by memory or by arithmetic?", "Give the first line of C++ code that {}.",
    "What can go wrong in parallel code that {}?", "How do I test a kernel that {}?",
    "Write a Python function that {}.", "Describe the shapes of the tensors when a kernel {}.",
]
NEW_TOKENS = 20
VOCABULARY_STEP = 97


def main() -> None:
    directory = sys.argv[1]
    output = sys.argv[2] if len(sys.argv) > 2 else "smollm2_greedy.json"
    tokenizer = AutoTokenizer.from_pretrained(directory)
    model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32).eval()
    prompts, narrowest = [], 1e9
    for text in (request.format(operation) for request in REQUESTS for operation in OPERATIONS):
        ids = tokenizer.apply_chat_template([{"role": "user", "content": text}], add_generation_prompt=True,
                                            return_dict=True)["input_ids"]
        answer, logits_kept, cache, step = [], None, None, torch.tensor([ids])
        while len(answer) < NEW_TOKENS:
            with torch.no_grad():
                result = model(step, past_key_values=cache, use_cache=True)
            cache, logits = result.past_key_values, result.logits[0, -1]
            if logits_kept is None:
                logits_kept = logits[::VOCABULARY_STEP]
            best = logits.topk(2).values
            narrowest = min(narrowest, (best[0] - best[1]).item())
            answer.append(int(logits.argmax()))
            if answer[-1] == model.config.eos_token_id:
                break
            step = torch.tensor([[answer[-1]]])
        entry = {"text": text, "prompt": list(ids), "answer": answer}
        if len(prompts) % 10 == 0:
            entry["logits"] = [round(x, 5) for x in logits_kept.tolist()]
        prompts.append(entry)
        print(f"\r{len(prompts)}", end="", file=sys.stderr)
    with open(output, "w") as file:
        lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in prompts)
        file.write(f'{{"vocabulary_step": {VOCABULARY_STEP}, "narrowest_choice": {narrowest:.2g}, "prompts": [\n{lines}\n]}}\n')


main()
