class LeftOut(Exception):
    """Why something is not imported or exported, in one sentence."""
