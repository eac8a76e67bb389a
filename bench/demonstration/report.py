#!/usr/bin/env python3
"""A page of what configs/h200.toml has learned, from the runs and measurements of run.sh.

    kernelrl check configs/h200.toml --pairs pairs.jsonl
    bench/demonstration/report.py --seeds 17 18 19 --pairs pairs.jsonl --svg roofline.svg >report.md

Shares are of the roofline: the least time that moving a task's data, or its operations, can take on
this GPU, over the kernel's; a kernel that is not correct has 0. Standard library only.
"""
import argparse
import json
import pathlib
import re
import statistics
import sys

LABELS = {'warm': 'warm start', 'best_of': 'fine-tuned on the best', 'learned': 'reinforced'}
SETS = {'train': 'trained operations', 'sizes': 'the same, other sizes',
        'holdout/templates': 'the same, other names',
        'holdout/templates_2': 'other operations of these families',
        'holdout/tasks': 'other families'}
KEYWORDS = set('''__global__ __shared__ __device__ __restrict__ __syncthreads __syncwarp __shfl_down_sync
    __shfl_xor_sync __shfl_up_sync __shfl_sync threadIdx blockIdx blockDim gridDim float float2 float4 int
    unsigned const void for if else return while atomicAdd atomicMax expf sqrtf rsqrtf fmaxf fminf logf min max
    ceil_div launch scratch dim3 tanhf fabsf INFINITY'''.split())


def read_json(path):
    return json.loads(path.read_text(encoding='utf-8')) if path.exists() else None


def read_lines(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file]


def kernel_of(answer):
    return answer.split('```cuda', 1)[-1].split('```', 1)[0]


def structure(source, numbers):
    """The tokens of a kernel with its names normalised; without `numbers`, its numbers as well."""
    tokens = re.findall(r'[A-Za-z_]\w*|\d[\w.]*|<<<|>>>|[^\s\w]', source)
    names = {}
    for i, token in enumerate(tokens):
        is_member = i > 0 and tokens[i - 1] == '.'  # threadIdx.x
        if re.match(r'[A-Za-z_]', token) and token not in KEYWORDS and not is_member:
            tokens[i] = 'v%d' % names.setdefault(token, len(names))
        elif token[0].isdigit() and not numbers:
            tokens[i] = '0'
    return ' '.join(token for token in tokens if token not in '{}')  # braces around one statement mean nothing


class Pairs:
    """Which structures the warm-up shows, and which of them with which numbers."""

    def __init__(self, path):
        sources = [kernel_of(pair['answer']) for pair in read_lines(path)]
        self.structures = {structure(source, numbers=False) for source in sources}
        self.kernels = {structure(source, numbers=True) for source in sources}

    def novelty(self, source):
        if structure(source, numbers=False) not in self.structures:
            return 'structure'
        return '' if structure(source, numbers=True) in self.kernels else 'parameters'


def evaluation_value(evaluation, name):
    values = [v['value'] for v in evaluation['values'] if v['name'] == name]
    return statistics.fmean(values) if values else None


class Run:
    """A run of reinforcement: its samples by iteration, and its best kernels."""

    def __init__(self, folder):
        self.iterations = []
        for file in sorted((folder / 'samples').glob('*.jsonl')):
            samples = [s for s in read_lines(file) if 'left_out' not in s]
            if samples and 'roofline' in samples[0]:
                self.iterations.append(samples)
        self.best = {}
        for file in sorted((folder / 'best').glob('*.json')):
            kernel = read_json(file)
            self.best[kernel['task']] = kernel
        self.seconds = sum(m.get('time_s/iteration', 0) for m in read_lines(folder / 'metrics.jsonl'))

    def best_roofline(self, task):
        """The share of the best kernel found, or None."""
        best = self.best.get(task)
        return evaluation_value(best['evaluation'], 'roofline') if best else None

    def tasks(self):
        return sorted({s['task'] for samples in self.iterations for s in samples})

    def roofline(self, task, iteration):
        """The mean over the episodes of an iteration of the best turn's share."""
        best = {}
        for s in self.iterations[iteration]:
            if s['task'] == task:
                key = s['group'], s['member']
                best[key] = max(best.get(key, 0), s['roofline'] or 0)
        return statistics.fmean(best.values()) if best else None

    def strategies(self, iterations):
        """Of the correct kernels: how many show each strategy, as shares."""
        correct = [s for i in iterations for s in self.iterations[i] if s['verdict'] == 'ok']
        names = sorted({n for s in correct for n in s['strategies'].split(', ') if n})
        return {n: sum(n in s['strategies'].split(', ') for s in correct) / len(correct)
                for n in names}


def table(head, rows):
    print('| ' + ' | '.join(head) + ' |\n|' + '---|' * len(head))
    for row in rows:
        print('| ' + ' | '.join(row) + ' |')
    print()


def number(value, digits=2):
    return '' if value is None else f'{value:.{digits}f}'


class Seed:
    def __init__(self, runs, seed):
        self.seed = seed
        self.run = Run(runs / f'h200_{seed}')
        control = runs / f'h200_{seed}_control'
        self.control = Run(control) if control.exists() else None
        self.measured = {}
        for label in LABELS:
            sets = {}
            for part in ('train', 'holdout', 'sizes'):
                measured = read_json(runs / f'h200_{seed}_{label}.{part}.json')
                for s in measured['sets'] if measured else []:
                    sets['sizes' if part == 'sizes' else s['name']] = s
            if sets:
                self.measured[label] = sets

    def at(self, label, task, figure, k):
        tasks = self.measured.get(label, {}).get('train', {'tasks': []})['tasks']
        found = [t['at'].get(figure, {}).get(str(k)) for t in tasks if t['id'] == task]
        return found[0] if found else None


def print_sets(seeds):
    rows = []
    for name, title in SETS.items():
        for label, who in LABELS.items():
            for seed in seeds:
                s = seed.measured.get(label, {}).get(name)
                if s is None:
                    continue
                at, ks = s['at'], sorted(map(int, s['at']['passed']))
                compiles = s['turns'][0]['compile_rate']
                rows.append([title, who, str(seed.seed), number(compiles),
                             number(at['passed']['1'])] +
                            [number(at.get('roofline', {}).get(str(k)), 3) for k in (1, 16, 64)] +
                            [number(at.get('roofline', {}).get(str(ks[-1])), 3),
                             number(at.get('speedup', {}).get('1'))])
    table(['set', 'policy', 'seed', 'compiles', 'passes', 'roofline, avg', 'best@16', 'best@64',
           'best of all', 'speedup, avg'], rows)


def print_tasks(seed, pairs):
    rows, doubled, beyond = [], [], 0
    for task in seed.run.tasks():
        warm, learned = (seed.at(label, task, 'roofline', 1) for label in ('warm', 'learned'))
        warm_best = seed.at('warm', task, 'roofline', 64)
        best = seed.run.best.get(task)
        share = seed.run.best_roofline(task)
        naive = None
        if best:
            timed = [c for c in best['evaluation']['cases'] if c.get('time_ns')]
            naive = share * statistics.fmean(c['time_ns'] / c['baseline_ns'] for c in timed)
        if warm and learned:
            doubled.append(learned / warm)
        passes = warm_best is not None and share is not None and share > 1.02 * warm_best
        beyond += passes
        rows.append([task, number(naive, 3), number(warm, 3), number(warm_best, 3),
                     number(seed.at('best_of', task, 'roofline', 1), 3), number(learned, 3),
                     number(seed.at('learned', task, 'roofline', 64), 3), number(share, 3),
                     number(seed.control.best_roofline(task) if seed.control else None, 3),
                     'yes' if passes else '', pairs.novelty(best['source']) if best else ''])
    table(['task', 'naive', 'warm start, avg', 'best@64', 'fine-tuned, avg', 'reinforced, avg',
           'best@64', 'best found', 'control, best found', "beyond the warm start's best@64", 'stands in no pair'], rows)
    columns = {name: [float(r[i]) for r in rows if r[i]] for name, i in
               (('warm start', 2), ('fine-tuned', 4), ('reinforced', 5), ('best found', 7),
                ('control, best found', 8))}
    samples = ['%d samples' % sum(map(len, run.iterations)) for run in (seed.run, seed.control) if run]
    print('The run drew ' + ', its control '.join(samples) + '. Medians over the tasks: ' + ', '.join(
        f'{name} {statistics.median(v):.3f}' for name, v in columns.items() if v) +
        f". Best kernels beyond the warm start's best@64 on {beyond} of {len(rows)} tasks.\n")


def print_course(seed):
    iterations = seed.run.iterations
    shown = sorted({0, 2, 4, 9, 14, 19, len(iterations) - 1} & set(range(len(iterations))))
    rows = []
    for task in seed.run.tasks():
        row = [task] + [number(seed.run.roofline(task, i), 3) for i in shown]
        if seed.control:
            row.append(number(seed.control.roofline(task, len(seed.control.iterations) - 1), 3))
        rows.append(row)
    table(['task'] + [f'iteration {i + 1}' for i in shown] +
          (['control, last'] if seed.control else []), rows)


def print_strategies(seed):
    first, last = (seed.run.strategies(part) for part in
                   (range(3), range(len(seed.run.iterations) - 3, len(seed.run.iterations))))
    control = seed.control.strategies(range(len(seed.control.iterations))) if seed.control else {}
    table(['strategy, of the correct kernels', 'first three iterations', 'last three', 'control'],
          [[name, number(first.get(name, 0)), number(last.get(name, 0)),
            number(control.get(name)) if control else '']
           for name in sorted({*first, *last, *control})])


def write_svg(path, seeds):
    """The roofline share of each task over the iterations: every seed, and its control in grey."""
    width, height, margin, across = 240, 120, 34, 3
    tasks = seeds[0].run.tasks()
    down = -(-len(tasks) // across)
    longest = max(len(run.iterations) for seed in seeds for run in (seed.run, seed.control) if run)
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 '
             f'{across * (width + 2 * margin)} {down * (height + 2 * margin)}" '
             'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" '
             'fill="white"/>']

    def line(run, task, left, top, colour):
        shares = [run.roofline(task, i) for i in range(len(run.iterations))]
        points = ' '.join(
            f'{left + width * i / max(longest - 1, 1):.1f},{top + height * (1 - s):.1f}'
            for i, s in enumerate(shares) if s is not None)
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}"/>')

    for n, task in enumerate(tasks):
        left = margin + n % across * (width + 2 * margin)
        top = margin + n // across * (height + 2 * margin)
        lines.append(f'<text x="{left}" y="{top - 8}" font-weight="bold">{task}</text>')
        for share in (0, 0.5, 1):
            y = top + height * (1 - share)
            lines.append(f'<path d="M{left} {y}h{width}" stroke="#ddd"/><text x="{left - 4}" '
                         f'y="{y + 4}" text-anchor="end">{share:g}</text>')
        lines.append(f'<text x="{left + width}" y="{top + height + 14}" text-anchor="end">{longest} iterations</text>')
        for seed in seeds:
            if seed.control:
                line(seed.control, task, left, top, '#999')
            line(seed.run, task, left, top, '#1764ab')
    path.write_text('\n'.join(lines) + '\n</svg>\n', encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--runs', type=pathlib.Path, default='runs')
    parser.add_argument('--seeds', type=int, nargs='+', required=True)
    parser.add_argument('--pairs', type=pathlib.Path, required=True)
    parser.add_argument('--svg', type=pathlib.Path)
    arguments = parser.parse_args()
    seeds = [Seed(arguments.runs, seed) for seed in arguments.seeds]
    pairs = Pairs(arguments.pairs)
    print('## Sets\n')
    print_sets(seeds)
    for seed in seeds:
        print(f'## Seed {seed.seed}, {seed.run.seconds:.0f} s\n')
        print_tasks(seed, pairs)
        print_course(seed)
        print_strategies(seed)
    for task, kernel in seeds[0].run.best.items():
        print(f"{task}, iteration {kernel['iteration']}:\n```cuda\n{kernel['source'].strip()}\n```\n")
    if arguments.svg:
        write_svg(arguments.svg, seeds)


if __name__ == '__main__':
    sys.exit(main())
