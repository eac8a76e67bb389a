#!/usr/bin/env python3
"""Compares searches for kernels at equal numbers of distinct kernels judged, on the CPU or on GPUs.

    bench/discovery/discovery.py --seeds 1 2 3 4 5 --runs runs/discovery >discovery.md
    bench/discovery/discovery.py --edition gpu --jobs 4 --seeds 1 2 --arms learner frozen --minutes 25 >discovery.md

All arms of a seed begin with one warm start, whose pairs and policy are the seed's:

    learner    cpu_arm.toml or gpu_arm.toml
    frozen     the same search with a policy that does not learn
    sampling   answers of the frozen policy at a lower temperature
    expert     the learner, by the best quarter of each group alone: nothing is unlearned
    max_at_k   the learner, for the best of 8 answers instead of their mean
    entropic   the learner, with weights that grow exponentially with the return
    unlikely   the learner, which learns less from right answers that were likely
    clip_cov, kl_cov   the learner, with a brake on the tokens that cost most entropy
    tuner      no model: the fastest kernels of the first answers of the frozen policy, with other numbers

With `--ceilings`, the kernels of each seed's pairs are judged too, up to `--shown` of a task, and those that the templates make without withholding anything: what a
search can recollect, and what it could combine. With `--tasks proposed`, the arms search for kernels of tasks that the dataset `templates` composes by the seed, which no
pair shows.

With `--transfer`, the policies of the warm start and of the learner, both frozen, search for kernels of tasks that no arm was trained on, but
whose pairs the warm start holds.

The budget is the number of distinct kernels of a task that were judged, whatever the verdict. Sources that
differ in blanks and comments are one kernel. A run that is there is continued, or only read. On the CPU the
times are the emulator's estimates, so a run repeats exactly; on GPUs each of `--jobs` runs has one to itself.
Standard library only.

Differences between arms are of the tasks' logarithms of the best speedup, and of their best shares of the
roofline; the interval is that of 95 % by a bootstrap over seeds and, within each, tasks; p by all changes of
sign of the tasks' mean differences.
"""
import argparse
import concurrent.futures
import contextlib
import itertools
import json
import math
import os
import pathlib
import queue
import random
import re
import signal
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FROZEN = ['learn.optimizer.lr=0', 'learn.optimizer.schedule=constant', 'learn.imitate=0']
SAMPLING = FROZEN + ['archive.enabled=false', 'rollout.distinct=0', 'rollout.temperature=0.7']
EXPERT = ['learn.advantage=quantile', 'learn.quantile=0.75']
# Iterations, as a multiple of the learner's, and what differs from its plan.
ARMS = {'learner': (1, []), 'frozen': (0.75, FROZEN), 'sampling': (2, SAMPLING), 'expert': (1, EXPERT),
        'max_at_k': (1, ['learn.advantage=max_at_k', 'learn.k=8']), 'entropic': (1, ['learn.advantage=entropic']),
        'unlikely': (1, ['learn.unlikeliness=0.5']), 'clip_cov': (1, ['learn.loss.clip_cov=0.0002']), 'kl_cov': (1, ['learn.loss.kl_cov=0.002'])}
UNTRAINED = {'cpu': ['row_mean', 'total_max', 'relu', 'saxpy', 'scale', 'vector_mul'],
             'gpu': ['row_max', 'total_max', 'relu', 'saxpy', 'scale', 'sigmoid', 'vector_mul', 'abs_diff']}
BUDGETS = {'cpu': [25, 50, 75, 100, 150], 'gpu': [50, 100, 250, 500, 1000, 1500]}
BLOCKS = [8, 16, 32, 64, 128, 256, 512, 1024]
GRIDS = [2, 4, 8, 16, 32, 64, 128]
# The kernels of a seed's pairs, by what differs from the warm start.
CEILINGS = {'pairs': [], 'pairs with nothing withheld': ['dataset.1.withhold=[]']}
ALL = 1 << 30  # a budget


def run(options, plan, name, seed, settings, minutes=None):
    """Ends with a checkpoint after `minutes`; another call goes on with it."""
    call = [options.program, '--plan', HERE / f'{options.edition}_{plan}.toml', '--resume', '--set', f'run.name={name}', '--set',
            f'run.seed={seed}', '--set', f'run.directory={options.runs}']
    for setting in settings + options.set:
        call += ['--set', setting]
    with one_of(options.gpus) as gpu, (options.runs / f'{name}.log').open('w') as log:
        process = subprocess.Popen([str(word) for word in call], stdout=log, stderr=subprocess.STDOUT,
                                   env={**os.environ, **({'CUDA_VISIBLE_DEVICES': gpu} if gpu else {})})
        try:
            ended = process.wait(minutes * 60 if minutes else None)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            process.wait()
        else:
            if ended != 0:
                sys.exit(f'{name} failed: {log.name}')


@contextlib.contextmanager
def one_of(free):
    taken = free.get()
    try:
        yield taken
    finally:
        free.put(taken)


def newest_checkpoint(folder):
    return max((folder / 'checkpoints').glob('step_*')).resolve()


def warm_start(options, seed):
    run(options, 'warm', f'warm_{seed}', seed, [f'dataset.1.seed={seed}'])
    return newest_checkpoint(options.runs / f'warm_{seed}')


def play(options, seed, arm, start):
    times, settings = ARMS[arm]
    if options.tasks == 'proposed':
        settings = ['dataset.0.role=holdout', f'dataset.2.seed={seed}', *settings]
    run(options, {'trained': 'arm'}.get(options.tasks, options.tasks), f'{arm}_{seed}', seed, [f'run.from={start}', f'stage.search.iterations={round(times * options.iterations)}', *settings],
        options.minutes)
    return found_by(options.runs / f'{arm}_{seed}')


def transfer(options, seed, origin):
    tasks = json.dumps(UNTRAINED[options.edition])
    start, name = newest_checkpoint(options.runs / f'{origin}_{seed}'), f'{origin}_elsewhere_{seed}'
    run(options, 'arm', name, seed, [f'run.from={start}', f'stage.search.iterations={options.iterations}', f'dataset.0.only={tasks}', *FROZEN],
        options.minutes)
    return found_by(options.runs / name)


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
        self.cells = []  # (kernels judged of a task, withheld cells filled) after each iteration

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


    def cells_at(self, budget):
        """Withheld cells with a right kernel when so many kernels of a task were judged; None if nobody counted."""
        reached = [filled for judged, filled in self.cells if judged < budget]
        return self.cells[min(len(reached), len(self.cells) - 1)][1] if self.cells else None


def found_by(run_folder, most_iterations=None):
    found = Found()
    for line in (run_folder / 'metrics.jsonl').read_text(encoding='utf-8').splitlines():
        metrics = json.loads(line)
        if 'judged/per_task' in metrics and 'withheld/filled' in metrics:
            found.cells.append((metrics['judged/per_task'], metrics['withheld/filled']))
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


def tune(options, sampled, folder):
    """Judges variants of the fastest kernel of each task's four best structures."""
    found = Found()
    variants = {}
    for task, kernels in sampled.kernels.items():
        found.kernels[task] = dict(kernels)
    for task, kernels in sampled.sources.items():
        structures = {}
        for speedup, source in sorted(kernels, reverse=True):
            structures.setdefault(without_numbers(source), source)
        variants[task] = [v for source in list(structures.values())[:4] for v in retuned(source)]
    return judge_all(options, variants, folder, found)


def shown(options, seed, name, tasks):
    """Judges the kernels of a seed's pairs for these tasks."""
    folder = options.runs / f'{name.replace(" ", "_")}_{seed}'
    folder.mkdir(exist_ok=True)
    call = [options.program, 'check', HERE / f'{options.edition}_warm.toml', '--pairs', folder / 'pairs.jsonl']
    for setting in [f'dataset.1.seed={seed}', *CEILINGS[name], *options.set]:
        call += ['--set', setting]
    subprocess.run([str(word) for word in call], check=True, stdout=subprocess.DEVNULL)
    kernels = {task: [] for task in tasks}
    for line in (folder / 'pairs.jsonl').read_text(encoding='utf-8').splitlines():
        pair = json.loads(line)
        if pair['task'] in kernels and len(kernels[pair['task']]) < options.shown:
            kernels[pair['task']].append(kernel_of(pair['answer']))
    return judge_all(options, kernels, folder, Found())


def judge_all(options, kernels, folder, found):
    """Judges kernels by task, and adds them to those found."""
    for task, sources in kernels.items():
        place = folder / 'kernels' / task
        place.mkdir(parents=True, exist_ok=True)
        for number, source in enumerate(sources):
            (place / f'{number:04}.cu').write_text(source, encoding='utf-8')
    output = folder / 'verdicts.jsonl'
    judge = ['--backend', 'cpu'] if options.edition == 'cpu' else ['--plan', str(HERE / 'gpu_arm.toml')]
    subprocess.run([options.program, 'eval', *judge, '--task', str(HERE.parents[1] / 'configs' / 'tasks'), str(folder / 'kernels'),
                    '--output', str(output)], check=False, stdout=subprocess.DEVNULL)
    verdicts = [json.loads(line) for line in output.read_text(encoding='utf-8').splitlines()]
    for verdict in sorted(verdicts, key=lambda v: v['kernel']):
        source = (folder / 'kernels' / verdict['kernel']).read_text(encoding='utf-8')
        shares = [v['value'] for v in verdict['evaluation'].get('values', []) if v['name'] == 'roofline']
        found.add(verdict['task'], source, verdict['right'], verdict['speedup'], statistics.mean(shares) if shares else 0)
    return found


def geometric_mean(values):
    return math.exp(statistics.mean(math.log(v) for v in values)) if values and min(values) > 0 else 0


def summary(found, budgets):
    cells = []
    for budget in budgets:
        judged = statistics.mean(min(budget, len(k)) for k in found.kernels.values())
        speedups, shares = found.best(budget, 0).values(), found.best(budget, 1).values()
        full = '' if judged > 0.95 * budget else f' ({judged:.0f})'
        withheld = found.cells_at(budget)
        filled = '' if withheld is None else f', {withheld:.0f}'
        cells.append(f'{geometric_mean(list(speedups)):.3f}, {statistics.mean(shares):.3f}{filled}{full}')
    return cells


def differences(arms, first, other, budget, which):
    """Of first - other: for each seed, by task."""
    value = (lambda x: math.log(max(x, 0.1))) if which == 0 else (lambda x: x)
    found = []
    for seed in arms.values():
        ours, theirs = seed[first].best(budget, which), seed[other].best(budget, which)
        found.append({task: value(ours[task]) - value(theirs[task]) for task in ours})
    return found


def interval(found, draws=10000):
    draw, means = random.Random(1), []
    for _ in range(draws):
        seeds = draw.choices(found, k=len(found))
        means.append(statistics.fmean(d for seed in seeds for d in draw.choices(list(seed.values()), k=len(seed))))
    means.sort()
    return means[draws // 40], means[-draws // 40 - 1]


def probability(found):
    """Of so large a mean by chance, if all signs were equally likely."""
    means = [statistics.fmean(seed[task] for seed in found) for task in found[0]]
    observed, sums = abs(sum(means)), [0.0]
    for mean in means:
        sums = [total + signed for total in sums for signed in (mean, -mean)]
    return sum(abs(total) >= observed - 1e-12 for total in sums) / len(sums)


def show(arms, first, budgets):
    """The arms of each seed, and the first of them against the others."""
    names = list(next(iter(arms.values())))
    print('\n| seed | arm | ' + ' | '.join(str(b) for b in budgets) + ' |')
    print('|---' * (2 + len(budgets)) + '|')
    for seed, arm in itertools.product(arms, names):
        print(f'| {seed} | {arm} | ' + ' | '.join(summary(arms[seed][arm], budgets)) + ' |')
    if first not in names:
        return
    print(f'\n| {first} against | kernels of a task | best speedup, ratio | p | best share of the roofline, difference | p | seeds, tasks '
          'in favour, against |')
    print('|---' * 7 + '|')
    for other in names:
        for budget in budgets if other != first else []:
            speed, share = (differences(arms, first, other, budget, which) for which in (0, 1))
            low, high = map(math.exp, interval(speed))
            lowest, highest = interval(share)
            ratio = math.exp(statistics.fmean(d for seed in speed for d in seed.values()))
            seeds = sum(statistics.fmean(seed.values()) > 0 for seed in speed)
            tasks = [statistics.fmean(seed[task] for seed in speed) for task in speed[0]]
            print(f'| {other} | {budget} | {ratio:.3f} ({low:.3f} to {high:.3f}) | {probability(speed):.3f} '
                  f'| {statistics.fmean(d for seed in share for d in seed.values()):+.4f} ({lowest:+.4f} to {highest:+.4f}) '
                  f'| {probability(share):.3f} | {seeds} of {len(speed)}; {sum(t > 0.02 for t in tasks)}, '
                  f'{sum(t < -0.02 for t in tasks)} of {len(tasks)} |')


def show_ceilings(options, arms):
    """What the pairs' own kernels reach, and in how many tasks each arm exceeds that by 5 %."""
    names = list(next(iter(arms.values())))
    print('\n| seed | kernels | of a task | best speedup, share of the roofline | ' + ' | '.join(f'tasks above, {name}' for name in names) + ' |')
    print('|---' * (4 + len(names)) + '|')
    for seed, name in itertools.product(arms, CEILINGS):
        top = shown(options, seed, name, next(iter(arms[seed].values())).kernels)
        best = top.best(ALL, 0)
        above = [sum(value > 1.05 * best[task] for task, value in arms[seed][arm].best(ALL, 0).items()) for arm in names]
        judged = statistics.mean(len(k) for k in top.kernels.values())
        print(f'| {seed} | {name} | {judged:.0f} | {summary(top, [ALL])[0].split(" (")[0]} | ' + ' | '.join(f'{n} of {len(best)}' for n in above) + ' |')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seeds', type=int, nargs='+', default=[1])
    parser.add_argument('--runs', type=pathlib.Path, default=pathlib.Path('runs/discovery'))
    parser.add_argument('--program', default='build/release/bin/kernelrl')
    parser.add_argument('--edition', choices=BUDGETS, default='cpu')
    parser.add_argument('--arms', nargs='+', choices=[*ARMS, 'tuner'], default=['learner', 'frozen', 'sampling', 'tuner'])
    parser.add_argument('--iterations', type=int, default=16)
    parser.add_argument('--minutes', type=float, help='of an arm, at most')
    parser.add_argument('--tuned', type=int, default=3, help='iterations of `frozen` that the tuner begins with')
    parser.add_argument('--tasks', choices=['trained', 'proposed'], default='trained')
    parser.add_argument('--ceilings', action='store_true', help='judge the kernels of the pairs, too')
    parser.add_argument('--shown', type=int, default=ALL, help='kernels of a task that --ceilings judges')
    parser.add_argument('--transfer', action='store_true', help='search with the learner for kernels of other tasks, too')
    parser.add_argument('--jobs', type=int, default=2, help='runs at a time')
    parser.add_argument('--set', action='append', default=[], metavar='KEY=VALUE', help='change the plans')
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    options.gpus = queue.Queue()
    for job in range(options.jobs):
        options.gpus.put(str(job) if options.edition == 'gpu' else '')
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        starts = dict(zip(options.seeds, pool.map(lambda seed: warm_start(options, seed), options.seeds)))
        runs = [one for one in itertools.product(options.seeds, ARMS) if one[1] in options.arms]
        found = dict(zip(runs, pool.map(lambda one: play(options, *one, starts[one[0]]), runs)))
        origins = list(itertools.product(options.seeds, ['learner', 'warm'] if options.transfer else []))
        elsewhere = dict(zip(origins, pool.map(lambda one: transfer(options, *one), origins)))
    arms = {seed: {arm: found[seed, arm] for arm in ARMS if arm in options.arms} for seed in options.seeds}
    if 'tuner' in options.arms:
        for seed in options.seeds:
            first = found_by(options.runs / f'frozen_{seed}', options.tuned)
            first.cells = []
            arms[seed]['tuner'] = tune(options, first, options.runs / f'tuner_{seed}')
    budgets = BUDGETS[options.edition]
    print('Geometric mean of the best speedups, mean of the best shares of the roofline, and withheld cells filled, by distinct\n'
          'kernels judged of each task; in brackets how many there were, if the arm judged fewer.\n')
    show(arms, 'learner', budgets)
    if options.ceilings:
        print('\nWhat the kernels of the pairs reach, and the tasks in which an arm exceeds that by 5 %:')
        show_ceilings(options, arms)
    if options.transfer:
        print('\nOn tasks that no arm was trained on:')
        show({seed: {origin: elsewhere[seed, origin] for origin in ('learner', 'warm')} for seed in options.seeds}, 'learner', budgets)


if __name__ == '__main__':
    sys.exit(main())
