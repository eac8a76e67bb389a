#!/usr/bin/env python3
"""Makes what wordpiece_truth_test.cpp compares with: a corpus, a BERT tokenizer, and its ids by the `tokenizers` library.

    wordpiece_reference.py KIND SOURCES OUT [tokenizer.json]

KIND: `uncased` and `cased` are trained here on part of the corpus of tokenizer_reference.py; with `file` it is the one given.
SOURCES is this repository. Writes into the directory OUT, numbers as little-endian uint32:

    tokenizer.json, vocab.txt
    text.bin          each text of the corpus: its size in bytes, the bytes; the number of ids, the ids
    short.bin         the same, cut off after 16 ids

Exits with 77 if the `tokenizers` package is missing.
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(sys.argv[2]) / "tests/unit/policies/tokenizer"))
import tokenizer_reference as corpus  # noqa: E402

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402

VOCABULARY = 8000
TRAINING_LINES = 30_000
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def more_lines(source):
    """What is special to BERT: every character alone between letters, long words, names of special tokens, accents."""
    for c in range(0x110000):
        if not 0xD800 <= c < 0xE000 and (c < 0x32000 or source.random() < 0.02):
            yield f"Ab{chr(c)}cD {chr(c)}"
    for size in (98, 99, 100, 101, 102, 300):
        yield "a" * size
        yield "é" * size + " b"
    for _ in range(3000):
        yield "".join(source.choices(SPECIAL + ["[sep]", "[ SEP]", "[[SEP]]", " ", "word", "É", "行", "\u0301", "##ing", "I\u0307"], k=6))
    for _ in range(3000):
        yield "".join(source.choices("AaÅåÇçŁłØøßẞİıΣσςЙйＡａﬁ", k=12))


def train(cased, lines):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=not cased)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL, limit_alphabet=3000, show_progress=False)
    tokenizer.train_from_iterator(lines, trainer)
    ids = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    if cased:
        tokenizer.post_processor = processors.BertProcessing(ids[1], ids[0])
    else:
        tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids)
    return tokenizer


def main():
    kind, sources, out = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    lines = corpus.make_corpus(sources)
    lines += [line.encode() for line in more_lines(random.Random(20261125))]
    if kind == "file":
        tokenizer = Tokenizer.from_file(sys.argv[4])
    else:
        sample = random.Random(1).sample(lines, TRAINING_LINES)
        tokenizer = train(kind == "cased", [line.decode("utf-8", errors="replace") for line in sample])
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(out / "tokenizer.json"))
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])
    (out / "vocab.txt").write_text("".join(token + "\n" for token, _ in vocabulary))
    corpus.write_ids(out / "text.bin", tokenizer, lines, add_special_tokens=True)
    tokenizer.enable_truncation(16)
    corpus.write_ids(out / "short.bin", tokenizer, lines[::10], add_special_tokens=True)


if __name__ == "__main__":
    main()
