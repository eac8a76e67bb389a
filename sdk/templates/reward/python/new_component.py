"""Pays for short kernels: replace it with what your runs should be paid for."""

from kernelrl import Turn


def score(turn: Turn, limit: float = 2000) -> float:
    """1 for no source at all, falling to 0 at `limit` characters."""
    return max(0.0, 1 - len(turn.source) / limit)
