#!/usr/bin/env python3
"""Compares what kernelrl makes of kernels in Triton with what Triton itself does with them, on a GPU.

    scripts/check_triton.py [KERNEL.py…]      default: tests/triton/kernels/right/*.py

Each kernel is launched by Triton's own launcher, by its directives, in the cases of its task. It is the same if
the PTX that Triton compiled is the one that kernelrl judges (plugins/backends/triton/python), apart from names
and lines, and its outputs are those of the task's reference. Needs PyTorch with CUDA and Triton 3.6; prints a line
for each kernel that differs, and a sum. The exit code is 1 if one differs.
"""
import importlib.util
import pathlib
import re
import sys
import tomllib

import torch
import triton
import triton.language as tl

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'plugins/backends/triton/python'))
from candidate import functions_of  # noqa: E402
from translate import lines_of, translate  # noqa: E402

SPELLED = {'float32': 'fp32', 'float16': 'fp16', 'bfloat16': 'bf16', 'float64': 'fp64', 'int64': 'i64', 'int32': 'i32',
           'int16': 'i16', 'int8': 'i8', 'uint8': 'u8', 'bool': 'i1'}
OPTIONS = ('num_warps', 'num_stages', 'maxnreg')


def value_of(expression, names):
    """An expression of docs/tasks.md; `x.size` is a name."""
    text = re.sub(r'(\w+)\.size', r'size_of_\1', expression)
    text = re.sub(r'(?<!/)/(?!/)', '//', text) if not re.search(r'\.\d|\de', text) else text
    functions = {'ceil_div': lambda a, b: -(-a // b), 'next_pow2': lambda a: 1 << max(0, a - 1).bit_length(),
                 'min': min, 'max': max, 'abs': abs, 'sqrt': lambda a: a ** 0.5, 'dim3': lambda *a: a, 'tl': tl, 'triton': triton}
    return eval(text, {'__builtins__': {}}, {**functions, **names})


def inputs_of(task, names):
    generator = torch.Generator('cuda').manual_seed(1)
    for tensor in task.get('input', []):
        shape = [value_of(str(size), names) for size in tensor['shape']]
        dtype, values = getattr(torch, tensor['dtype']), tensor.get('values', 'normal')
        low, high = (value_of(str(bound), names) for bound in tensor.get('bounds', ['0', '1']))
        if values in ('integers', 'sorted', 'offsets'):
            data = torch.randint(int(low), int(high), shape, generator=generator, device='cuda')
            if values != 'integers':
                data = data.sort(-1).values
            if values == 'offsets':
                data[..., 0], data[..., -1] = int(low), int(high)
        elif values == 'permutation':
            data = torch.rand(shape, generator=generator, device='cuda').argsort(-1)
        elif values in ('bernoulli', 'flags'):
            data = torch.rand(shape, generator=generator, device='cuda') < 0.5
        elif values == 'normal':
            data = torch.randn(shape, generator=generator, device='cuda')
        else:
            data = torch.rand(shape, generator=generator, device='cuda') * (high - low) + low
        yield tensor['name'], data.to(dtype)


def launches_of(source):
    for line in source.split('\n'):
        scratch = re.match(r'\s*#\s*@scratch (\w+) (\w+)\[(.*)\]', line)
        launch = re.match(r'\s*#\s*@launch (\w+)\[(.*)\]\((.*)\)\s*$', line)
        if scratch or launch:
            yield 'scratch' if scratch else 'launch', (scratch or launch).groups()


def pieces(text):
    depth, start = 0, 0
    for at, c in enumerate(text + ','):
        depth += (c in '([') - (c in ')]')
        if c == ',' and depth == 0:
            if text[start:at].strip():
                yield text[start:at].strip()
            start = at + 1


def spelled(name, function, positional, named):
    """What kernelrl calls a kernel for these arguments."""
    given = dict(zip((p.name for p in function.params), positional)) | named
    parts, constants = [], []
    for parameter in function.params:
        if parameter.is_constexpr:
            if parameter.name in given:
                constants.append(f'{parameter.name}={given[parameter.name]!r}')
            continue
        value = given[parameter.name]
        if isinstance(value, torch.Tensor):
            parts.append('*' + SPELLED[str(value.dtype).removeprefix('torch.')] + ':16')
        elif isinstance(value, float):
            parts.append('fp32')
        else:
            width = 'i32' if -2 ** 31 <= value < 2 ** 31 else 'i64'
            parts.append('1' if value == 1 else width + (':16' if value % 16 == 0 else ''))
    constants += [f'{option}={named[option]}' for option in OPTIONS if option in named]
    return f'{name}({", ".join(parts + constants)})'


def code_of(ptx, name):
    """The instructions, without lines of the source and the entry's name."""
    lines = [line for line in lines_of(ptx) if '.loc' not in line and '.file' not in line]
    return [re.sub(rf'\b{re.escape(name)}\b|\b{re.escape(name)}_param', 'entry', line) for line in lines
            if not re.match(r'\$L__tmp|\.version', line)]


def check(path, tasks, capability):
    """The differences, as words."""
    source = path.read_text()
    task = tasks[re.match(r'# task: (\w+)', source)[1]]
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    scope = {}
    exec('import torch\nfrom typing import *\nfrom torch import Tensor\n' + task['reference'], scope)
    for case in task['cases']:
        names = dict(case)
        for axis, size in task['axes'].items():
            if size != 'var':
                names[axis] = value_of(str(size), names)
        scalars = {s['name']: value_of(str(s['value']), names) for s in task.get('scalar', [])}
        for scalar in task.get('scalar', []):
            scalars[scalar['name']] = (float if 'float' in scalar['dtype'] else int)(scalars[scalar['name']])
        inputs = dict(inputs_of(task, names))
        expected = scope['run'](*(t.clone() for t in inputs.values()), *scalars.values())
        buffers = dict(inputs)
        for tensor in task['output']:
            if tensor['name'] not in buffers:
                shape = [value_of(str(size), names) for size in tensor['shape']]
                buffers[tensor['name']] = torch.empty(shape, dtype=getattr(torch, tensor['dtype']), device='cuda')
        for kind, (name, first, rest) in launches_of(source):
            sizes = {'size_of_' + key: value.numel() for key, value in buffers.items()}
            known = names | sizes | {k: v for k, v in scalars.items() if isinstance(v, int)}
            if kind == 'scratch':
                buffers[name] = torch.empty(value_of(rest, known), dtype=getattr(torch, first), device='cuda')
                continue
            positional, named = [], {}
            for piece in pieces(rest):
                key, given, value = piece.partition('=')
                word = value if given else key
                argument = buffers.get(word.strip(), scalars.get(word.strip()))
                argument = value_of(word, known) if argument is None else argument
                if given:
                    named[key.strip()] = argument
                else:
                    positional.append(argument)
            grid = value_of(first, known | {k: v for k, v in named.items() if isinstance(v, int)})
            function = getattr(module, name)
            theirs = function[grid if isinstance(grid, tuple) else (grid,)](*positional, **named)
            ours = translate(functions_of(source), [spelled(name, function, positional, named)], capability)
            entry = re.search(r'\.entry (\w+)', theirs.asm['ptx'])[1]
            if code_of(ours['ptx'], name) != code_of(theirs.asm['ptx'], entry):
                return f'other PTX in {case}: {spelled(name, function, positional, named)}'
            if ours['shared_bytes'] != [theirs.metadata.shared]:
                return f'other shared memory in {case}'
        torch.cuda.synchronize()
        expected = expected if isinstance(expected, tuple) else (expected,)
        for tensor, right in zip(task['output'], expected):
            found = buffers[tensor['name']].double()
            if not torch.allclose(found, right.double().reshape(found.shape), rtol=2e-2, atol=2e-2, equal_nan=True):
                return f'{tensor["name"]} is wrong in {case}'
    return ''


def main():
    tasks = {}
    for file in (ROOT / 'configs/tasks').glob('*/*.toml'):
        task = tomllib.loads(file.read_text())
        tasks[task['id']] = task
    paths = [pathlib.Path(word) for word in sys.argv[1:]] or sorted((ROOT / 'tests/triton/kernels/right').glob('*.py'))
    major, minor = torch.cuda.get_device_capability()
    differ = 0
    for path in paths:
        try:
            difference = check(path, tasks, 10 * major + minor)
        except Exception as error:
            difference = f'{type(error).__name__}: {str(error)[:200]}'
        if difference:
            differ += 1
            print(f'{path.name}: {difference}', flush=True)
    print(f'{len(paths) - differ} of {len(paths)} kernels are the same on {torch.cuda.get_device_name()}')
    return 1 if differ else 0


if __name__ == '__main__':
    sys.exit(main())
