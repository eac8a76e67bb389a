#!/usr/bin/env python3
"""Tokens a second of Hugging Face's generate, for comparison with generation_bench.

    bench/hf_generate.py [--model smollm2-135m | qwen2.5-1.5b | CONFIG.JSON] [--batch 64,256,512] [--prompt 128] [--new 256]

Random weights by the model's config, bfloat16, attention "sdpa", temperature 1 without top_k and top_p, prompts of equal
length, prompt included in the time. Needs torch, transformers and a GPU.
"""

import argparse
import time

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, LlamaConfig, Qwen2Config

SHAPES = {
    "smollm2-135m": lambda: LlamaConfig(
        num_hidden_layers=30, hidden_size=576, num_attention_heads=9, num_key_value_heads=3, intermediate_size=1536,
        vocab_size=49152, rope_theta=100000.0, tie_word_embeddings=True, max_position_embeddings=8192),
    "qwen2.5-1.5b": lambda: Qwen2Config(
        num_hidden_layers=28, hidden_size=1536, num_attention_heads=12, num_key_value_heads=2, intermediate_size=8960,
        vocab_size=151936, rope_theta=1000000.0, tie_word_embeddings=True, max_position_embeddings=32768),
}


def measure(model, batch, prompt, new):
    ids = torch.randint(10, model.config.vocab_size - 10, (batch, prompt), device="cuda")
    arguments = dict(
        input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=True, temperature=1.0, top_k=0, top_p=1.0,
        max_new_tokens=new, min_new_tokens=new, pad_token_id=0, use_cache=True)
    model.generate(**{**arguments, "max_new_tokens": 8, "min_new_tokens": 8})
    torch.cuda.synchronize()
    start = time.perf_counter()
    out = model.generate(**arguments)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    assert out.shape[1] == prompt + new
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--batch", default="64,256,512")
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--new", type=int, default=256)
    options = parser.parse_args()

    config = SHAPES[options.model]() if options.model in SHAPES else AutoConfig.from_pretrained(options.model)
    config.eos_token_id = None  # nothing ends early
    torch.manual_seed(1)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").eval()
    model.generation_config.eos_token_id = None
    for batch in (int(b) for b in options.batch.split(",")):
        with torch.inference_mode():
            seconds = measure(model, batch, options.prompt, options.new)
        print(f"transformers {transformers.__version__} {options.model} batch {batch}: "
              f"{batch * options.new / seconds:.0f} tokens/s, {seconds / options.new * 1e3:.1f} ms a step, "
              f"{torch.cuda.max_memory_reserved() / 1e9:.2f} GB reserved", flush=True)


if __name__ == "__main__":
    main()
