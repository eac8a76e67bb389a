"""Kernels whose verdicts are known."""
import pathlib
import random

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
STORES = {"relu": "out[i] = ", "vector_add": "out[i] = ", "row_sum": "y[blockIdx.x] = ", "row_max": "dst[blockIdx.x] = "}


def _kernels():
    """[(task, source, verdict)]"""
    for task, store in STORES.items():
        right = (CHECKOUT / "bench" / "kernels" / f"{task}.cu").read_text()
        yield task, right, "ok"
        yield task, right.replace(store, store + "1 + "), "wrong_result"
        yield task, right + "__global__ void more( {\n", "compile_error"
        yield task, right.replace(f"@launch {task}", "@launch none"), "launch_error"


KERNELS = list(_kernels())


def any_kernel(new_share=0.5):
    """One of them; a share of them was never sent before."""
    task, source, verdict = random.choice(KERNELS)
    mark = f"{random.getrandbits(64):x}" if random.random() < new_share else "known"
    return task, f"{source}\n// {mark}\n", verdict
