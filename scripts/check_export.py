#!/usr/bin/env python3
"""Compares the answers of a `kernelrl export` in transformers (with peft) and in vLLM, in float32.

    check_export.py transformers MODEL [ADAPTER] --output a.json
    check_export.py vllm MODEL [ADAPTER] --output b.json
    check_export.py compare a.json b.json

The first two answer the same 20 prompts greedily, with the directory's tokenizer and chat template, and write token ids and
log-probabilities; they may run in different environments. MODEL is an exported directory or, with ADAPTER, the one that the
adapter was trained on. `compare` fails if a token differs, or a log-probability by 0.001 or more.
"""

import argparse
import json
import pathlib
import sys

OPERATIONS = [
    "adds two vectors", "scales a vector by a constant", "computes the sum of every row of a matrix",
    "transposes a matrix", "applies ReLU to an array", "computes a softmax over rows", "multiplies two matrices",
    "computes a histogram", "finds the largest element of every column", "gathers rows by index",
]
REQUESTS = ["Write a CUDA kernel that {}.", "What can go wrong in parallel code that {}?"]
PROMPTS = [[{"role": "user", "content": request.format(operation)}] for request in REQUESTS for operation in OPERATIONS]
NEW_TOKENS = 48
TOLERANCE = 1e-3  # of log-probabilities


def answers_of_transformers(directory, adapter):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(directory)
    model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
    if adapter:
        from peft import PeftModel
        model = PeftModel.from_pretrained(model, adapter)
    model.eval()
    for messages in PROMPTS:
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True, return_tensors="pt")
        length = prompt["input_ids"].shape[1]
        with torch.no_grad():
            tokens = model.generate(**prompt, do_sample=False, max_new_tokens=NEW_TOKENS)
            logprobs = model(input_ids=tokens).logits[0, :-1].log_softmax(1)
        chosen = logprobs.gather(1, tokens[0, 1:, None])[:, 0].tolist()
        best = logprobs[length - 1:].topk(2).values
        yield {"prompt": tokens[0, :length].tolist(), "answer": tokens[0, length:].tolist(),
               "prompt_logprobs": chosen[:length - 1], "answer_logprobs": chosen[length - 1:],
               "leads": (best[:, 0] - best[:, 1]).tolist()}  # of the best token over the second


def answers_of_vllm(directory, adapter):
    from vllm import LLM, SamplingParams
    from vllm.lora.request import LoRARequest

    options = {"enforce_eager": True, "dtype": "float32", "max_model_len": 512}
    request = None
    if adapter:
        config = json.loads((pathlib.Path(adapter) / "adapter_config.json").read_text())
        rank = next(n for n in (8, 16, 32, 64, 128, 256, 320, 512) if n >= config["r"])
        # If vLLM makes room for an adapter of the output matrix, prompt_logprobs of several requests fail on a CPU.
        options |= {"enable_lora": True, "max_lora_rank": rank, "lora_target_modules": config["target_modules"]}
        request = LoRARequest("adapter", 1, str(pathlib.Path(adapter).resolve()))
    greedy = SamplingParams(temperature=0, max_tokens=NEW_TOKENS, logprobs=0, prompt_logprobs=0)
    for output in LLM(directory, **options).chat(PROMPTS, greedy, lora_request=request):
        prompt, answer = list(output.prompt_token_ids), list(output.outputs[0].token_ids)
        yield {"prompt": prompt, "answer": answer,
               "prompt_logprobs": [step[id].logprob for id, step in zip(prompt[1:], output.prompt_logprobs[1:])],
               "answer_logprobs": [step[id].logprob for id, step in zip(answer, output.outputs[0].logprobs)]}


def first_difference(a, b):
    """The place of the first token that differs; None if all are the same."""
    if a == b:
        return None
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def compare(a, b):
    """Prints what is the same, and how far log-probabilities are apart while the tokens are; returns whether all is well."""
    largest = {"prompt_logprobs": 0.0, "answer_logprobs": 0.0}
    same_prompts = same_answers = 0
    for number, (x, y) in enumerate(zip(a, b, strict=True), 1):
        if x["prompt"] != y["prompt"]:
            print(f"prompt {number}: other tokens")
            continue
        same_prompts += 1
        split = first_difference(x["answer"], y["answer"])
        same_answers += split is None
        if split is not None:
            lead = (x.get("leads") or y.get("leads") or [])[split:split + 1]
            print(f"prompt {number}: other token at {split}" + (f", where the best led by {lead[0]:.2g}" if lead else ""))
        for kind in largest:
            end = split if kind == "answer_logprobs" else None
            differences = [abs(p - q) for p, q in zip(x[kind][:end], y[kind][:end])]
            largest[kind] = max([largest[kind], *differences])
    print(f"{len(a)} prompts: {same_prompts} of the same tokens, {same_answers} same answers; log-probabilities apart by at "
          f"most {largest['prompt_logprobs']:.1e} in prompts, {largest['answer_logprobs']:.1e} in answers")
    return same_answers == len(a) and max(largest.values()) < TOLERANCE


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["transformers", "vllm", "compare"])
    parser.add_argument("first", metavar="MODEL")
    parser.add_argument("second", metavar="ADAPTER", nargs="?")
    parser.add_argument("--output", metavar="FILE")
    call = parser.parse_args()
    if call.what == "compare":
        if not call.second:
            parser.error("compare takes two files")
        files = [json.loads(pathlib.Path(name).read_text()) for name in (call.first, call.second)]
        sys.exit(0 if compare(*files) else 1)
    for directory in filter(None, (call.first, call.second)):
        if not pathlib.Path(directory, "adapter_config.json" if directory == call.second else "config.json").is_file():
            parser.error(f"'{directory}' is no exported directory")
    if not call.output:
        parser.error(f"{call.what} wants --output FILE")
    answer = answers_of_transformers if call.what == "transformers" else answers_of_vllm
    pathlib.Path(call.output).write_text(json.dumps(list(answer(call.first, call.second))) + "\n")


if __name__ == "__main__":
    main()
