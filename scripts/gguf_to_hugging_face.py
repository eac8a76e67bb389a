#!/usr/bin/env python3
"""Makes a Hugging Face directory from a GGUF file of a Llama model with the tokenizer of SmolLM.

    gguf_to_hugging_face.py FILE.gguf DIRECTORY

Everything is taken from the file; unknown contents are refused. The weights are dequantised and written as
bfloat16. Needs the PyPI packages gguf and numpy. The directory is created completely or not at all.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import gguf
import numpy

NORMAL_TOKEN, CONTROL_TOKEN = 1, 3  # of tokenizer.ggml.token_type

# GGUF's name of a tensor -> Hugging Face's; {} is the layer.
MODEL_TENSORS = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
}
LAYER_TENSORS = {
    "blk.{}.attn_norm.weight": "model.layers.{}.input_layernorm.weight",
    "blk.{}.attn_q.weight": "model.layers.{}.self_attn.q_proj.weight",
    "blk.{}.attn_k.weight": "model.layers.{}.self_attn.k_proj.weight",
    "blk.{}.attn_v.weight": "model.layers.{}.self_attn.v_proj.weight",
    "blk.{}.attn_output.weight": "model.layers.{}.self_attn.o_proj.weight",
    "blk.{}.ffn_norm.weight": "model.layers.{}.post_attention_layernorm.weight",
    "blk.{}.ffn_gate.weight": "model.layers.{}.mlp.gate_proj.weight",
    "blk.{}.ffn_up.weight": "model.layers.{}.mlp.up_proj.weight",
    "blk.{}.ffn_down.weight": "model.layers.{}.mlp.down_proj.weight",
}


class Metadata:
    """The key-value part of the file."""

    def __init__(self, reader):
        self._fields = reader.fields

    def get(self, key):
        if key not in self._fields:
            raise ValueError(f"the file has no '{key}'")
        return self._fields[key].contents()

    def require(self, key, expected):
        found = self.get(key)
        if found != expected:
            raise ValueError(f"'{key}' is {found!r}; only {expected!r} is understood")


def model_config(metadata):
    metadata.require("general.architecture", "llama")
    hidden = metadata.get("llama.embedding_length")
    heads = metadata.get("llama.attention.head_count")
    metadata.require("llama.rope.dimension_count", hidden // heads)
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": metadata.get("llama.vocab_size"),
        "hidden_size": hidden,
        "intermediate_size": metadata.get("llama.feed_forward_length"),
        "num_hidden_layers": metadata.get("llama.block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": metadata.get("llama.attention.head_count_kv"),
        "head_dim": hidden // heads,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "max_position_embeddings": metadata.get("llama.context_length"),
        # Stored as float32: the shortest decimal that is this float32 is what was meant.
        "rms_norm_eps": float(str(numpy.float32(metadata.get("llama.attention.layer_norm_rms_epsilon")))),
        "rope_theta": metadata.get("llama.rope.freq_base"),
        "rope_scaling": None,
        "tie_word_embeddings": True,  # there is no output.weight: read_tensors() refuses one
        "bos_token_id": metadata.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": metadata.get("tokenizer.ggml.eos_token_id"),
        "pad_token_id": metadata.get("tokenizer.ggml.padding_token_id"),
        "torch_dtype": "bfloat16",
    }


def special_token(index, text):
    return {
        "id": index,
        "content": text,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }


def tokenizer(metadata):
    metadata.require("tokenizer.ggml.model", "gpt2")
    metadata.require("tokenizer.ggml.pre", "smollm")  # each digit alone, then GPT-2's split
    metadata.require("tokenizer.ggml.add_bos_token", False)
    metadata.require("tokenizer.ggml.add_space_prefix", False)
    tokens = metadata.get("tokenizer.ggml.tokens")
    types = metadata.get("tokenizer.ggml.token_type")
    unknown = sorted(set(types) - {NORMAL_TOKEN, CONTROL_TOKEN})
    if len(tokens) != len(set(tokens)) or len(tokens) != len(types) or unknown:
        raise ValueError(f"the token list has duplicates, types missing, or types {unknown}")
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    digits = {"type": "Digits", "individual_digits": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special_token(i, text) for i, text in enumerate(tokens) if types[i] == CONTROL_TOKEN],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits, byte_level]},
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {text: i for i, text in enumerate(tokens)},
            "merges": [merge.split(" ") for merge in metadata.get("tokenizer.ggml.merges")],
        },
    }


def tokenizer_config(metadata):
    tokens = metadata.get("tokenizer.ggml.tokens")
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": metadata.get("llama.context_length"),
        "clean_up_tokenization_spaces": False,
        "bos_token": tokens[metadata.get("tokenizer.ggml.bos_token_id")],
        "eos_token": tokens[metadata.get("tokenizer.ggml.eos_token_id")],
        "pad_token": tokens[metadata.get("tokenizer.ggml.padding_token_id")],
        "unk_token": tokens[metadata.get("tokenizer.ggml.unknown_token_id")],
        "chat_template": metadata.get("tokenizer.chat_template"),
    }


def generation_config(config):
    return {key: config[key] for key in ("bos_token_id", "eos_token_id", "pad_token_id")}


def tensor_names(layers):
    names = dict(MODEL_TENSORS)
    for layer in range(layers):
        names.update({gguf_name.format(layer): name.format(layer) for gguf_name, name in LAYER_TENSORS.items()})
    return names


def tensor_shape(name, config):
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    key_value = config["num_key_value_heads"] * config["head_dim"]
    shapes = {
        "embed_tokens": (config["vocab_size"], hidden),
        "q_proj": (hidden, hidden),
        "k_proj": (key_value, hidden),
        "v_proj": (key_value, hidden),
        "o_proj": (hidden, hidden),
        "gate_proj": (inner, hidden),
        "up_proj": (inner, hidden),
        "down_proj": (hidden, inner),
    }
    return shapes.get(name.split(".")[-2], (hidden,))  # the others are norms


def unpermuted(weight, heads):
    """llama.cpp turns neighbouring pairs of a head's rows, Hugging Face a row of the first half with one of the second:
    the conversion to GGUF interleaves the halves, and this undoes it."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def as_bfloat16(values):
    """The bits of float32 `values` rounded to bfloat16, ties to even."""
    bits = numpy.ascontiguousarray(values, dtype="<f4").view("<u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def read_tensors(reader, config):
    """Hugging Face's name -> bfloat16 bits, in the order of the names."""
    names = tensor_names(config["num_hidden_layers"])
    found = {tensor.name for tensor in reader.tensors}
    if found != set(names):
        raise ValueError(f"tensors missing or not understood: {sorted(found ^ set(names))[:5]}")
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}
    tensors = {}
    for tensor in reader.tensors:
        name = names[tensor.name]
        weight = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        if weight.shape != tensor_shape(name, config) or not numpy.isfinite(weight).all():
            raise ValueError(f"{tensor.name} has shape {weight.shape} or values that are not finite")
        kind = name.split(".")[-2]
        tensors[name] = as_bfloat16(unpermuted(weight, heads[kind]) if kind in heads else weight)
    return dict(sorted(tensors.items()))


def write_safetensors(path, tensors):
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, bits in tensors.items():
        header[name] = {"dtype": "BF16", "shape": list(bits.shape), "data_offsets": [offset, offset + bits.nbytes]}
        offset += bits.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for bits in tensors.values():
            file.write(bits.tobytes())


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def convert(source, target):
    reader = gguf.GGUFReader(source)
    metadata = Metadata(reader)
    config = model_config(metadata)
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    write_json(partial / "config.json", config)
    write_json(partial / "generation_config.json", generation_config(config))
    write_json(partial / "tokenizer.json", tokenizer(metadata))
    write_json(partial / "tokenizer_config.json", tokenizer_config(metadata))
    write_safetensors(partial / "model.safetensors", read_tensors(reader, config))
    os.rename(partial, target)
    print(f"{target}: {config['num_hidden_layers']} layers, {config['vocab_size']} tokens")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        convert(sys.argv[1], Path(sys.argv[2]))
    except (OSError, ValueError) as error:
        sys.exit(f"gguf_to_hugging_face.py: {sys.argv[1]}: {error}")


if __name__ == "__main__":
    main()
