#!/usr/bin/env python3
"""A farm that is larger than one at hand: discrete events with the durations of real evaluations and the rules of the backend
`remote` and of a run.

    simulate.py RECORDING --servers 1,4,16                      # judging alone: what scaling.py measures
    simulate.py RECORDING --servers 1,8,64,512 --run            # an iteration of configs/farm.toml

RECORDING is what `scaling.py --record` wrote. A server compiles so many kernels at a time as it has cores; a GPU runs one at a
time, of a recording by `cpu` the core does all. Prints by servers: kernels a second, how much of linear, and how busy what
could limit it was: servers, the client's thread that speaks HTTP, the threads of the run, the sampler; and the time that the
last hundredth of the kernels took.
"""

import argparse
import collections
import dataclasses
import heapq
import itertools
import json
import math
import random
import statistics

MOST_FOR_EACH_PLACE = 3  # as in plugins/backends/remote/fleet.cpp
KEPT, FEWEST = 256, 32  # as in plugins/backends/remote/latencies.hpp


class Clock:
    def __init__(self):
        self.now, self._events, self._numbers = 0.0, [], itertools.count()

    def after(self, seconds, act):
        heapq.heappush(self._events, (self.now + seconds, next(self._numbers), act))

    def run(self):
        while self._events:
            self.now, _, act = heapq.heappop(self._events)
            act()


class Resource:
    """Does `places` pieces of work at a time, in order of request."""

    def __init__(self, clock, places):
        self._clock, self.places, self._running, self._queue, self.busy = clock, places, 0, collections.deque(), 0.0

    def use(self, seconds, then, wanted=lambda: True):
        self._queue.append((seconds, then, wanted))
        self._next()

    def _next(self):
        while self._queue and self._running < self.places:
            seconds, then, wanted = self._queue.popleft()
            if not wanted():  # cancelled while it waited
                continue
            self._running += 1
            self.busy += seconds
            self._clock.after(seconds, lambda then=then: self._end(then))

    def _end(self, then):
        self._running -= 1
        then()
        self._next()


class Server:
    def __init__(self, clock, places, gpu):
        self.places, self.in_flight = places, 0
        self.cores = Resource(clock, places)
        self.gpu = Resource(clock, 1) if gpu else None

    def judge(self, work, then, wanted):
        compile_s, run_s = work
        if self.gpu is None:
            self.cores.use(compile_s + run_s, then, wanted)
        else:
            self.cores.use(compile_s, lambda: self.gpu.use(run_s, then, wanted) if wanted() else None, wanted)

    @property
    def limit(self):
        """What is to be kept busy, and how many of it there are."""
        return self.gpu or self.cores


class Fleet:
    """The backend `remote`: which server judges, and what is asked for twice."""

    def __init__(self, clock, servers, options, draw):
        self._clock, self.servers, self._options, self._draw = clock, servers, options, draw
        self.client = Resource(clock, 1)
        self._latest = collections.deque(maxlen=KEPT)
        self.hedged = self.failed = 0

    def best(self, without=None):
        """The server preferred by the kernel's content, which is as good as drawn: of those with a free place, else of those
        that are not full; else the idlest."""
        others = [one for one in self.servers if one is not without]
        for most in (1, MOST_FOR_EACH_PLACE):
            if room := [one for one in others if one.in_flight < most * one.places]:
                return self._draw.choice(room)
        return min(others, key=lambda one: one.in_flight / one.places)

    def judge(self, work, then):
        state = {"over": False}
        self.client.use(self._options.client_ms / 1000, lambda: self._ask(self.best(), work, then, state))

    def _ask(self, server, work, then, state, is_second=False):
        server.in_flight += 1
        begin = self._clock.now
        fails = self._draw.random() < self._options.failures

        def answered():
            server.in_flight -= 1
            if state["over"]:
                return
            if fails:  # the server's infrastructure: another is asked
                self.failed += 1
                self._ask(self.best(server if len(self.servers) > 1 else None), work, then, state)
                return
            state["over"] = True
            self._latest.append(self._clock.now - begin)
            then()

        self._clock.after(self._options.http_ms / 1000, lambda: server.judge(work, answered, lambda: self._wanted(state, server)))
        if not is_second and self._options.hedge and len(self._latest) >= FEWEST and len(self.servers) > 1:
            late = self._options.hedge * sorted(self._latest)[len(self._latest) * 95 // 100]
            self._clock.after(late, lambda: self._hedge(server, work, then, state))

    def _wanted(self, state, server):
        if state["over"]:
            server.in_flight -= 1
        return not state["over"]

    def _hedge(self, first, work, then, state):
        if state["over"]:
            return
        spare = self.best(first)
        if spare.in_flight < spare.places:
            self.hedged += 1
            self._ask(spare, work, then, state, is_second=True)


class Sampler:
    """A server that shares its tokens a second among all sequences, each at most so fast."""

    def __init__(self, clock, tokens_s, most_each):
        self._clock, self._tokens_s, self._most_each = clock, tokens_s, most_each
        self._done = self._since = self.tokens = 0.0  # tokens of each sequence since the start
        self._ends, self._numbers, self._version = [], itertools.count(), 0

    def _rate(self):
        return min(self._most_each, self._tokens_s / len(self._ends)) if self._ends else 0.0

    def _catch_up(self):
        self._done += (self._clock.now - self._since) * self._rate()
        self._since = self._clock.now

    def sample(self, tokens, then):
        self._catch_up()
        self.tokens += tokens
        heapq.heappush(self._ends, (self._done + tokens, next(self._numbers), then))
        self._plan()

    def _plan(self):
        self._version += 1
        if self._ends:
            version = self._version
            self._clock.after(max(0.0, self._ends[0][0] - self._done) / self._rate(), lambda: self._finish(version))

    def _finish(self, version):
        if version != self._version:
            return
        self._catch_up()
        _, _, then = heapq.heappop(self._ends)
        self._plan()
        then()


@dataclasses.dataclass
class Result:
    rate: float
    servers: float
    client: float
    threads: float
    sampler: float
    tail_s: float
    hedged: int

    @property
    def limit(self):
        shares = {"servers": self.servers, "client": self.client, "threads": self.threads, "sampler": self.sampler}
        most = max(shares, key=shares.get)
        return most if shares[most] > 0.85 else "tail"


def simulate(recording, options, number):
    clock, draw = Clock(), random.Random(options.seed)
    has_gpu = "compile_ms" in recording
    servers = [Server(clock, options.cpus, has_gpu) for _ in range(number)]
    fleet = Fleet(clock, servers, options, draw)
    at_a_time = min(options.threads, options.concurrency or 2 * number * options.cpus)
    threads = Resource(clock, math.inf)
    free, waiting, ends = [at_a_time], collections.deque(), []
    held = [0.0]
    tasks = sorted(recording["judged_ms"])

    def work():
        task = draw.choice(tasks)
        all_ms = draw.choice(recording["judged_ms"][task])
        compile_ms = min(all_ms, draw.choice(recording["compile_ms"][task])) if has_gpu else 0.0
        return compile_ms / 1000, (all_ms - compile_ms) / 1000

    def evaluate(then):
        waiting.append(then)
        give()

    def give():
        while waiting and free[0] > 0:
            free[0] -= 1
            then, begin = waiting.popleft(), clock.now

            def over(then=then, begin=begin):
                free[0] += 1
                held[0] += clock.now - begin
                ends.append(clock.now)
                then()
                give()

            fleet.judge(work(), over)

    sampler = Sampler(clock, options.samplers * options.tokens_s, options.tokens_each_s)
    if options.run:
        def turn(left):
            tokens = min(1024, max(32, draw.lognormvariate(math.log(options.tokens), 0.5)))
            sampler.sample(tokens, lambda: evaluate(lambda: left > 1 and turn(left - 1)))

        for _ in range(options.groups * options.group_size):
            turn(options.turns)
    else:
        for _ in range(options.each * number * options.cpus):
            evaluate(lambda: None)
    clock.run()
    span = ends[-1]
    last = ends[-1] - ends[len(ends) * 99 // 100]
    if not options.run:  # the end of the stream is not measured
        count = max(1, len(ends) * 9 // 10)
        rate = count / ends[count - 1]
    else:
        rate = len(ends) / span
    busy = sum(server.limit.busy for server in servers) / sum(server.limit.places for server in servers) / span
    sampled = sampler.tokens / (options.samplers * options.tokens_s) / span
    return Result(rate, busy, fleet.client.busy / span, held[0] / at_a_time / span, sampled, last, fleet.hedged)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording")
    parser.add_argument("--servers", default="1,2,4,8,16,32,64,128,256,512")
    parser.add_argument("--cpus", type=int, default=1, help="of a server: what it judges or compiles at a time")
    parser.add_argument("--run", action="store_true", help="an iteration of a run instead of a stream of kernels")
    parser.add_argument("--groups", type=int, default=512)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1024, help="run.threads")
    parser.add_argument("--concurrency", type=int, default=0, help="backend.concurrency; 0: twice what the servers do at a time")
    parser.add_argument("--hedge", type=float, default=4)
    parser.add_argument("--failures", type=float, default=0.0, help="share of evaluations that fail by a server's infrastructure")
    parser.add_argument("--client-ms", type=float, default=0.3, help="of the thread that speaks HTTP, for each evaluation")
    parser.add_argument("--http-ms", type=float, help="of each evaluation besides (the recording's known_ms)")
    parser.add_argument("--samplers", type=int, default=1, help="GPUs that sample")
    parser.add_argument("--tokens-s", type=float, default=28000, help="of each of them")
    parser.add_argument("--tokens-each-s", type=float, default=150, help="of a sequence, at most")
    parser.add_argument("--tokens", type=float, default=400, help="of an answer, the median")
    parser.add_argument("--each", type=int, default=100, help="kernels of a stream for each place")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with open(options.recording) as file:
        recording = json.load(file)
    options.http_ms = recording["known_ms"] if options.http_ms is None else options.http_ms
    mean = statistics.fmean(ms for all in recording["judged_ms"].values() for ms in all)
    print(f"recorded by {recording['backend']}: {mean:.0f} ms a kernel")
    print("| servers | kernels/s | of linear | servers busy | client | threads | sampler | last 1 % | hedged | limit |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    first = None
    for number in map(int, options.servers.split(",")):
        found = simulate(recording, options, number)
        first = first or found.rate / number
        print(f"| {number} | {found.rate:.1f} | {found.rate / number / first:.2f} | {found.servers:.2f} | {found.client:.2f} "
              f"| {found.threads:.2f} | {found.sampler if options.run else 0:.2f} | {found.tail_s:.1f} s | {found.hedged} | {found.limit} |",
              flush=True)


if __name__ == "__main__":
    main()
