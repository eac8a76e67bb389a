"""Makes the fixtures of model_truth_test.cpp: small random models of each family as Hugging Face directories, with what
transformers computes for them in float32 (logits, the gradient of a cross-entropy) and the losses of 50 steps of training in
PyTorch. Needs torch, transformers and safetensors:

    python tests/unit/policies/data/make_model_fixtures.py tests/unit/policies/data/models
"""

import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import (LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config,
                          Qwen3ForCausalLM)

VOCABULARY, CONTEXT, LENGTH = 160, 64, 24
SHAPE = dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             intermediate_size=48, max_position_embeddings=CONTEXT, attn_implementation="eager")
LLAMA3 = dict(rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=16)
MODELS = {
    "llama": (LlamaForCausalLM, LlamaConfig(tie_word_embeddings=True, **SHAPE)),
    "llama3_untied": (LlamaForCausalLM, LlamaConfig(tie_word_embeddings=False, rope_parameters=LLAMA3, **SHAPE)),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config(tie_word_embeddings=True, **SHAPE)),
    "qwen3": (Qwen3ForCausalLM, Qwen3Config(tie_word_embeddings=True, head_dim=16, **SHAPE)),
}
OPTIMIZER = dict(lr=3e-3, betas=(0.9, 0.95), eps=1e-8)
WEIGHT_DECAY, GRAD_CLIP, STEPS = 0.1, 1.0, 50


def random_model(kind, config):
    """Weights large enough that every part of the model matters to the answer."""
    model = kind(config).float()
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2:
            torch.nn.init.normal_(parameter, std=1.5 / parameter.shape[1] ** 0.5)
        elif name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.5)
        else:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
    return model


def write_truth(folder, model):
    tokens = torch.randint(0, VOCABULARY, (1, LENGTH))
    output = model(input_ids=tokens, labels=tokens)
    output.loss.backward()
    truth = {"tokens": tokens[0].to(torch.int32), "logits": output.logits[0].detach().contiguous()}
    truth |= {"gradient." + name: parameter.grad for name, parameter in model.named_parameters()}
    save_file(truth, folder / "truth.safetensors")


def write_training(path, model):
    """Sequences of unequal lengths, the loss over their answers: a mean over all answer tokens of the batch."""
    lengths, prompt = [12, 24, 7, 18, 30], 4
    sequences = [torch.randint(0, VOCABULARY, (length,)).tolist() for length in lengths]
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([dict(params=matrices, weight_decay=WEIGHT_DECAY), dict(params=vectors, weight_decay=0)],
                                  **OPTIMIZER)
    losses, norms = [], []
    for _ in range(STEPS):
        total, count = 0, 0
        for sequence in sequences:
            tokens = torch.tensor([sequence])
            logits = model(input_ids=tokens).logits[0, prompt - 1:-1]
            total = total + torch.nn.functional.cross_entropy(logits, tokens[0, prompt:], reduction="sum")
            count += len(sequence) - prompt
        loss = total / count
        optimizer.zero_grad()
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), GRAD_CLIP).item())
        losses.append(loss.item())
        optimizer.step()
    path.write_text(json.dumps(dict(prompt_tokens=prompt, sequences=sequences, lr=OPTIMIZER["lr"], beta1=0.9, beta2=0.95,
                                    weight_decay=WEIGHT_DECAY, grad_clip=GRAD_CLIP, losses=losses, grad_norms=norms)) + "\n")


def main():
    target = pathlib.Path(sys.argv[1])
    torch.manual_seed(5)
    for name, (kind, config) in MODELS.items():
        folder = target / name
        folder.mkdir(parents=True, exist_ok=True)
        model = random_model(kind, config)
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        write_truth(folder, model)
        if name == "llama":
            write_training(folder / "training.json", model)


if __name__ == "__main__":
    main()
