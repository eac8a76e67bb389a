#!/usr/bin/env python3
"""Makes a Hugging Face directory from a GGUF file of a Llama model with the tokenizer of SmolLM, or of a Qwen2 model.

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

NORMAL_TOKEN, CONTROL_TOKEN, ADDED_TOKEN, UNUSED_TOKEN = 1, 3, 4, 5  # of tokenizer.ggml.token_type

# Qwen2's split of a text into words, as its tokenizer.json has it.
QWEN2_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# GGUF's name of a tensor -> Hugging Face's; {} is the layer.
MODEL_TENSORS = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
}
HEAD_TENSORS = {"output.weight": "lm_head.weight"}  # where it is not the embedding

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
BIAS_TENSORS = {
    "blk.{}.attn_q.bias": "model.layers.{}.self_attn.q_proj.bias",
    "blk.{}.attn_k.bias": "model.layers.{}.self_attn.k_proj.bias",
    "blk.{}.attn_v.bias": "model.layers.{}.self_attn.v_proj.bias",
}

CLASSES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM"}


class Metadata:
    """The key-value part of the file."""

    def __init__(self, reader):
        self._fields = reader.fields

    def __contains__(self, key):
        return key in self._fields

    def get(self, key):
        if key not in self._fields:
            raise ValueError(f"the file has no '{key}'")
        return self._fields[key].contents()

    def require(self, key, expected):
        found = self.get(key)
        if found != expected:
            raise ValueError(f"'{key}' is {found!r}; only {expected!r} is understood")


def model_config(metadata, tied):
    family = metadata.get("general.architecture")
    if family not in CLASSES:
        raise ValueError(f"'general.architecture' is {family!r}; only {sorted(CLASSES)} are understood")
    of_model = lambda key: metadata.get(f"{family}.{key}")
    hidden, heads = of_model("embedding_length"), of_model("attention.head_count")
    if f"{family}.rope.dimension_count" in metadata:
        metadata.require(f"{family}.rope.dimension_count", hidden // heads)
    return {
        "architectures": [CLASSES[family]],
        "model_type": family,
        "vocab_size": len(metadata.get("tokenizer.ggml.tokens")),
        "hidden_size": hidden,
        "intermediate_size": of_model("feed_forward_length"),
        "num_hidden_layers": of_model("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": of_model("attention.head_count_kv"),
        "head_dim": hidden // heads,
        "hidden_act": "silu",
        "attention_bias": family == "qwen2",
        "mlp_bias": False,
        "max_position_embeddings": of_model("context_length"),
        # Stored as float32: the shortest decimal that is this float32 is what was meant.
        "rms_norm_eps": float(str(numpy.float32(of_model("attention.layer_norm_rms_epsilon")))),
        "rope_theta": of_model("rope.freq_base"),
        "rope_scaling": None,
        "tie_word_embeddings": tied,
        "bos_token_id": metadata.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": metadata.get("tokenizer.ggml.eos_token_id"),
        "pad_token_id": metadata.get("tokenizer.ggml.padding_token_id"),
        "torch_dtype": "bfloat16",
    }


def added_token(index, text, special):
    return {
        "id": index,
        "content": text,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": special,
    }


def byte_level(use_regex):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def pre_tokenizer(metadata):
    """The normalizer and the pre-tokenizer that the file names."""
    name = metadata.get("tokenizer.ggml.pre")
    if name == "smollm":  # each digit alone, then GPT-2's split
        normalizer, first, second = None, {"type": "Digits", "individual_digits": True}, byte_level(True)
    elif name == "qwen2":
        pattern = {"type": "Split", "pattern": {"Regex": QWEN2_SPLIT}, "behavior": "Isolated", "invert": False}
        normalizer, first, second = {"type": "NFC"}, pattern, byte_level(False)
    else:
        raise ValueError(f"'tokenizer.ggml.pre' is {name!r}; only 'smollm' and 'qwen2' are understood")
    return normalizer, {"type": "Sequence", "pretokenizers": [first, second]}


def tokenizer(metadata):
    metadata.require("tokenizer.ggml.model", "gpt2")
    for absent in ("tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_space_prefix"):
        if absent in metadata:
            metadata.require(absent, False)
    tokens = metadata.get("tokenizer.ggml.tokens")
    types = metadata.get("tokenizer.ggml.token_type")
    unknown = sorted(set(types) - {NORMAL_TOKEN, CONTROL_TOKEN, ADDED_TOKEN, UNUSED_TOKEN})
    if len(tokens) != len(set(tokens)) or len(tokens) != len(types) or unknown:
        raise ValueError(f"the token list has duplicates, types missing, or types {unknown}")
    normalizer, steps = pre_tokenizer(metadata)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            added_token(i, text, types[i] == CONTROL_TOKEN)
            for i, text in enumerate(tokens)
            if types[i] in (CONTROL_TOKEN, ADDED_TOKEN)
        ],
        "normalizer": normalizer,
        "pre_tokenizer": steps,
        "post_processor": None,
        "decoder": byte_level(True),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {text: i for i, text in enumerate(tokens) if types[i] in (NORMAL_TOKEN, CONTROL_TOKEN)},
            "merges": [merge.split(" ") for merge in metadata.get("tokenizer.ggml.merges")],
        },
    }


def tokenizer_config(metadata, config):
    tokens = metadata.get("tokenizer.ggml.tokens")
    named = {"bos_token": "bos", "eos_token": "eos", "pad_token": "padding", "unk_token": "unknown"}
    keys = {name: f"tokenizer.ggml.{key}_token_id" for name, key in named.items()}
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": config["max_position_embeddings"],
        "clean_up_tokenization_spaces": False,
        **{name: tokens[metadata.get(key)] for name, key in keys.items() if key in metadata},
        "chat_template": metadata.get("tokenizer.chat_template"),
    }


def generation_config(config):
    return {key: config[key] for key in ("bos_token_id", "eos_token_id", "pad_token_id")}


def tensor_names(config):
    names = dict(MODEL_TENSORS) | ({} if config["tie_word_embeddings"] else HEAD_TENSORS)
    in_layer = LAYER_TENSORS | (BIAS_TENSORS if config["attention_bias"] else {})
    for layer in range(config["num_hidden_layers"]):
        names.update({gguf_name.format(layer): name.format(layer) for gguf_name, name in in_layer.items()})
    return names


def tensor_shape(name, config):
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    key_value = config["num_key_value_heads"] * config["head_dim"]
    shapes = {
        "embed_tokens": (config["vocab_size"], hidden),
        "lm_head": (config["vocab_size"], hidden),
        "q_proj": (hidden, hidden),
        "k_proj": (key_value, hidden),
        "v_proj": (key_value, hidden),
        "o_proj": (hidden, hidden),
        "gate_proj": (inner, hidden),
        "up_proj": (inner, hidden),
        "down_proj": (hidden, inner),
    }
    shape = shapes.get(name.split(".")[-2], (hidden,))  # the others are norms
    return shape[:1] if name.endswith(".bias") else shape


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
    names = tensor_names(config)
    found = {tensor.name for tensor in reader.tensors}
    if found != set(names):
        raise ValueError(f"tensors missing or not understood: {sorted(found ^ set(names))[:5]}")
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}
    if config["model_type"] != "llama":  # the others turn the halves in llama.cpp as well
        heads = {}
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
    config = model_config(metadata, tied=all(tensor.name not in HEAD_TENSORS for tensor in reader.tensors))
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    write_json(partial / "config.json", config)
    write_json(partial / "generation_config.json", generation_config(config))
    write_json(partial / "tokenizer.json", tokenizer(metadata))
    write_json(partial / "tokenizer_config.json", tokenizer_config(metadata, config))
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
