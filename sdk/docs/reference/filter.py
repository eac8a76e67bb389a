#!/usr/bin/env python3
"""Doxygen's INPUT_FILTER: prints a header or a page of sdk/docs in the form that Doxygen understands.

    filter.py FILE

The headers keep ordinary comments. A comment directly above a declaration or behind it describes that declaration; the first one
of a file describes the file, and the class that the file is named after. Comments inside function bodies are left alone.
"""

import itertools
import pathlib
import re
import sys

GROUPS = {  # a header to its group; see groups.dox
    "reward": "reward", "dataset": "dataset", "backend": "backend", "evaluation": "backend", "evaluation_json": "backend",
    "proof_stage": "backend", "policy": "policy", "policy_values": "policy", "seeds": "policy", "component": "component",
    "values": "component", "views": "component", "growth": "component", "option_lists": "component", "spelling": "component",
    "broken_pipe_guard": "component", "temporary_folder": "component"}
SECTIONS = {  # the rulers of abi.h
    "values": "abi_values", "what the host provides to every call": "abi_host", "options": "abi_options",
    "tasks and evaluations (read only)": "abi_evaluations", "policies": "abi_policies", "backends": "abi_backends",
    "rewards": "abi_rewards", "datasets": "abi_datasets", "what a plugin offers": "abi_plugin"}
RULER = re.compile(r"-{4,} *(.*?) *-{4,}")
CODE_INDENT = 3  # a line of a comment with at least so many more spaces than its text is code or an item of a list
ITEM = re.compile(r"( {2,})(\[\w+\]|[A-Z][a-z]+) {2,}(\S.*)")  # of a list of terms
NAME = r"\w+(?: = [^,(){}]+)?"
NAMES = re.compile(rf"( *)((?:const )?[\w:<>]+(?: const)?(?: ?\*(?: ?const\*)?)? ?)({NAME}(?:, {NAME})+);")  # one type, several names


def plain(text):
    """Text with Doxygen's special characters escaped, except inside backticks."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"\[(main|call|sink|any)\]", r"<b>[\1]</b>", re.sub(r"([\\@<>#%*&])", r"\\\1", part)) for part in parts[::2]]
    parts[::2] = [re.sub(r"\bfile:(?=\w)", "file&zwnj;:", part) for part in parts[::2]]  # it would become the link of a file
    # A word that begins a sentence is not meant as the class of that name.
    parts[::2] = [re.sub(r"(^|[.:] |\.\n)(?=[A-Z][a-z]+\b(?!::))", r"\1%", part) for part in parts[::2]]
    return "".join(parts)


def sentence(text):
    """A short note behind code, with a capital letter if it begins with a word."""
    return plain(text[:1].upper() + text[1:] if re.match(r"[a-z]+[ ,;:]", text) else text)


def documented(code, text):
    """A declaration with its description. One of several names becomes one for each; that of `struct_size` is always the same."""
    found = NAMES.fullmatch(code)
    if not found:
        return f"/** {text} */ {code}" if text else code
    parts = []
    for name in found[3].split(", "):
        words = "Size of this struct in bytes." if name == "struct_size" else text
        parts.append((f"/** {words} */ " if words else "") + f"{found[2]}{name};")
    return found[1] + " ".join(parts)


def marked_up(lines):
    """The lines of a comment in Markdown: code and lists of terms are indented in the headers."""
    out, code = [], False
    for line in lines:
        item = ITEM.fullmatch(line)
        indented = len(line) - len(line.lstrip()) >= CODE_INDENT - 1 and line.strip()
        if indented and not item and not (out and re.match(r" *- ", out[-1]) or listed(out)):
            out.append(("@code{.unparsed} " if not code else "") + line)
            code = True
            continue
        if code and line.strip():
            out[last_code(out)] += "\n@endcode"
            code = False
        if item:
            nested = "  " if len(item[1]) > 4 or item[2][0] == "[" else ""
            tag = re.match(r"(\[\w+\]) +(.*)", item[3])
            line = f"{nested}- \0{item[2]}\1" + (f"\n  - \0{tag[1]}\1{tag[2]}" if tag else item[3])
        out.append(line)
    if code:
        out[last_code(out)] += "\n@endcode"
    text = "\n".join(out)
    pieces = re.split(r"(@code.*?@endcode)", text, flags=re.DOTALL)
    pieces[::2] = [plain(piece).replace("\0", "**").replace("\1", "**: ") for piece in pieces[::2]]
    return "".join(pieces).replace("**<b>", "<b>").replace("</b>**", "</b>")


def listed(out):
    return any(re.match(r" *- \0", line) for line in out) and out[-1].strip() != ""


def last_code(out):
    return max(i for i, line in enumerate(out) if line.strip())


class Scopes:
    """Says of each line whether it begins where declarations are, and not in a function's body."""

    def __init__(self):
        self.open, self.pending = [], ""

    def in_declarations(self):
        return all(self.open)

    def between_statements(self):
        return self.in_declarations() and not self.pending.strip()

    def read(self, code):
        if code.startswith("#"):
            return
        code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])+\'', lambda found: '"C"' if found[0] == '"C"' else '""', code)
        for char in code + "\n":
            if char == "{":
                self.open.append(self.is_scope())
                self.pending = ""
            elif char == "}":
                if self.open:
                    self.open.pop()
                self.pending = ""
            elif char == ";":
                self.pending = ""
            elif char == "," and self.open and self.open[-1] == "enum":
                self.pending = ""
            else:
                self.pending += char
        self.pending = re.sub(r"\b(public|private|protected):", "", self.pending)

    def is_scope(self):
        """What opens with the next brace: a namespace, a class or an enum, else nothing."""
        words = self.pending
        while "<" in words and (shorter := re.sub(r"<[^<>]*>", "", words)) != words:
            words = shorter
        if "(" in words:
            return ""
        if re.search(r'\bextern "C"', words):
            return "extern"
        found = re.search(r"\b(namespace|enum|struct|class|union)\b[^=]*$", words)
        return found[1] if found else ""


def split_trailing(line):
    """The code of a line and the comment behind it."""
    found = re.fullmatch(r"((?:[^\"'/]|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'|'|/(?![/*]))*?) *(?:// ?(.*)|/\* ?(.*?) ?\*/)", line)
    return (found[1], found[2] if found[2] is not None else found[3]) if found and found[1].strip() else (line, None)


def comment_blocks(lines):
    """(first line, last line, text) of each comment that stands on lines of its own."""
    i = 0
    while i < len(lines):
        stripped, first = lines[i].strip(), i
        if stripped.startswith("//"):
            while i + 1 < len(lines) and lines[i + 1].strip().startswith("//"):
                i += 1
            yield first, i, [re.sub(r"^ *// ?", "", line) for line in lines[first:i + 1]]
        elif stripped.startswith("/*"):
            while not lines[i].rstrip().endswith("*/"):
                i += 1
            yield first, i, [re.sub(r"^ *(/\*| \*(?!/)) ?| *\*/$", "", line) for line in lines[first:i + 1]]
        i += 1


class Header:
    """Prints one header with its comments in Doxygen's form."""

    def __init__(self, path, lines):
        self.path, self.lines = path, lines
        self.is_boundary = path.name == "abi.h"
        self.group = "testing" if "testing" in (path.stem, path.parent.name) else GROUPS.get(path.stem, "tasks")
        self.scopes, self.out = Scopes(), []
        self.section = None
        self.about = ""  # the first paragraph
        self.shared = None  # a comment that goes on to describe the functions below it
        self.named = False  # inside a named list of macros

    def text(self):
        blocks = {first: (last, words) for first, last, words in comment_blocks(self.lines)}
        i = 0
        while i < len(self.lines):
            i = self.read_comment(i, *blocks[i]) if i in blocks else self.read_code(i)
        return "\n".join(self.out) + "\n"

    def read_comment(self, first, last, words):
        """A comment on lines of its own; returns the index of the line after what was read."""
        following = self.lines[last + 1] if last + 1 < len(self.lines) else ""
        ruler = RULER.search(self.lines[first])
        if first == 0:
            self.about = " ".join(itertools.takewhile(str.strip, words))
            self.out.append(f"/** @file\n{marked_up(words)} */")
        elif self.is_boundary and ruler and ruler[1] in SECTIONS:
            self.out.append(("/** @} */ " if self.section else "") + f"/** @addtogroup {SECTIONS[ruler[1]]}\n@{{ */")
            self.section = ruler[1]
        elif ruler or not following.strip() or not self.scopes.between_statements() or re.match(r"NOLINT|clang-format", words[0]):
            self.out += self.lines[first:last + 1]
        elif following.startswith("#define") and macros(self.lines, last + 1) > 1 and not self.lines[first - 1].startswith("#define"):
            name, _, rest = " ".join(words).partition(". ")
            self.out.append(f"/** @name {plain(name.rstrip('.'))}\n{plain(rest)}\n@{{ */")
            self.named = True
        elif following.startswith("#ifndef KRL_PLUGIN_LICENSE"):
            self.out.append(f"/** @def KRL_PLUGIN(NAME, VERSION, ...)\n@ingroup {self.group}\n{marked_up(words)} */")
        else:
            self.describe_next(last + 1, words)
            return last + 2
        return last + 1

    def describe_next(self, i, words):
        self.shared = " ".join(words)
        within = f"@ingroup {self.group}\n" if self.lines[i].startswith("#define") and self.path.suffix == ".hpp" else ""
        code, trailing = split_trailing(self.lines[i])
        self.scopes.read(code)
        note = f" /**< {sentence(trailing)} */" if trailing and self.scopes.between_statements() else ""
        self.out.append(documented(code, f"{within}{marked_up(words)}") + note)

    def read_code(self, i):
        line = self.lines[i]
        code, trailing = split_trailing(line)
        begins = self.scopes.between_statements() and not code.startswith("#")
        self.scopes.read(code)
        if not line.strip():
            self.shared = None
            if self.named:
                line, self.named = "/** @} */", False
        elif code.startswith("#define") and trailing:
            line = f"{code} /**< {sentence(trailing)} */"
        elif begins:
            line = self.declaration(line, code, trailing)
        self.out.append(self.grouped(line, self.lines[i], code))
        return i + 1

    def declaration(self, line, code, trailing):
        """A declaration without a comment above it."""
        is_function = re.search(r"\(\*\w+\)", code)
        if trailing and not re.match(r"NOLINT|namespace|extern", trailing) and not code.lstrip().startswith("}"):
            self.shared = None
            return documented(code, sentence(trailing))
        if re.match(r" *uint32_t struct_size\b", code):
            return documented(code, "")
        if self.shared and is_function:
            return f"/** {plain(self.shared)} */ {code}"
        if self.scopes.open and (found := re.match(r"(?:class|struct) (\w+)[^;]*$", code)) and self.is_eponym(found[1]):
            return f"/** {plain(self.about)} */ {code}"
        if self.path.suffix == ".hpp" and (call := counterpart(code, self.path)):
            return f"/** @copydoc {call} */ {code}"
        if not is_function and code.strip().endswith(";"):
            self.shared = None
        return line

    def is_eponym(self, name):
        """True for the class that the file is named after: the file's comment describes it."""
        return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower() == self.path.stem

    def grouped(self, line, original, code):
        """Opens the header's group after the line, or closes it before."""
        begin, end = f"/** @addtogroup {self.group}\n@{{ */", "/** @} */"
        if re.match(r"namespace krl(::testing)? \{", code):
            return f"{line} {begin}"
        if re.match(r"\}  // namespace krl(::testing)?$", original):
            return f"{end} {original}"
        if self.path.suffix == ".h" and not self.is_boundary:
            if re.fullmatch(r"#define KERNELRL_\w+", code):
                return f"{line}\n{begin}"
            if code.startswith("#endif"):
                return f"{end}\n{line}"
        if self.section and code.startswith("#ifdef __cplusplus"):
            self.section = None
            return f"{end}\n{line}"
        return line


def macros(lines, at):
    count = 0
    while at < len(lines) and lines[at].startswith(("#define", "/*")):
        count += lines[at].startswith("#define")
        at += 1
    return count


def counterpart(code, path):
    """The function of abi.h that a virtual one of a policy or a backend stands for."""
    found = re.match(r"  virtual .*?\b(\w+)\(|  \w+ (logprobs)\(", code)
    if not found or path.stem not in ("policy", "backend"):
        return None
    table = f"krl_{path.stem}_v"
    call = f"(*{found[1] or found[2]})(void* self"
    declared = (path.parent / "abi.h").read_text()
    within = declared[declared.index(f"typedef struct {table} {{"):declared.index(f"}} {table};")]
    return f"{table}::{found[1] or found[2]}" if call in within else None


def filtered_page(path, text):
    """Links within the reference; what lies elsewhere is named."""
    def link(found):
        label, target = found[1], found[2]
        page = pathlib.PurePosixPath(target)
        if target.startswith("examples/"):
            return f'@ref {page.name} "{label}"'
        if target.startswith("../include/"):
            return f'@ref {page.name} "{label}"'
        if target.startswith("../../"):
            place = target.removeprefix("../../")
            return f"`{place}`" if label == place else f"{label} (`{place}`)"
        return found[0]
    heading = f" {{#guide_{path.stem}}}\n" if path.stem != "README" else "\n"
    text = re.sub(r"\*\*(`[^`]+`)\*\*", r"<b>\1</b>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, text.replace("\n", heading, 1))


def main():
    path = pathlib.Path(sys.argv[1])
    text = path.read_text()
    sys.stdout.write(filtered_page(path, text) if path.suffix == ".md" else Header(path, text.splitlines()).text())


if __name__ == "__main__":
    main()
