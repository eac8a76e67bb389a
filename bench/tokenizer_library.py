#!/usr/bin/env python3
"""Encodes files with the `tokenizers` library on one thread; for tokenizer_bench.

    tokenizer_library.py tokenizer.json FILE...

Prints the seconds of the processor that encoding took, and the number of tokens.
"""

import os
import sys
import time
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Tokenizer


def main():
    tokenizer = Tokenizer.from_file(sys.argv[1])
    tokenizer.encode_special_tokens = True
    texts = [Path(path).read_bytes().decode("utf-8", errors="replace") for path in sys.argv[2:]]
    start = time.process_time()
    tokens = sum(len(encoding.ids) for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False))
    print(time.process_time() - start, tokens)


if __name__ == "__main__":
    main()
