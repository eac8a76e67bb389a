"""Tasks y = k x for k = 2, 3, …: replace them with the kernels that your models should learn to write."""

from collections.abc import Iterator


def items(count: int = 4) -> Iterator[dict]:
    """Tasks, with the keys of a task file: docs/tasks.md. `kernelrl.Pair` and `kernelrl.Document` are items as well."""
    for k in range(2, count + 2):
        yield {
            "id": f"scaled_copy_{k}",
            "title": "Scaled copy",
            "prompt": f"Write y[i] = {k} x[i].",
            "axes": {"n": "var"},
            "input": [{"name": "x", "dtype": "float32", "shape": ["n"], "values": "normal"}],
            "output": [{"name": "y", "dtype": "float32", "shape": ["n"]}],
            "reference": f"def run(x):\n    return {k} * x\n",
            "cases": [{"n": 4096}],
            "holdout": [{"n": 1000}],
        }
