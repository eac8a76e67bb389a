#!/usr/bin/env python3
"""Counts the withheld cells of a warm start that a search has filled, from the structure of its right kernels.

    kernelrl runs archive NAME FOLDER
    bench/discovery/cells.py FOLDER/archive.jsonl row_cache:softmax_rows vector4:dot …

The structure is that of the compiled and executed code, which does not tell grid_stride, row_cache,
register_tile and padded_tile apart from others (docs/discovery.md); such cells are refused. Standard library only.
"""
import json
import pathlib
import sys

TOLD = ['vector4', 'shuffle_tree', 'block_tree', 'shared_atomics', 'stages']


def mechanisms_of(structure):
    """Those that a structure shows: "2 launches, shared 256, shuffles, blocks of 64, grid 16"."""
    parts = structure.split(', ')
    shared = any(part.startswith('shared ') for part in parts)
    found = {'vector4'} if 'vectors' in parts else set()
    if 'shuffles' in parts:
        found.add('block_tree' if shared else 'shuffle_tree')
    if 'atomics' in parts and shared:
        found.add('shared_atomics')
    if parts[0] != '1 launches' and 'atomics' not in parts:  # a launch that zeroes what atomics add to is no stage
        found.add('stages')
    return found


def main(archive, withheld):
    for cell in withheld:
        if cell.partition(':')[0] not in TOLD:
            sys.exit(f"'{cell}' cannot be counted: a structure tells only {', '.join(TOLD)}")
    kernels = [json.loads(line) for line in pathlib.Path(archive).read_text(encoding='utf-8').splitlines()]
    shown = {f"{mechanism}:{kernel['task']}" for kernel in kernels for mechanism in mechanisms_of(kernel['structure'])}
    for cell in withheld:
        print(f"{cell}: {'filled' if cell in shown else 'empty'}")
    print(f'{len(shown.intersection(withheld))} of {len(withheld)} withheld cells are filled')


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
