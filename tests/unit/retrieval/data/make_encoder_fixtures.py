"""Makes the fixtures of text_encoder_test.cpp: small random BERT encoders in the layout of sentence-transformers, with the
vectors that sentence-transformers computes for some texts. Needs torch, transformers (4.57) and sentence-transformers (5.1):

    python tests/unit/retrieval/data/make_encoder_fixtures.py tests/unit/retrieval/data
    python tests/unit/retrieval/data/make_encoder_fixtures.py --minilm MODEL tests/unit/retrieval/data/minilm.json

The second writes those of a real model.
"""

import json
import pathlib
import shutil
import sys

import torch
from sentence_transformers import SentenceTransformer, models
from transformers import BertConfig, BertModel, BertTokenizer, BertTokenizerFast

SHAPE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, max_position_embeddings=40)
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
WORDS = "the kernel each row sum of block thread float for int return global void softmax max é 行 列".split()
PIECES = "ing s er ed ize fl oat loat ad hread lock um row max id x idx dim".split()
TEXTS = [
    "",
    "the kernel",
    "The sum of each row, by one block: softmaxing Rows!",
    "__global__ void row_sum(const float* x, float* y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i]; }",
    "Café 行列 naïve \u0130stanbul \U0001F9F5 [SEP] [MASK]",
    "a much longer text " * 20,
    "\x00\x01 \t\n  tabs\u200band\ufeffmarks\u2028 \u00a0",
]


def vocabulary(cased):
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = LETTERS + (LETTERS[:26].upper() if cased else "")
    tokens = special + list(letters) + ["##" + c for c in letters] + list("!()*+,-./:;<=>?[]_{}&|") + WORDS
    tokens += ["##" + piece for piece in PIECES] + (["The", "Rows", "Café"] if cased else ["cafe", "rows"])
    return list(dict.fromkeys(tokens))


def random_weights(model):
    """Large enough that every part of the model matters to the answer."""
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2:
            torch.nn.init.normal_(parameter, std=1.5 / parameter.shape[1] ** 0.5)
        elif name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.5)
        else:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)


def make(folder, cased, pooling, normalise, prompts):
    shutil.rmtree(folder, ignore_errors=True)
    plain = folder / "plain"
    plain.mkdir(parents=True)
    tokens = vocabulary(cased)
    (plain / "vocab.txt").write_text("\n".join(tokens) + "\n")
    BertTokenizerFast(vocab_file=str(plain / "vocab.txt"), do_lower_case=not cased).save_pretrained(plain)
    model = BertModel(BertConfig(vocab_size=len(tokens), **SHAPE), add_pooling_layer=False)
    random_weights(model)
    model.save_pretrained(plain)
    modules = [models.Transformer(str(plain), max_seq_length=24), models.Pooling(SHAPE["hidden_size"], pooling_mode=pooling)]
    encoder = SentenceTransformer(modules=modules + [models.Normalize()] * normalise, prompts=prompts, device="cpu")
    encoder.save_pretrained(str(folder), create_model_card=False)
    shutil.rmtree(plain)
    if cased:  # as older models: without tokenizer.json
        (folder / "vocab.txt").write_text("\n".join(tokens) + "\n")
        (folder / "tokenizer.json").unlink()
    write_truth(folder, folder / "truth.json", TEXTS)


def write_truth(model, path, texts):
    encoder = SentenceTransformer(str(model), device="cpu")

    def rows(vectors):
        return [[round(float(x), 8) for x in vector] for vector in vectors]

    truth = dict(texts=texts, max_tokens=encoder.max_seq_length, documents=rows(encoder.encode_document(texts, batch_size=3)))
    if encoder.prompts.get("query"):
        truth["queries"] = rows(encoder.encode_query(texts))
    path.write_text(json.dumps(truth, ensure_ascii=True) + "\n")


def main():
    if sys.argv[1] == "--minilm":
        return write_truth(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), TEXTS)
    torch.manual_seed(20261125)
    out = pathlib.Path(sys.argv[1])
    make(out / "mean_uncased", cased=False, pooling="mean", normalise=True, prompts={})
    make(out / "cls_cased", cased=True, pooling="cls", normalise=False, prompts={"query": "the row: ", "document": ""})


if __name__ == "__main__":
    main()
