#!/usr/bin/env python3
"""Counts the withheld cells of a warm start that right kernels fill, from what was compiled and executed of them.

    kernelrl runs archive NAME FOLDER
    bench/discovery/cells.py FOLDER/archive.jsonl row_cache:softmax_rows vector4:dot …

Takes the output of `kernelrl eval FOLDER --output FILE` as well. An evaluation does not tell register_tile and padded_tile
(docs/discovery.md); such cells are refused. Standard library only.
"""
import json
import pathlib
import statistics
import sys

TOLD = ['grid_stride', 'vector4', 'shuffle_tree', 'block_tree', 'row_cache', 'shared_atomics', 'stages']


def mechanisms_of(evaluation):
    """Those that the evaluation of a right kernel shows."""
    values = {}
    for value in evaluation.get('values', []):
        values.setdefault(value['name'], []).append(value['value'])
    kernels = evaluation.get('kernels', [])

    def mean(name, default=0):
        return statistics.mean(values[name]) if name in values else default

    launches = mean('launches', len(kernels))
    shared = mean('shared_bytes') > 0 or any(kernel.get('shared_bytes', 0) > 0 for kernel in kernels)
    blocks = values.get('blocks', [])
    found = set()
    if len(blocks) > 1 and len(set(blocks)) == 1 and blocks[0] > launches:
        found.add('grid_stride')
    if mean('vector_accesses') > 0:
        found.add('vector4')
    if mean('shuffles') > 0:
        found.add('block_tree' if shared and mean('barriers') > 0 else 'shuffle_tree')
    if len(set(values.get('shared_bytes', []))) > 1:
        found.add('row_cache')
    if mean('shared_atomics', mean('atomics') if shared else 0) > 0:
        found.add('shared_atomics')
    if launches > 1 and mean('global_atomics', mean('atomics')) == 0:  # a launch that zeroes what atomics add to is no stage
        found.add('stages')
    return found


def main(kernels, withheld):
    for cell in withheld:
        if cell.partition(':')[0] not in TOLD:
            sys.exit(f"'{cell}' cannot be counted: an evaluation tells only {', '.join(TOLD)}")
    lines = [json.loads(line) for line in pathlib.Path(kernels).read_text(encoding='utf-8').splitlines()]
    shown = {f"{mechanism}:{kernel['task']}" for kernel in lines if kernel['evaluation']['verdict'] == 'ok'
             for mechanism in mechanisms_of(kernel['evaluation'])}
    for cell in withheld:
        print(f"{cell}: {'filled' if cell in shown else 'empty'}")
    print(f'{len(shown.intersection(withheld))} of {len(withheld)} withheld cells are filled')


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
