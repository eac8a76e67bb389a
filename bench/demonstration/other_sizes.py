#!/usr/bin/env python3
"""Writes the trained tasks of configs/h200.toml with other real sizes, to measure whether what was learned holds there.

Every size is odd, most are primes, and rows are longer than in training; a task has 0.7 to 3 times the work. Vectors
stay below 2^26 elements, beyond which the naive kernels of `dot` and `total_sum` are wrong.

  bench/demonstration/other_sizes.py FOLDER
"""
import pathlib
import re
import sys

TASKS = pathlib.Path(__file__).resolve().parents[2] / 'configs' / 'tasks'
SIZES = {
    'row_sum': {'rows': 5003, 'cols': 20011},
    'row_mean': {'h': 5003, 'w': 20011},
    'total_sum': {'n': 50000017},
    'dot': {'len': 50000017},
    'softmax_rows': {'rows': 5003, 'cols': 20011},
    'rmsnorm_rows': {'R': 5003, 'C': 10007},
    'layernorm_rows': {'rows': 5003, 'cols': 10007},
    'cross_entropy': {'rows': 3001, 'cols': 50257},
    'transpose': {'rows': 5003, 'cols': 20011},
    'stencil_2d': {'rows': 5003, 'cols': 20011},
    'bias_relu': {'rows': 5003, 'cols': 20011},
    'histogram': {'n': 50000017},
    'prefix_sum': {'n': 50000017},
    'matmul': {'m': 1531, 'n': 3067, 'k': 2053},
}


def with_sizes(text, sizes):
    """The task with these sizes as its only real case, and ranges that include them."""
    values = ', '.join(f'{axis} = {size}' for axis, size in sizes.items())
    text, found = re.subn(r'^real( *)=.*$', rf'real\1= [{{ {values} }}]', text, flags=re.MULTILINE)
    ranges = re.search(r'^ranges.*$', text, flags=re.MULTILINE)
    if found != 1 or not ranges:
        raise ValueError('one line "real" and one line "ranges" expected')
    wider = ranges[0]
    for axis, size in sizes.items():
        wider = re.sub(rf'(\b{axis} = \[\d+, )(\d+)', lambda m: m[1] + str(max(int(m[2]), size)), wider)
    return text.replace(ranges[0], wider)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith('-'):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for task, sizes in SIZES.items():
        [path] = TASKS.rglob(task + '.toml')
        (folder / path.name).write_text(with_sizes(path.read_text(encoding='utf-8'), sizes), encoding='utf-8')


if __name__ == '__main__':
    main()
