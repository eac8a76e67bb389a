"""A client of a kernelrl server as an OpenEnv environment."""
from .client import KernelAction, KernelEnv, KernelObservation

__all__ = ["KernelAction", "KernelEnv", "KernelObservation"]
