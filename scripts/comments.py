#!/usr/bin/env python3
"""Finds comments in the C++ and CUDA sources that begin like a fragment: "Of a launch.", "What it returns.".

usage: scripts/comments.py [FILE…]        all sources of http, core, service, cli, plugins and sdk/include without FILE
A comment is a sentence, a description that begins with a verb or a noun, or a short note behind code.
Prints the fragments and their share, and fails, if there are any. Comments that begin with NOLINT or "namespace" do not count.
"""
import os
import re
import subprocess
import sys

FOLDERS = ["http", "core", "service", "cli", "plugins", "sdk/include"]
SOURCE = re.compile(r"\.(cpp|hpp|h|cu|inc)$")
FRAGMENT = re.compile(r"(of|what|whatever|those|whether|which|whose|who|whoever|that of|that which)\b")
LINE = re.compile(r"(?P<code>(?:[^\"/]|/(?!/)|\"(?:[^\"\\]|\\.)*\")*?)//+ ?(?P<text>.*)")


def comments(lines):
    """Yields the line number and text of each comment, without raw strings; a block counts once."""
    raw, block = None, False
    for number, line in enumerate(lines, 1):
        if raw:
            raw = None if raw in line else raw
            continue
        match = LINE.match(line)
        is_block = match is not None and not match["code"].strip()
        if match and not (is_block and block):
            yield number, match["text"].strip()
        block = match is not None  # a note behind code may go on below it
        opened = re.search(r'R"([^(\s"]*)\((?!.*\)\1")', match["code"] if match else line)
        raw = f'){opened[1]}"' if opened else None


def main():
    paths = sys.argv[1:]
    if not paths:
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *FOLDERS]
        listed = subprocess.run(command, capture_output=True, text=True, check=True)
        paths = [path for path in listed.stdout.splitlines() if SOURCE.search(path) and os.path.exists(path)]
    total = fragments = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for number, text in comments(file.read().splitlines()):
                if not re.match(r"[A-Za-z`]", text) or text.startswith(("namespace", "NOLINT")):
                    continue
                total += 1
                if FRAGMENT.match(text[:1].lower() + text[1:]):
                    fragments += 1
                    print(f"{path}:{number}: error: the comment begins like a fragment: {text}")
    if fragments:
        print(f"{fragments} of {total} comments ({100 * fragments / total:.1f} %) begin like fragments")
    return fragments > 0


if __name__ == "__main__":
    sys.exit(main())
