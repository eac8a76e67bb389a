#!/usr/bin/env python3
"""Renders the reference of the SDK and checks that it is complete: Doxygen has no complaints, every link leads somewhere, every
struct and function of abi.h has a description, and each kind of component has its page.

    check.py SDK_FOLDER
"""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree as xml

SKIPPED = 77
TAG = re.compile(r"\[(main|call|sink|any)\]")  # which threads may call it: no description by itself
KINDS = {"group__reward.html": "krl::Reward", "group__dataset.html": "krl::Dataset", "group__backend.html": "krl::Backend",
         "group__policy.html": "krl::Policy"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def broken_links(folder):
    pages = {path.name: Page(path.read_text()) for path in folder.glob("*.html")}
    for name, page in sorted(pages.items()):
        for link in page.links:
            target, _, anchor = urllib.parse.unquote(link).partition("#")
            if re.match(r"(https?|javascript):", target):
                continue
            target = target or name
            if not (folder / target).exists():
                yield f"{name}: {link} leads to no file"
            elif anchor == "nested-classes":
                continue  # Doxygen 1.9 writes it also where all nested classes are private
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{name}: {link} leads to no such place"


def words(element):
    text = " ".join("".join(element.find(part).itertext()) for part in ("briefdescription", "detaileddescription"))
    return re.findall(r"\w{2,}", TAG.sub("", text))


def undescribed(folder, header):
    text = header.read_text()
    structs = set(re.findall(r"^typedef struct (\w+) \{", text, re.MULTILINE))
    functions, members = len(re.findall(r"^  \w[\w ]*\(\*\w+\)\(", text, re.MULTILINE)), 0
    for name in sorted(structs):
        path = folder / "xml" / f"struct{name.replace('_', '__')}.xml"
        if not path.exists():
            yield f"abi.h: {name} is not rendered"
            continue
        compound = xml.parse(path).find("compounddef")
        if not words(compound):
            yield f"abi.h: {name} has no description"
        for member in compound.iter("memberdef"):
            if "(*" in "".join(member.find("type").itertext()):
                members += 1
                if not words(member):
                    yield f"abi.h: {name}::{member.findtext('name')} has no description"
    if len(structs) < 40 or members != functions:
        yield f"abi.h: {members} of {functions} functions in {len(structs)} structs are rendered"


def missing_pages(folder):
    if "Writing plugins for kernelrl" not in (folder / "index.html").read_text():
        yield "the start page is not sdk/docs/README.md"
    for page, base in KINDS.items():
        path = folder / page
        if not path.exists() or base not in path.read_text():
            yield f"{page} lacks {base}"


def main():
    sdk = pathlib.Path(sys.argv[1]).resolve()
    if not shutil.which("doxygen"):
        print("skipped: no doxygen, which scripts/setup.sh --tests installs")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rendering = subprocess.run([sdk / "docs/reference/render.sh", folder, "--xml"], capture_output=True, text=True)
        complaints = rendering.stderr.splitlines()
        if rendering.returncode and not complaints:
            complaints = [f"render.sh ended with {rendering.returncode}"]
        if (folder / "index.html").exists():
            complaints += [*missing_pages(folder), *broken_links(folder), *undescribed(folder, sdk / "include/kernelrl/abi.h")]
    print("\n".join(complaints[:50]))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
