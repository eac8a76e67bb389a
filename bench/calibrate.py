#!/usr/bin/env python3
r"""Holds the cpu backend's estimated times against measured ones, and fits the model of a GPU to them.

    build/bench/launch_counters 160 "H200 SXM" >build/launches.csv
    bench/calibrate.py build/launches.csv bench/results/h200_agreement.csv \
        [--fit] [--svg FILE]

The first file has the counters of every launch and its estimate by the model as it is built; the
second is what `gpu_bench agreement 160` wrote on the GPU. Lines are joined by their order; kernels of
tasks that have been added since it was measured are left out.

Without --fit: the correlation of estimated and measured speedups. With --fit: the constants of
plugins/backends/cpu/gpu_table.cpp fitted anew by the form of gpu_model.cpp, which `estimate` below
repeats, and their worth on tasks that they were not fitted to. Standard library only.
"""
import argparse
import csv
import math
import random

# Of the GPU, from data sheets and gpu_table.cpp; not fitted.
SMS, CLOCK_GHZ, DRAM_GB_PER_S, DRAM_EFFICIENCY = 132, 1.98, 4800, 0.90
L2_BYTES_PER_CLOCK, WARPS_PER_CLOCK, L2_LATENCY, SHARED_LATENCY = 5120, 4, 200, 30
LOAD_STORE = 2  # of the parts of a launch
OVERLAP_LOSS, HIDDEN_BY_PATH, CLOCKS_PER_REQUEST, CLOCKS_PER_BLOCK = 0.15, 0.5, 2, 40
CLOCKS_PER_WARP = {
    'integer': 0.5, 'integer64': 1, 'multiply': 0.5, 'divide': 10, 'float': 0.25, 'double': 0.5,
    'special': 2, 'convert': 0.5, 'tensor': 0, 'load_store': 0, 'atomic': 0, 'warp': 1,
    'barrier': 0, 'control': 0.5, 'double_divide': 4,
}
INSTRUCTIONS_OF_DOUBLE_DIVIDE = 14
TENSOR_PRODUCTS_PER_CLOCK = {'f16': 2048, 'tf32': 1024, 'f8': 4096, 's8': 4096, 's4': 4096, 'f64': 128}

# Where a fit starts, and what holds a constant that the measurement says little about.
START = {
    'start_ns': 2000, 'clocks_per_chain_clock': 1, 'clocks_per_sector': 0.25,
    'clocks_per_new_instruction': 4, 'dram_latency': 600, 'l1_latency': 35,
    'shuffle_latency': 25, 'barrier_latency': 25, 'atomic_latency': 25, 'atomic_interval': 2,
    'block_spread_ns': 10, 'request_spread_ns': 30, 'queued_share': 0.2,
}
PRIOR_WEIGHT = 0.02  # of a squared log ratio to START, against one of a time
OUTLIER = 0.25       # log ratios beyond this count linearly
RANK_WEIGHT = 1.0    # of what the rank correlation lacks, against the mean loss of a case
FOLDS = 6
RESOLUTION = 0.02  # two speedups, each known within 1 %, are told apart from here on
NAIVE_KERNELS = 38   # the corpus starts with them: configs/tasks at the time of measuring


def path_clocks(f, c):
    """The longest path of a block, without spills: as path_clocks of gpu_model.cpp."""
    return (f['path_clocks'] * c['clocks_per_chain_clock'] + f['path_dram_requests'] * c['dram_latency']
            + f['path_l2_requests'] * L2_LATENCY
            + f['path_l1_requests'] * c['l1_latency']
            + f['path_shared_requests'] * SHARED_LATENCY
            + f['path_warp_operations'] * c['shuffle_latency']
            + f['path_barriers'] * c['barrier_latency'] + f['path_atomics'] * c['atomic_latency']
            + f['path_loop_turns'] * 2 * SHARED_LATENCY + f['path_waits'])


def estimate(f, c):
    """Nanoseconds of one launch: as estimate of gpu_model.cpp."""
    clocks_of_all_sms = f['used_sms'] * CLOCK_GHZ
    parts = [
        32 * (f['dram_load_sectors'] + f['dram_store_sectors'])
        / (DRAM_GB_PER_S * DRAM_EFFICIENCY),
        32 * (f['global_sectors'] - f['l1_sectors']) / (L2_BYTES_PER_CLOCK * CLOCK_GHZ),
        max(f['requests'] * CLOCKS_PER_REQUEST, f['sectors'] * c['clocks_per_sector'])
        / clocks_of_all_sms,
        max(f['issue'] + f['spill_requests'] / WARPS_PER_CLOCK, f['busiest_unit'])
        / clocks_of_all_sms,
        (f['shared_wavefronts'] + f['shared_atomics'] + f['shared_atomic_repeats']
         + 2 * f['shared_atomic_loops']) / clocks_of_all_sms,
        f['hottest_atomic'] * c['atomic_interval'] / CLOCK_GHZ,
        f['blocks'] * CLOCKS_PER_BLOCK / (clocks_of_all_sms * f['resident']),
    ]
    path, spilled = path_clocks(f, c), f['path_spill_waits'] * c['l1_latency']
    span = f['span_clocks'] if f['span_clocks'] > 0 else f['waves'] * path
    path = (path + spilled) / CLOCK_GHZ
    latency = max(path, (span + f['waves'] * spilled) / CLOCK_GHZ)
    # What works while the warps of a wave wait is free.
    hidden = HIDDEN_BY_PATH * min(path, latency / f['waves'])
    beyond = [max(0, part - hidden) for part in parts]
    beyond.append(latency - path)
    slowest = max(beyond)
    fetch = f['code_instructions'] * c['clocks_per_new_instruction'] / CLOCK_GHZ
    spread = (c['block_spread_ns'] * math.log(f['used_sms'])
              + c['request_spread_ns'] * math.log(max(1, f['global_load_requests'])))
    return (c['start_ns'] + fetch + spread + path + c['queued_share'] * parts[LOAD_STORE] + slowest
            + OVERLAP_LOSS * (sum(beyond) - slowest))


def add_derived(f):
    """What the model makes of a launch's counters before any constant comes in."""
    f['resident'] = max(1, f['blocks_per_sm'])
    f['used_sms'] = min(f['blocks'], SMS)
    f['waves'] = math.ceil(f['blocks'] / (SMS * f['resident']))
    spill_loads = f['spill_bytes'] / 4 * f['typical_runs']
    f['spill_requests'] = 2 * spill_loads
    f['path_spill_waits'] = spill_loads / 4 * f['path_instructions'] / max(1, f['instructions'])
    f['requests'] = (f['global_load_requests'] + f['global_store_requests']
                     + f['global_atomics'] + f['local_requests'] + f['constant_repeats']
                     + f['spill_requests'])
    f['global_sectors'] = (f['global_load_sectors'] + f['global_store_sectors']
                           + f['atomic_passes'])
    f['sectors'] = f['global_sectors'] + f['local_sectors'] + 4 * f['spill_requests']
    issued = {name: 1 / WARPS_PER_CLOCK for name in CLOCKS_PER_WARP} | {
        'divide': CLOCKS_PER_WARP['divide'],
        'double_divide': INSTRUCTIONS_OF_DOUBLE_DIVIDE / WARPS_PER_CLOCK}
    f['issue'] = sum(f['class_' + name] * clocks for name, clocks in issued.items())
    f['busiest_unit'] = max(f['class_' + name] * clocks
                            for name, clocks in CLOCKS_PER_WARP.items())
    f['busiest_unit'] = max(f['busiest_unit'],
                            sum(f['class_' + name] * CLOCKS_PER_WARP[name]
                                for name in ('double', 'double_divide')),
                            sum(f['tensor_' + name] / products
                                for name, products in TENSOR_PRODUCTS_PER_CLOCK.items()))


def read(launches_file, measured_file):
    """One dict per case: its measured times and the launches of candidate and naive kernel."""
    launches, tasks = {}, {}
    with open(launches_file, encoding='utf-8') as file:
        for row in csv.DictReader(file):
            key = int(row['kernel']), int(row['case']), row['role']
            tasks[key[:2]] = row['task']
            f = {k: float(v) for k, v in row.items() if k not in ('task', 'role')}
            add_derived(f)
            launches.setdefault(key, []).append(f)
    with open(measured_file, encoding='utf-8') as file:
        measured = list(csv.DictReader(file))
    order = []
    for key in sorted(tasks):
        if len(order) < len(measured) and tasks[key] == measured[len(order)]['task']:
            order.append(key)
    if len(order) < len(measured):
        raise SystemExit(f'{launches_file} and {measured_file} are not of the same corpus')
    naive_kernels = {kernel for kernel, _ in order[:2 * NAIVE_KERNELS]}
    cases = []
    for (kernel, case), row in zip(order, measured):
        candidate, naive = launches[kernel, case, 'candidate'], launches[kernel, case, 'naive']
        speedup = float(row['measured_speedup'])
        cases.append({
            'task': row['task'], 'label': row['case'], 'candidate': candidate, 'naive': naive,
            'ns': float(row['measured_ns']), 'speedup': speedup,
            'naive_ns': float(row['measured_ns']) * speedup,
            'is_naive': kernel in naive_kernels,
        })
    return cases


def total(launches, c):
    return sum(estimate(f, c) for f in launches)


def built(launches):
    return sum(f['estimated_ns'] for f in launches)


def huber(x):
    return x * x if abs(x) < OUTLIER else OUTLIER * (2 * abs(x) - OUTLIER)


def loss(cases, c):
    """Log ratios of times and, twice as heavy, of speedups."""
    result = sum(PRIOR_WEIGHT * math.log(c[k] / START[k]) ** 2 for k in START)
    for case in cases:
        candidate = math.log(total(case['candidate'], c) / case['ns'])
        result += huber(candidate)
        if not case['is_naive']:
            naive = math.log(total(case['naive'], c) / case['naive_ns'])
            result += huber(naive) + 2 * huber(naive - candidate)
    return result


def objective(cases, c):
    """The times decide which constants are likely; the order of speedups is what they are for."""
    speedups = speedups_by(cases, lambda launches: total(launches, c))
    correlation = spearman([speedups[id(case)] for case in cases],
                           [case['speedup'] for case in cases])
    return loss(cases, c) / len(cases) + RANK_WEIGHT * (1 - correlation)


def fit(cases, rounds=20):
    """Coordinate search on the logarithms of the constants; deterministic."""
    c, step = dict(START), {k: 0.3 for k in START}
    best = objective(cases, c)
    for _ in range(rounds):
        for k in START:
            for sign in (1, -1):
                trial = dict(c, **{k: c[k] * math.exp(sign * step[k])})
                value = objective(cases, trial)
                if value < best:
                    c, best, step[k] = trial, value, 1.5 * step[k]
                    break
            else:
                step[k] *= 0.5
    return c


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    result, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j < len(order) and values[order[j]] == values[order[i]]:
            j += 1
        for k in range(i, j):
            result[order[k]] = (i + j + 1) / 2
        i = j
    return result


def spearman(x, y):
    x, y = ranks(x), ranks(y)
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return (sum((a - mx) * (b - my) for a, b in zip(x, y))
            / math.sqrt(sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y)))


def report(title, cases, speedups):
    """Rank correlations, over all cases and over those where the speedup is not 1 by construction;
    then with speedups that the measurement does not tell apart as ties."""
    def both(transform):
        lines = []
        for some in (cases, [c for c in cases if not c['is_naive']]):
            pairs = [(transform(speedups[id(c)]), transform(c['speedup'])) for c in some]
            lines.append(f'{spearman(*zip(*pairs)):.3f} of {len(pairs)}')
        return ', without naive kernels '.join(lines)
    print(f"{title}: Spearman's correlation {both(lambda s: s)}")
    in_steps = both(lambda s: round(math.log(s) / RESOLUTION))
    print(f"{' ' * len(title)}  in steps of {RESOLUTION:.0%}: {in_steps}")
    errors = sorted(abs(math.log(speedups[id(c)] / c['speedup'])) for c in cases
                    if not c['is_naive'])
    print(f"{' ' * len(title)}  median |log ratio| of the speedups without naive kernels: "
          f'{errors[len(errors) // 2]:.3f}')


def report_noise(cases):
    """What the measurement says of kernels that do the naive kernel's work, so that 1 is right."""
    def work(launches):
        return [{k: v for k, v in f.items() if k != 'kernel'} for f in launches]
    same = [c for c in cases if work(c['candidate']) == work(c['naive'])]
    generated = sorted(c['speedup'] for c in same if not c['is_naive'])
    print(f"{len(generated)} generated cases have the naive kernel's counters; their measured "
          f'speedups: {generated[0]:.2f} to {generated[-1]:.2f}')
    known = {id(c) for c in same}
    perfect = spearman([1 if id(c) in known else c['speedup'] for c in cases],
                       [c['speedup'] for c in cases])
    print(f'a model without any error would have a correlation of {perfect:.3f}')


def speedups_by(cases, time):
    return {id(c): time(c['naive']) / time(c['candidate']) for c in cases}


def report_held_out(cases):
    tasks = sorted({c['task'] for c in cases})
    random.Random(1).shuffle(tasks)
    speedups = {}
    for fold in range(FOLDS):
        held_out = set(tasks[fold::FOLDS])
        constants = fit([c for c in cases if c['task'] not in held_out], 12)
        speedups |= speedups_by([c for c in cases if c['task'] in held_out],
                                lambda launches, k=constants: total(launches, k))
    report(f'held out ({FOLDS} folds over {len(tasks)} tasks)', cases, speedups)


def write_svg(path, cases, speedups):
    """Estimated over measured speedups, both logarithmic."""
    low, high, size, margin = 0.4, 40, 420, 46

    def at(value):
        share = math.log(value / low) / math.log(high / low)
        return margin + size * min(1.0, max(0.0, share))
    extent = size + 2 * margin
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {extent} {extent}" '
             'font-family="sans-serif" font-size="11">',
             f'<rect width="{extent}" height="{extent}" fill="white"/>']
    for tick in (0.5, 1, 2, 5, 10, 20):
        x, y = at(tick), extent - at(tick)
        lines.append(f'<path d="M{x:.1f} {margin}V{margin + size}M{margin} {y:.1f}H{margin + size}"'
                     ' stroke="#ddd"/>')
        lines.append(f'<text x="{x:.1f}" y="{margin + size + 15}" text-anchor="middle">{tick}'
                     '</text>')
        lines.append(f'<text x="{margin - 6}" y="{y + 4:.1f}" text-anchor="end">{tick}</text>')
    lines.append(f'<path d="M{margin} {margin + size}L{margin + size} {margin}" stroke="#888" '
                 'stroke-dasharray="4 3"/>')
    for case in cases:
        x, y = at(case['speedup']), extent - at(speedups[id(case)])
        colour = '#999' if case['is_naive'] else '#1764ab'
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}" '
                     f'fill-opacity="0.6"><title>{case["task"]} {case["label"]}</title></circle>')
    lines.append(f'<text x="{extent / 2}" y="{extent - 12}" text-anchor="middle">measured speedup '
                 'over the naive kernel (grey: naive kernels)</text>')
    lines.append(f'<text transform="translate(14 {extent / 2}) rotate(-90)" text-anchor="middle">'
                 'estimated speedup</text>')
    lines.append('</svg>')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines) + '\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('launches')
    parser.add_argument('measured')
    parser.add_argument('--fit', action='store_true')
    parser.add_argument('--svg')
    arguments = parser.parse_args()
    cases = read(arguments.launches, arguments.measured)
    as_built = speedups_by(cases, built)
    report_noise(cases)
    report('the model as built', cases, as_built)
    if arguments.fit:
        constants = fit(cases)
        fitted = speedups_by(cases, lambda launches: total(launches, constants))
        report('fitted to all', cases, fitted)
        report_held_out(cases)
        for name, value in constants.items():
            print(f'  .{name} = {value:.3g},')
    if arguments.svg:
        write_svg(arguments.svg, cases, as_built)


if __name__ == '__main__':
    main()
