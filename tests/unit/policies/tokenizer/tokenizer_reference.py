#!/usr/bin/env python3
"""Makes what tokenizer_truth_test.cpp compares with: a corpus, a tokenizer, and its ids by the `tokenizers` library.

    tokenizer_reference.py KIND SOURCES OUT [tokenizer.json]

KIND names the tokenizer: llama3 and qwen are trained here on part of the corpus, with these families' split patterns;
with `file` it is the one given. SOURCES is this repository. Writes into the directory OUT, numbers as little-endian uint32:

    tokenizer.json
    text.bin      each line of the corpus: its size in bytes, the bytes; the number of ids, the ids
    tokens.bin    the same of lines with a '<', where the names of special tokens are these tokens, and with
                  the tokens that the file adds to a text
    decoded.bin   what random ids decode to: the size in bytes, the bytes; the number of ids, the ids

Exits with 77 if the `tokenizers` package is missing. The same everywhere but for the files of the machine.
"""

import random
import struct
import sys
import unicodedata
from pathlib import Path

try:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
except ImportError:
    sys.exit(77)

LLAMA3_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_SPLIT = LLAMA3_SPLIT.replace("{1,3}", "")
VOCABULARY = 6000
TRAINING_LINES = 30_000

SEPARATORS = ["", "", "", " ", "  ", "a", "Z", "1", "'s", "'LL", "\n", "\r\n", "\t", "!", "\u0301", "\u200d"]
SPACES = ["\t", "\n", "\v", "\f", "\r", "\x1c", "\x1f", " ", "\x85", "\xa0", "\u1680", "\u180e", "\u2000", "\u200a", "\u200b"]
SPACES += ["\u2028", "\u2029", "\u202f", "\u205f", "\u2060", "\u3000", "\ufeff"]
WORDS = "the kernel reads each element once; it's they'll WE'RE I'D naïve façade Straße İstanbul ſ'ſ K'K 'ſ 'K don\u2019t".split()
WORDS += "これは 試験 です 한국어 문장 Привет мир שלום مرحبا नमस्ते ภาษาไทย Ελληνικά ქართული ಕನ್ನಡ".split()
WORDS += "12 345 6789 1234567890 ٣٤٥ ४५६ Ⅻ ½ ² 0x1F 3.14e-5 float4 __syncthreads() threadIdx.x <<<grid,block>>>".split()
EMOJI = ["😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪", "❤️", "1️⃣", "🫨", "🪿", "☕", "🧑🏿‍🚀"]
# Names that the tokenizers have or nearly have.
NAMES = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|begin_of_text|>", "<|eot_id|>", "<think>", "</think>", "<tool_call>"]
NAMES += ["<|im_end", "<|im_|im_end|>", "<<|im_end|>>", "<|endoftext|", "<file_sep>", "<reponame>", "<filename>"]


def every_character(source):
    """All characters of the planes 0 to 3 and 14, eight neighbours a line, in changing company."""
    planes = [*range(0x40000), *range(0xE0000, 0xE1000)]
    characters = [c for c in planes if not 0xD800 <= c < 0xE000]
    for start in range(0, len(characters), 8):
        yield "".join(chr(c) + source.choice(SEPARATORS) for c in characters[start : start + 8])
    for _ in range(2000):
        yield "".join(chr(source.randrange(0x40000, 0x110000)) for _ in range(8))


def marks(source):
    """Letters with marks, composed and not: what normal form C changes."""
    marks = [chr(c) for c in range(0x20000) if unicodedata.combining(chr(c))]
    composed = [chr(c) for c in range(0x30000) if unicodedata.decomposition(chr(c))]
    for _ in range(15_000):
        letter = source.choice(composed) if source.random() < 0.7 else source.choice("aeiouAEIOUncs")
        form = source.choice(["NFC", "NFD", "NFKD"])
        yield unicodedata.normalize(form, letter) + "".join(source.choices(marks, k=source.randrange(4))) + "x"


def mixtures(source):
    """Words, spaces of all kinds, digits, emoji, control characters and names of special tokens."""
    for _ in range(60_000):
        parts = []
        for _ in range(source.randrange(1, 12)):
            kind = source.random()
            if kind < 0.5:
                parts.append(source.choice(WORDS))
            elif kind < 0.75:
                parts.append("".join(source.choices(SPACES if source.random() < 0.3 else " \n", k=source.randrange(1, 5))))
            elif kind < 0.85:
                parts.append(source.choice(EMOJI))
            elif kind < 0.95:
                parts.append(chr(source.randrange(32)) + source.choice(WORDS))
            else:
                parts.append(source.choice(NAMES))
        yield source.choice(["", " "]).join(parts)


def broken(source, lines):
    """Bytes that are no UTF-8: random ones, and texts with bytes changed, dropped and added."""
    for _ in range(10_000):
        yield bytes(source.choices(range(256), k=source.randrange(24)))
    for line in source.sample(lines, 20_000):
        data = bytearray(line.encode())
        for _ in range(source.randrange(1, 4)):
            at = source.randrange(len(data) + 1)
            data[at : at + source.randrange(2)] = source.choice([b"", b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f", b"\xed\xa0\x80", b"\xff"])
        yield bytes(data)


def files(folder, patterns, most):
    """Lines of files, and every tenth file whole."""
    lines = []
    for path in sorted(p for pattern in patterns for p in Path(folder).rglob(pattern) if p.is_file()):
        text = path.read_bytes().decode("utf-8", errors="replace")
        lines += [text] if len(lines) % 10 == 0 and len(text) < 100_000 else text.splitlines(keepends=True)
        if len(lines) > most:
            break
    return lines[:most]


def make_corpus(sources):
    """All lines, as bytes."""
    source = random.Random(20261122)
    code = [line for folder in ("core", "plugins", "sdk", "tests") for line in files(f"{sources}/{folder}", ["*.?pp", "*.h", "*.py", "*.md", "*.toml"], 30_000)]
    prose = files("/usr/share/common-licenses", ["*"], 10_000)
    standard = files(Path(random.__file__).parent, ["*.py"], 60_000)
    texts = [*every_character(source), *marks(source), *mixtures(source), *code, *prose, *standard]
    texts += [" " * 3000, "\n" * 3000, " \n" * 2000, "a" * 5000, "ab" * 3000, "🧵" * 500, "9" * 2000, ""]
    return [text.encode() for text in texts] + list(broken(source, texts))


def special(content):
    return AddedToken(content, special=True, normalized=False)


def plain(content):
    return AddedToken(content, special=False, normalized=False)


def train(kind, lines):
    """A tokenizer built as Llama 3's or Qwen's is, with merges learned from `lines`."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=kind == "llama3"))
    split = pre_tokenizers.Split(Regex(LLAMA3_SPLIT if kind == "llama3" else QWEN_SPLIT), "isolated", invert=False)
    bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, bytes_only])
    tokenizer.decoder = decoders.ByteLevel()
    if kind == "qwen":
        tokenizer.normalizer = normalizers.NFC()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False
    )
    tokenizer.train_from_iterator(lines, trainer)
    if kind == "llama3":
        names = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>"]
        tokenizer.add_special_tokens([special(name) for name in names])
        begin = "<|begin_of_text|>"
        template = processors.TemplateProcessing(
            single=f"{begin} $A", pair=f"{begin} $A {begin} $B:1", special_tokens=[(begin, tokenizer.token_to_id(begin))]
        )
        tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), template])
    else:
        tokenizer.add_special_tokens([special(name) for name in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")])
        tokenizer.add_tokens([plain(name) for name in ("<tool_call>", "</tool_call>", "<think>", "</think>")])
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def numbers(values):
    return struct.pack(f"<{len(values) + 1}I", len(values), *values)


def sized(data):
    return struct.pack("<I", len(data)) + data


def write_ids(path, tokenizer, lines, add_special_tokens):
    texts = [line.decode("utf-8", errors="replace") for line in lines]
    with open(path, "wb") as file:
        for line, encoding in zip(lines, tokenizer.encode_batch_fast(texts, add_special_tokens=add_special_tokens)):
            file.write(sized(line) + numbers(encoding.ids))


def write_decoded(path, tokenizer):
    source = random.Random(7)
    with open(path, "wb") as file:
        for _ in range(5000):
            ids = [source.randrange(tokenizer.get_vocab_size()) for _ in range(source.randrange(1, 20))]
            text = tokenizer.decode(ids, skip_special_tokens=True).encode()
            file.write(sized(text) + numbers(ids))


def main():
    kind, sources, out = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    lines = make_corpus(sources)
    if kind == "file":
        tokenizer = Tokenizer.from_file(sys.argv[4])
    else:
        sample = random.Random(1).sample(lines, TRAINING_LINES)
        tokenizer = train(kind, [line.decode("utf-8", errors="replace") for line in sample])
    tokenizer.save(str(out / "tokenizer.json"))
    tokenizer.encode_special_tokens = True
    write_ids(out / "text.bin", tokenizer, lines, add_special_tokens=False)
    tokenizer.encode_special_tokens = False
    write_ids(out / "tokens.bin", tokenizer, [line for line in lines if b"<" in line], add_special_tokens=True)
    write_decoded(out / "decoded.bin", tokenizer)


if __name__ == "__main__":
    main()
