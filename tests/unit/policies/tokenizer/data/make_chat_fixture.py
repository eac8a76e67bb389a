#!/usr/bin/env python3
"""Makes chat_NAME.json: conversations as `transformers` renders them with a model's own chat template.

    make_chat_fixture.py NAME DIRECTORY

DIRECTORY is a Hugging Face directory (its tokenizer and chat template are read), NAME our name of its template. Needs
the `transformers` package. Nothing of the template goes into the fixture but what it renders.
"""

import json
import sys
from pathlib import Path

from transformers import AutoTokenizer

DATE = "26 Jul 2024"

SYSTEM, USER, ASSISTANT = "system", "user", "assistant"

CONVERSATIONS = [
    [(USER, "Write a kernel that adds two vectors.")],
    [(SYSTEM, "You write CUDA kernels."), (USER, "Add two vectors.")],
    [(SYSTEM, ""), (USER, "")],
    [(USER, "Hi"), (ASSISTANT, "Hello!"), (USER, "And now?")],
    [(SYSTEM, "Be brief."), (USER, "1"), (ASSISTANT, "one"), (USER, "2"), (ASSISTANT, "two"), (USER, "3")],
    [(USER, "  leading and trailing \n\n"), (ASSISTANT, "\n\n spaced \t"), (USER, "\tx\u00a0\u3000")],
    [(SYSTEM, " \n padded system \n "), (USER, "\u2003wide\u2003"), (ASSISTANT, "\x1cseparators\x1f\x85"), (USER, "\u200bzero width\u200b")],
    [(USER, "Grüße, 你好, привет, שלום 👩‍👩‍👧‍👦 e\u0301\u0323")],
    [(USER, "q"), (ASSISTANT, "<think>\nfirst\n</think>\n\nanswer"), (USER, "again")],
    [(USER, "q"), (ASSISTANT, "<think>\nfirst\n</think>\n\nanswer")],
    [(USER, "q"), (ASSISTANT, "no thoughts")],
    [(USER, "q"), (ASSISTANT, "<think>one</think>middle<think>\n\n two \n\n</think>\n\n\nlast\n"), (ASSISTANT, "\n\nsecond in a row")],
    [(USER, "q"), (ASSISTANT, "</think>closed only"), (ASSISTANT, "<think>open only"), (USER, "r"), (ASSISTANT, "\n<think>\n\n</think>\n")],
    [(USER, "q"), (ASSISTANT, "a"), (USER, "<tool_response>\n42\n</tool_response>"), (ASSISTANT, "<think>t</think>it is 42"), (ASSISTANT, "done")],
    [(USER, "first"), (SYSTEM, "a system message in between"), (USER, "second")],
    [(ASSISTANT, "an answer to nothing"), (USER, "why?")],
    [(SYSTEM, "only a system message")],
    [(USER, "```cuda\n__global__ void k(float* x) {\n  x[threadIdx.x] *= 2.0f;\n}\n```\n"), (ASSISTANT, "int x = 1 << 3; // <|fake|>\r\n"), (USER, "{{ braces }} {% raw %} \\n 'quotes' \"double\"")],
]


def rendered(tokenizer, conversation, thinking):
    messages = [{"role": role, "content": text} for role, text in conversation]
    text = tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True, enable_thinking=thinking, date_string=DATE
    )
    return {"messages": messages, "thinking": thinking, "rendered": text}


def main():
    name, directory = sys.argv[1], sys.argv[2]
    tokenizer = AutoTokenizer.from_pretrained(directory)
    cases = [rendered(tokenizer, conversation, thinking) for thinking in (True, False) for conversation in CONVERSATIONS]
    lines = ",\n".join(json.dumps(case) for case in cases)
    path = Path(__file__).with_name(f"chat_{name}.json")
    path.write_text(f'{{"template": "{name}", "date": "{DATE}", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
