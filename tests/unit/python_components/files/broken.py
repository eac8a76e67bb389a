def score(turn)
    return 1
