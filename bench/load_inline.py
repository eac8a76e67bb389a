#!/usr/bin/env python3
"""The usual way to evaluate a kernel, for comparison: compiled with PyTorch's headers by
torch.utils.cpp_extension.load_inline, then 5 runs that check it and 100 that time it, all in this
process, as KernelBench does.

  gpu_bench export FOLDER COUNT   writes kernels of the template corpus
  load_inline.py FOLDER [COUNT]   evaluates the first COUNT of them, and prints kernels per second

Needs PyTorch with CUDA, nvcc and ninja.
"""

import json
import pathlib
import statistics
import sys
import time

import torch
from torch.utils.cpp_extension import load_inline

CHECKS, WARM_UP, TIMED = 5, 3, 100
DTYPES = {
    "float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16,
    "int32": torch.int32, "int64": torch.int64, "bool": torch.bool,
}

# A buffer that a kernel's parameter takes whatever its element type is called.
BUFFER = """
#include <torch/extension.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct Buffer {
  void* data;
  template <class T> operator T*() const { return static_cast<T*>(data); }
};
"""


def wrapper(kernel):
    """A C++ function `run` that takes all buffers and does the kernel's launches."""
    names = [t["name"] for t in kernel["tensors"]] + [s["name"] for s in kernel["scratch"]]
    parameters = ", ".join(f"torch::Tensor t_{name}" for name in names)
    lines = [f"  Buffer {name}{{t_{name}.data_ptr()}};" for name in names]
    for launch in kernel["launches"]:
        grid, block = (",".join(map(str, launch[shape])) for shape in ("grid", "block"))
        lines.append(f"  {launch['kernel']}<<<dim3({grid}), dim3({block}), {launch['shared_bytes']}>>>"
                     f"({', '.join(launch['arguments'])});")
    declaration = f"void run({parameters})"
    return declaration + ";", declaration + " {\n" + "\n".join(lines) + "\n}\n"


def draw(tensor):
    dtype, shape = DTYPES[tensor["dtype"]], tensor["shape"]
    kind, low, high = tensor["values"], tensor["low"], tensor["high"]
    if not tensor["input"]:
        return torch.empty(shape, dtype=dtype, device="cuda")
    if kind == "normal":
        return torch.randn(shape, device="cuda").to(dtype)
    if kind in ("uniform", "uniform_signed"):
        low, high = (-1, 1) if kind == "uniform_signed" else (low, high)
        return (low + (high - low) * torch.rand(shape, device="cuda")).to(dtype)
    if kind == "integers":
        return torch.randint(int(low), int(high), shape, device="cuda").to(dtype)
    if kind == "permutation":
        return torch.rand(shape, device="cuda").argsort(-1).to(dtype)
    if kind == "one_hot":
        hot = torch.randint(shape[-1], shape[:-1], device="cuda")
        return torch.nn.functional.one_hot(hot, shape[-1]).to(dtype)
    return torch.zeros(shape, dtype=dtype, device="cuda")


def evaluate(kernel, name):
    """Compiles, checks and times one kernel. Returns whether it was right, and its median time in µs."""
    declaration, definition = wrapper(kernel)
    module = load_inline(name, cpp_sources=declaration, cuda_sources=BUFFER + kernel["source"] + definition,
                         functions=["run"])
    words = {"torch": torch}
    exec(kernel["reference"], words)
    scratch = [torch.empty(s["bytes"], dtype=torch.uint8, device="cuda") for s in kernel["scratch"]]
    right = True
    for _ in range(CHECKS):
        buffers = [draw(tensor) for tensor in kernel["tensors"]]
        inputs = [b.clone() for b, t in zip(buffers, kernel["tensors"]) if t["input"]]
        expected = words["run"](*inputs, *kernel["scalars"])
        module.run(*buffers, *scratch)
        torch.cuda.synchronize()
        expected = expected if isinstance(expected, tuple) else (expected,)
        for output, wanted in zip(kernel["outputs"], expected):
            got = next(b for b, t in zip(buffers, kernel["tensors"]) if t["name"] == output)
            right &= torch.allclose(got.double(), wanted.double(), rtol=kernel["rtol"], atol=max(kernel["atol"], 1e-2))
    times = []
    for i in range(WARM_UP + TIMED):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        module.run(*buffers, *scratch)
        end.record()
        torch.cuda.synchronize()
        if i >= WARM_UP:
            times.append(1e3 * start.elapsed_time(end))
    return right, statistics.median(times)


def main():
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
    files = files[:int(sys.argv[2])] if len(sys.argv) > 2 else files
    torch.zeros(1, device="cuda")
    seconds, wrong = [], 0
    for i, file in enumerate(files):
        kernel = json.loads(file.read_text())
        start = time.perf_counter()
        right, microseconds = evaluate(kernel, f"krl_usual_{i}")
        seconds.append(time.perf_counter() - start)
        wrong += not right
        print(f"{kernel['task']}: {'right' if right else 'WRONG'}, {microseconds:.1f} µs, evaluated in {seconds[-1]:.1f} s",
              flush=True)
    print(f"load_inline: {len(seconds)} kernels, {wrong} wrong, {statistics.mean(seconds):.1f} s each, "
          f"{1 / statistics.mean(seconds):.4f}/s")


if __name__ == "__main__":
    main()
