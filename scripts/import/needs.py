"""Says which packages are missing, before anything that needs them is imported."""
import sys


def check(*more):
    try:
        import numpy  # noqa: F401
        import torch  # noqa: F401
    except ImportError as error:
        sys.exit(f"{error.name or error} is missing in {sys.executable}: {sys.executable} -m pip install torch==2.11.0 "
                 + " ".join(["numpy", "setuptools", *more]) + "; or set KERNELRL_PYTHON to a Python that has them")
