#!/usr/bin/env python3
"""The tables of docs/mutants.md from outputs of `kernelrl tasks check --mutants N --output FILE`.

  bench/mutants_table.py BEFORE.jsonl AFTER.jsonl

Both are of the same mutants under two judges. A mutant counts as wrong if either finds it wrong on any inputs, those of the
proof among them, so that what the first was blind to is held against it. Mutants that only one output has are left out.
"""
import collections
import json
import sys

WRONG = ("refused", "refused_by_pool", "survived")
UNDEFINED = ("initial_value_dropped", "barrier_", "fence_", "atomicity_dropped", "scope_narrowed", "volatile_dropped", "ptx_initial_value_dropped",
             "ptx_order_dropped")


def fates_of(path):
    """Fate and kind by mutant. Changes that look the same on one line are told apart by their number."""
    seen, fates = collections.Counter(), {}
    for text in open(path):
        row = json.loads(text)
        key = (row["task"], row["kernel"], row["line"], row["before"], row["after"])
        seen[key] += 1
        kind = "scope_narrowed" if row["after"] == "atomicAdd_block" else row["kind"]
        lucky = row["fate"] == "same" and row["why"] == "equal bits" and kind.startswith(UNDEFINED)
        fates[key + (seen[key],)] = ("lucky" if lucky else row["fate"], kind, row["why"])
    return fates


class Counts:
    def __init__(self):
        self.programs = self.wrong = 0
        self.ordinary, self.pool = [0, 0], [0, 0]
        self.of = collections.Counter()

    def add(self, before, after):
        self.programs += 1
        self.of[after] += 1
        if before not in WRONG and after not in WRONG:
            return
        self.wrong += 1
        for judge, fate in enumerate((before, after)):
            self.ordinary[judge] += fate == "refused"
            self.pool[judge] += fate in ("refused", "refused_by_pool")

    def row(self, name):
        def share(part):
            return f"{100 * part / self.wrong:.2f} %" if self.wrong else "–"
        cells = [name, self.programs, self.wrong, share(self.ordinary[0]), share(self.pool[0]), share(self.ordinary[1]), share(self.pool[1]),
                 self.wrong - self.pool[1], self.of["close"], self.of["beyond"], self.of["lucky"], self.of["same"]]
        return "| " + " | ".join(map(str, cells)) + " |"


def table(title, counts, everything):
    print(f"| {title} | programs | wrong | before: refused | with pool | after: refused | with pool | left | close | beyond | lucky | same |")
    print("|---" * 12 + "|")
    for name in sorted(counts):
        print(counts[name].row(f"`{name}`"))
    print(everything.row("**all**") + "\n")


def main():
    before, after = map(fates_of, sys.argv[1:3])
    by_task, by_kind, everything = collections.defaultdict(Counts), collections.defaultdict(Counts), Counts()
    for key in before.keys() & after.keys():
        fates = before[key][0], after[key][0]
        if "invalid" in fates:
            continue
        for counts in (by_task[key[0]], by_kind[after[key][1]], everything):
            counts.add(*fates)
    table("change", by_kind, everything)
    table("task", by_task, everything)


if __name__ == "__main__":
    main()
