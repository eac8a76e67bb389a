"""Makes the fixtures of export_test.cpp: adapters on the models of make_model_fixtures.py, as `peft` saves them, with the
logits that `peft` computes in float32 after it has loaded them again. Needs torch, transformers, peft and safetensors:

    cd tests/unit/policies/data && python make_adapter_fixtures.py
"""

import pathlib

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

LENGTH = 12
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
ADAPTERS = {
    "llama3_untied": dict(r=4, lora_alpha=8, lora_dropout=0.0, target_modules=ALL),
    "qwen2": dict(r=3, lora_alpha=7.5, lora_dropout=0.0, target_modules=["q_proj", "v_proj"]),
    "qwen3": dict(r=2, lora_alpha=16, lora_dropout=0.25, target_modules=["o_proj", "gate_proj", "down_proj"]),
}


def base_model(name):
    return AutoModelForCausalLM.from_pretrained(f"models/{name}", dtype=torch.float32, attn_implementation="eager")


def main():
    torch.manual_seed(7)
    for name, options in ADAPTERS.items():
        folder = pathlib.Path("adapters") / name
        model = get_peft_model(base_model(name), LoraConfig(task_type="CAUSAL_LM", **options))
        for parameter_name, parameter in model.named_parameters():
            if "lora_" in parameter_name:
                torch.nn.init.normal_(parameter, std=0.3)
        model.save_pretrained(folder)
        (folder / "README.md").unlink()  # a model card

        loaded = PeftModel.from_pretrained(base_model(name), folder).eval()
        tokens = torch.randint(0, loaded.config.vocab_size, (1, LENGTH))
        with torch.no_grad():
            logits = loaded(input_ids=tokens).logits[0]
        without = base_model(name)(input_ids=tokens).logits[0]
        print(name, "adapters move logits by up to", (logits - without).abs().max().item())
        save_file({"tokens": tokens[0].to(torch.int32), "logits": logits.contiguous()}, folder / "truth.safetensors")


if __name__ == "__main__":
    main()
