#!/usr/bin/env python3
"""The tables of docs/mutants.md from outputs of `kernelrl tasks check --mutants N --output FILE`.

  bench/mutants_table.py FIRST.jsonl [LAST.jsonl]

Two are of the same mutants under two judges. A mutant counts as wrong if either finds it wrong on any inputs, those of the
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
        self.programs, self.wrong = 0, 0
        self.refused = collections.Counter()  # by the judge, and by it with the pool
        self.last = collections.Counter()  # fates under the last judge

    def add(self, fates):
        self.programs += 1
        self.last[fates[-1]] += 1
        if not any(fate in WRONG for fate in fates):
            return
        self.wrong += 1
        for judge, fate in enumerate(fates):
            self.refused[judge, "ordinary"] += fate == "refused"
            self.refused[judge, "pool"] += fate in ("refused", "refused_by_pool")

    def row(self, name, judges):
        shares = [f"{100 * self.refused[judge, by] / self.wrong:.2f} %" if self.wrong else "–" for judge in range(judges) for by in ("ordinary", "pool")]
        left = self.wrong - self.refused[judges - 1, "pool"]
        cells = [name, self.programs, self.wrong, *shares, left, *(self.last[fate] for fate in ("close", "beyond", "lucky", "same"))]
        return "| " + " | ".join(map(str, cells)) + " |"


def table(title, counts, everything, judges):
    heads = ["refused | with pool"] if judges == 1 else ["first: refused | with pool", "last: refused | with pool"]
    head = f"| {title} | programs | wrong | {' | '.join(heads)} | left | close | beyond | lucky | same |"
    print(head + "\n" + "|---" * (head.count("|") - 1) + "|")
    for name in sorted(counts):
        print(counts[name].row(f"`{name}`", judges))
    print(everything.row("**all**", judges) + "\n")


def main():
    outputs = [fates_of(path) for path in sys.argv[1:3]]
    by_task, by_kind, everything = collections.defaultdict(Counts), collections.defaultdict(Counts), Counts()
    for key in set.intersection(*(set(output) for output in outputs)):
        fates = [output[key][0] for output in outputs]
        if "invalid" in fates:
            continue
        for counts in (by_task[key[0]], by_kind[outputs[-1][key][1]], everything):
            counts.add(fates)
    table("change", by_kind, everything, len(outputs))
    table("task", by_task, everything, len(outputs))


if __name__ == "__main__":
    main()
