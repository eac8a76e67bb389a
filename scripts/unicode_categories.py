#!/usr/bin/env python3
"""Prints plugins/policies/tokenizer/newer_characters.inc: the characters whose general category is known to
the pinned `tokenizers` library but not to Unicode 14, the version of PCRE2 in Debian 12.

    PYTHONPATH=.deps/python scripts/unicode_categories.py

Needs a Python whose unicodedata is Unicode 14 (3.11) and the `tokenizers` package.
"""

import sys
import unicodedata

import tokenizers
from tokenizers import Regex
from tokenizers.pre_tokenizers import Digits, Split

CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So".split()
BLOCK = 4096


def unassigned():
    surrogates = range(0xD800, 0xE000)
    return [c for c in range(0x110000) if c not in surrogates and unicodedata.category(chr(c)) == "Cn"]


def taken_by(splitter, characters):
    """Those of `characters` that `splitter` removes from a text."""
    taken = []
    for start in range(0, len(characters), BLOCK):
        block = characters[start : start + BLOCK]
        kept = set()
        for _, (begin, end) in splitter.pre_tokenize_str("".join(map(chr, block))):
            kept.update(range(begin, end))
        taken += [c for i, c in enumerate(block) if i not in kept]
    return taken


def ranges(characters):
    found = []
    for c in characters:
        if found and found[-1][1] == c - 1:
            found[-1][1] = c
        else:
            found.append([c, c])
    return found


def digits(characters):
    """Those that Digits takes for digits, which has a Unicode of its own."""
    splitter = Digits(individual_digits=True)
    return [c for c in characters if len(splitter.pre_tokenize_str("a" + chr(c))) == 2]


def main():
    if unicodedata.unidata_version != "14.0.0":
        sys.exit(f"unicode_categories.py: needs Unicode 14, but this Python has {unicodedata.unidata_version}")
    new = unassigned()
    rows, numbers = [], set()
    for category in CATEGORIES:
        taken = taken_by(Split(Regex(r"\p{%s}" % category), "removed"), new)
        rows += [(first, last, category) for first, last in ranges(taken)]
        numbers.update(taken if category[0] == "N" else [])
    for first, last in ranges([c for c in digits(new) if c not in numbers]):
        rows.append((first, last, "digit"))
    print(f"// Made by scripts/unicode_categories.py from tokenizers {tokenizers.__version__}.")
    print("// clang-format off")
    for first, last, category in sorted(rows):
        print(f'{{0x{first:05X}, 0x{last:05X}, "{category}"}},')


if __name__ == "__main__":
    main()
