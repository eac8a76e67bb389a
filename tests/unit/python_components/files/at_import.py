import a_package_that_nobody_has


def score(turn):
    return 1
