#!/usr/bin/env python3
"""Training speed and memory of Hugging Face transformers, beside bench/training_bench: the same shape and batch, bfloat16,
scaled-dot-product attention, fused AdamW. Random weights, so nothing is downloaded.

    python bench/hf_train.py smollm2-135m
"""

import statistics
import sys
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

SEQUENCES, LENGTH = 32, 512
WARM_UPS, STEPS = 3, 10
SHAPES = {
    "smollm2-135m": (
        LlamaForCausalLM,
        LlamaConfig(num_hidden_layers=30, hidden_size=576, num_attention_heads=9, num_key_value_heads=3,
                    intermediate_size=1536, vocab_size=49152, max_position_embeddings=2048, tie_word_embeddings=True),
    ),
    "qwen2.5-1.5b": (
        Qwen2ForCausalLM,
        Qwen2Config(num_hidden_layers=28, hidden_size=1536, num_attention_heads=12, num_key_value_heads=2,
                    intermediate_size=8960, vocab_size=151936, max_position_embeddings=2048, tie_word_embeddings=True),
    ),
}


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "smollm2-135m"
    kind, config = SHAPES[name]
    config._attn_implementation = "sdpa"
    torch.manual_seed(1)
    with torch.device("cuda"):
        model = kind(config).to(torch.bfloat16)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    tokens = torch.randint(0, config.vocab_size, (SEQUENCES, LENGTH), device="cuda")

    def step():
        model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(WARM_UPS):
        step()
    torch.cuda.reset_peak_memory_stats()
    seconds = []
    for _ in range(STEPS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    median = statistics.median(seconds)
    peak = torch.cuda.max_memory_allocated()
    print(f"hugging face {name} {'full, cross_entropy':<26} {SEQUENCES * LENGTH / median:8.0f} tokens/s, "
          f"step {median * 1e3:7.2f} ms, peak {peak * 1e-9:5.1f} GB")


if __name__ == "__main__":
    main()
