#!/usr/bin/env python3
"""Compares searches for kernels at equal numbers of distinct kernels judged, on the CPU.

    bench/discovery/discovery.py --seeds 1 2 3 --runs runs/discovery >discovery.md

All arms of a seed begin with one warm start, whose pairs and policy are the seed's:

    learner    configs/discover.toml
    frozen     the same search with a policy that does not learn
    sampling   answers of the frozen policy to the tasks' first prompts
    tuner      no model: the fastest kernels of `sampling`'s first answers, with other numbers

The budget is the number of distinct kernels of a task that were judged, whatever the verdict. Sources that
differ in blanks and comments are one kernel. A run that is there is continued, or only read. The times are
the emulator's estimates, so a run repeats exactly. Standard library only.
"""
import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FROZEN = ['learn.optimizer.lr=0', 'learn.optimizer.schedule=constant', 'learn.imitate=0']
ARMS = {'learner': [], 'frozen': FROZEN,
        'sampling': FROZEN + ['archive.enabled=false', 'rollout.distinct=0']}
BUDGETS = [25, 50, 100, 150, 200]
BLOCKS = [8, 16, 32, 64, 128, 256, 512, 1024]
GRIDS = [2, 4, 8, 16, 32, 64, 128]


def run(program, plan, name, seed, runs, *settings):
    call = [program, '--plan', HERE / plan, '--resume', '--set', f'run.name={name}', '--set', f'run.seed={seed}',
            '--set', f'run.directory={runs}']
    for setting in settings:
        call += setting if isinstance(setting, list) else ['--set', setting]
    subprocess.run([str(word) for word in call], check=True, stdout=subprocess.DEVNULL)


def warm_start(program, seed, runs):
    # The seeds of the pairs differ between the two datasets and between seeds.
    run(program, 'warm.toml', f'warm_{seed}', seed, runs, f'dataset.1.seed={2 * seed}', f'dataset.2.seed={2 * seed + 1}')
    return max((runs / f'warm_{seed}' / 'checkpoints').glob('step_*'))


def kernel_of(answer):
    return answer.split('```cuda\n', 1)[1].split('```', 1)[0] if '```cuda\n' in answer else ''


def identity(source):
    """The kernel without blanks and comments other than directives."""
    directives = ''.join(re.findall(r'^\s*//\s*@.*$', source, re.MULTILINE))
    code = re.sub(r'//[^\n]*|/\*.*?\*/', '', source, flags=re.DOTALL)
    return re.sub(r'\s', '', directives + code)


class Found:
    """The distinct kernels of each task in the order in which they were judged."""

    def __init__(self):
        self.kernels = {}  # task -> {identity: (speedup, roofline)}; 0 where it is not right
        self.sources = {}  # task -> [(speedup, source)] of the right ones

    def add(self, task, source, right, speedup, roofline):
        known = self.kernels.setdefault(task, {})
        if not source or identity(source) in known:
            return
        known[identity(source)] = (speedup, roofline) if right and speedup else (0, 0)
        if right and speedup:
            self.sources.setdefault(task, []).append((speedup, source))

    def best(self, budget, which):
        """The best of the first `budget` kernels of each task."""
        return {task: max((k[which] for k in list(kernels.values())[:budget]), default=0)
                for task, kernels in self.kernels.items()}


def found_by(run_folder, most_iterations=None):
    found = Found()
    for file in sorted((run_folder / 'samples').glob('iteration_*.jsonl'))[:most_iterations]:
        for line in file.read_text(encoding='utf-8').splitlines():
            turn = json.loads(line)
            if 'answer' in turn and turn['verdict'] != 'infra_error':
                found.add(turn['task'], kernel_of(turn['answer']), turn['verdict'] == 'ok', turn['speedup'],
                          turn['roofline'] or 0)
    return found


def without_numbers(source):
    return re.sub(r'\b\d+\b', '0', identity(source))


def retuned(source):
    """The kernel with other blocks, and other grids of a fixed size; each number is replaced everywhere."""
    launch = re.search(r'<<<(.*),\s*(\d+)\s*(?:,[^>]*)?>>>', source)
    if not launch:
        return
    choices = [(launch.group(2), BLOCKS)]
    if re.fullmatch(r'\s*\d+\s*', launch.group(1)):
        choices.append((launch.group(1).strip(), GRIDS))
    for number, values in choices:
        for value in values:
            yield re.sub(rf'(?<![\w.]){number}(?![\w.])', str(value), source)


def tune(program, sampled, folder):
    """Judges variants of the fastest kernel of each task's four best structures."""
    found = Found()
    for task, kernels in sampled.kernels.items():
        found.kernels[task] = dict(kernels)
    for task, kernels in sampled.sources.items():
        structures = {}
        for speedup, source in sorted(kernels, reverse=True):
            structures.setdefault(without_numbers(source), source)
        place = folder / 'kernels' / task
        place.mkdir(parents=True, exist_ok=True)
        variants = [v for source in list(structures.values())[:4] for v in retuned(source)]
        for number, variant in enumerate(variants):
            (place / f'{number:03}.cu').write_text(variant, encoding='utf-8')
    output = folder / 'verdicts.jsonl'
    subprocess.run([program, 'eval', '--backend', 'cpu', '--task', 'tasks', str(folder / 'kernels'), '--output', str(output)],
                   check=False, stdout=subprocess.DEVNULL)
    verdicts = [json.loads(line) for line in output.read_text(encoding='utf-8').splitlines()]
    for verdict in sorted(verdicts, key=lambda v: v['kernel']):
        source = (folder / 'kernels' / verdict['kernel']).read_text(encoding='utf-8')
        shares = [v['value'] for v in verdict['evaluation'].get('values', []) if v['name'] == 'roofline']
        found.add(verdict['task'], source, verdict['right'], verdict['speedup'], statistics.mean(shares) if shares else 0)
    return found


def geometric_mean(values):
    return math.exp(statistics.mean(math.log(v) for v in values)) if values and min(values) > 0 else 0


def summary(found):
    cells = []
    for budget in BUDGETS:
        judged = statistics.mean(min(budget, len(k)) for k in found.kernels.values())
        speedups, shares = found.best(budget, 0).values(), found.best(budget, 1).values()
        full = '' if judged > 0.95 * budget else f' ({judged:.0f})'
        cells.append(f'{geometric_mean(list(speedups)):.3f}, {statistics.mean(shares):.3f}{full}')
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seeds', type=int, nargs='+', default=[1])
    parser.add_argument('--runs', type=pathlib.Path, default=pathlib.Path('runs/discovery'))
    parser.add_argument('--program', default='build/release/bin/kernelrl')
    parser.add_argument('--iterations', type=int, default=24)
    parser.add_argument('--tuned', type=int, default=3, help='iterations of `sampling` that the tuner begins with')
    arguments = parser.parse_args()
    print('Geometric mean of the best speedups, and mean of the best shares of the roofline, by distinct kernels judged of each\n'
          'task; in brackets how many there were, if the arm judged fewer.\n')
    print('| seed | arm | ' + ' | '.join(str(b) for b in BUDGETS) + ' |')
    print('|---' * (2 + len(BUDGETS)) + '|')
    for seed in arguments.seeds:
        start = warm_start(arguments.program, seed, arguments.runs)
        arms = {}
        for arm, settings in ARMS.items():
            name = f'{arm}_{seed}'
            run(arguments.program, 'arm.toml', name, seed, arguments.runs, f'run.from={start.resolve()}',
                f'stage.search.iterations={arguments.iterations}', *settings)
            arms[arm] = found_by(arguments.runs / name)
        first = found_by(arguments.runs / f'sampling_{seed}', arguments.tuned)
        arms['tuner'] = tune(arguments.program, first, arguments.runs / f'tuner_{seed}')
        for arm, found in arms.items():
            print(f'| {seed} | {arm} | ' + ' | '.join(summary(found)) + ' |', flush=True)


if __name__ == '__main__':
    sys.exit(main())
