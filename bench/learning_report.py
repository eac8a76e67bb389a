#!/usr/bin/env python3
"""What a run has learned, from its folder: curves, and the best kernel of each task beside its roofline.

    bench/learning_report.py runs/smollm2 --gb-per-s 4800 --svg curves.svg >report.md

The table has, for each shape of a task, the times of the naive and of the best kernel, and two
bounds: what moving the inputs and outputs once takes at the memory's bandwidth, and the shortest
kernel of the whole run, as none is shorter than a launch. Then the kernels. Standard library only.
"""
import argparse
import json
import pathlib
import re
import tomllib

TASKS = pathlib.Path(__file__).parent.parent / 'configs' / 'tasks'
CURVES = (  # over the iterations of reinforcement: title, and of each curve metric and colour
    ('compile and pass rate', (('kernel/compile_rate', '#999'), ('kernel/pass_rate', '#1764ab'))),
    ('speedup over the naive kernel, capped', (('kernel/speedup_capped', '#1764ab'),)),
    ('by tier: pass rate', (('tier_0/pass_rate', '#1764ab'), ('tier_1/pass_rate', '#b4561b'))),
    ('by tier: capped speedup', (('tier_0/speedup_capped', '#1764ab'),
                                 ('tier_1/speedup_capped', '#b4561b'))),
)
WIDTH, HEIGHT, MARGIN = 420, 200, 46


def read_iterations(run):
    """The reinforcement iterations; of one that was repeated after a restart, the last."""
    iterations = {}
    with open(run / 'metrics.jsonl', encoding='utf-8') as file:
        for line in file:
            metrics = json.loads(line)
            if 'kernel/pass_rate' in metrics:
                iterations[metrics['iteration']] = metrics
    return [iterations[i] for i in sorted(iterations)]


def nice_ticks(low, high):
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10) if (high - low) / s <= 6)
    first = int(low / step)
    return [round(step * i, 4) for i in range(first, int(high / step) + 2)]


def panel(title, curves, iterations, top):
    """One diagram over the iterations; `top`: where it begins."""
    values = {name: [(i, m[name]) for i, m in enumerate(iterations) if m.get(name) is not None]
              for name, _ in curves}
    everything = [v for points in values.values() for _, v in points]
    if not everything:
        return []
    ticks = nice_ticks(min(everything), max(everything))
    low, high = ticks[0], ticks[-1]

    def x(i):
        return MARGIN + WIDTH * i / max(1, len(iterations) - 1)

    def y(value):
        return top + HEIGHT - HEIGHT * (value - low) / (high - low)
    lines = [f'<text x="{MARGIN}" y="{top - 8}" font-weight="bold">{title}</text>']
    for tick in ticks:
        lines.append(f'<path d="M{MARGIN} {y(tick):.1f}h{WIDTH}" stroke="#ddd"/>'
                     f'<text x="{MARGIN - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}'
                     '</text>')
    for i in (0, len(iterations) - 1):
        lines.append(f'<text x="{x(i):.1f}" y="{top + HEIGHT + 16}" text-anchor="middle">'
                     f'{i + 1}</text>')
    for n, (name, colour) in enumerate(curves):
        points = ' '.join(f'{x(i):.1f},{y(v):.1f}' for i, v in values[name])
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" '
                     'stroke-width="1.5"/>')
        lines.append(f'<text x="{MARGIN + WIDTH}" y="{top - 8 - 12 * n}" text-anchor="end" '
                     f'fill="{colour}">{name}</text>')
    return lines


def write_svg(path, iterations):
    height = len(CURVES) * (HEIGHT + 2 * MARGIN)
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" '
             f'viewBox="0 0 {WIDTH + 2 * MARGIN} {height}" font-family="sans-serif" '
             'font-size="11">', f'<rect width="100%" height="{height}" fill="white"/>']
    for n, (title, curves) in enumerate(CURVES):
        lines += panel(title, curves, iterations, MARGIN + n * (HEIGHT + 2 * MARGIN))
    lines.append('</svg>')
    path.write_text('\n'.join(lines) + '\n', encoding='utf-8')


def bytes_moved(task, label):
    """Of a case's inputs and outputs, each once."""
    axes = {name: size for name, size in task['axes'].items() if size != 'var'}
    axes |= {name: int(size) for name, size in re.findall(r'(\w+)=(\d+)', label)}
    total = 0
    for tensor in task['input'] + task['output']:
        size = {'float32': 4, 'int32': 4, 'float16': 2}[tensor['dtype']]
        for axis in tensor['shape']:
            size *= axes.get(axis, axis)
        total += size
    return total


def read_best(run):
    definitions = {file.stem: file for file in TASKS.rglob('*.toml')}
    best = []
    for file in sorted((run / 'best').glob('*.json')):
        kernel = json.loads(file.read_text(encoding='utf-8'))
        task = tomllib.loads(definitions[kernel['task']].read_text(encoding='utf-8'))
        best.append((kernel, task))
    return best


def print_table(best, bytes_per_ns):
    timed = [(kernel, task, case) for kernel, task in best
             for case in kernel['evaluation']['cases'] if case.get('time_ns')]
    shortest = min(case['time_ns'] for _, _, case in timed)
    print(f'The shortest kernel takes {shortest / 1e3:.2f} us.\n')
    print('| task | tier | shape | naive, us | best, us | speedup | memory alone, us '
          '| of the shortest |')
    print('|---|---|---|---|---|---|---|---|')
    for kernel, task, case in timed:
        moved = bytes_moved(task, case['label']) / bytes_per_ns
        print(f"| {kernel['task']} | {task['tier']} | {case['label']} "
              f"| {case['baseline_ns'] / 1e3:.2f} | {case['time_ns'] / 1e3:.2f} "
              f"| {case['speedup']:.2f} [{case['speedup_low']:.2f}, {case['speedup_high']:.2f}] "
              f"| {moved / 1e3:.3f} | {case['time_ns'] / shortest:.2f} |")


def print_course(iterations):
    """First and last iteration, and what was measured of hold-outs in any."""
    names = ('kernel/compile_rate', 'kernel/pass_rate', 'kernel/speedup_capped',
             'tier_0/pass_rate', 'tier_0/speedup_capped', 'tier_1/pass_rate',
             'tier_1/speedup_capped', 'kernel/regressions_holdout',
             'holdout/tasks/compile_rate', 'holdout/tasks/pass_rate',
             'holdout/tasks/speedup_capped', 'time_s/iteration')
    print('| | first | last |\n|---|---|---|')
    for name in names:
        measured = [m[name] for m in iterations if m.get(name) is not None]
        if measured:
            print(f'| `{name}` | {measured[0]:.3f} | {measured[-1]:.3f} |')
    print(f"\n{len(iterations)} iterations, {sum(m['time_s/iteration'] for m in iterations):.0f} s "
          f"in all, the longest {max(m['time_s/iteration'] for m in iterations):.1f} s.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('run', type=pathlib.Path)
    parser.add_argument('--gb-per-s', type=float, required=True, help="of the GPU's memory")
    parser.add_argument('--svg', type=pathlib.Path)
    arguments = parser.parse_args()
    iterations, best = read_iterations(arguments.run), read_best(arguments.run)
    print_course(iterations)
    print_table(best, arguments.gb_per_s)
    for kernel, _ in best:
        print(f"\n{kernel['task']}, iteration {kernel['iteration']}:\n```cuda\n"
              f"{kernel['source'].strip()}\n```")
    if arguments.svg:
        write_svg(arguments.svg, iterations)


if __name__ == '__main__':
    main()
