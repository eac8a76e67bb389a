import os
import sys
import time

import kernelrl


def short(turn, limit=2000):
    return max(0.0, 1 - len(turn.source) / limit)


class Sum:
    """Counts its calls, which a batch shares."""

    def __init__(self, factor=1):
        self.factor, self.calls = factor, 0

    def score_all(self, turns):
        self.calls += 1
        return [self.factor * len(turn.answer) + 1000 * self.calls for turn in turns]


def sees_everything(turn):
    e = turn.evaluation
    assert (turn.index, turn.previous.index, turn.previous.previous) == (1, 0, None), turn
    assert (turn.task.id, turn.task.tier) == ("a_task", 2), turn.task
    assert (turn.prompt, turn.answer, turn.thinking, turn.source) == ("p", "ä\0\n", "t", "s"), turn
    assert (turn.format, turn.stop, turn.tokens) == ("truncated", "length", [0, 0, 0]), turn
    assert (e.verdict, e.backend, e.ok, e.compiled) == ("wrong_result", "testing", False, True), e
    assert [c.verdict for c in e.cases] == ["ok", "wrong_result"] and e.cases[0].speedup == 1.5, e
    assert e.cases[1].speedup is None and e.kernels[0].registers == 40 and e.kernels[0].shared_bytes is None, e
    assert e.value("shuffles") == 3 and e.diagnostics[0].text == "a warning", e
    return 1


class Troubled:
    """Does what the answer says."""

    def __init__(self):
        self.scored = 0

    def score(self, turn):
        self.scored += 1
        getattr(self, turn.answer)()
        return self.scored

    def nothing(self):
        pass

    def fail(self):
        1 / 0

    def be_away(self):
        raise kernelrl.Unavailable("the server of the model is away")

    def exit(self):
        os._exit(3)

    def crash(self):
        os.kill(os.getpid(), 11)

    def hang(self):
        time.sleep(1000)

    def leave_a_child(self):
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(4)

    def shout(self):
        print("x" * (3 << 20) + "\nlast words")
        os._exit(5)

    def close_stdout(self):
        sys.stdout = None

    def talk(self):
        print("one\ntwo")

    def write_to_streams(self):
        os.write(1, b"not an answer\n")
        assert not os.read(0, 1)


def no_number(turn):
    return "many"


def not_a_number(turn):
    return float("nan")


def keyword(turn, *, limit):
    return limit


def anything(turn, **options):
    return options["limit"]
