#!/usr/bin/env python3
"""Samples from one server with kernelrl's `openai` and with the Python client of OpenAI, in turns.

    remote_bench.py [--requests 5000] [--in-flight 1000] [--tokens 256] [--delay 300] [--rounds 2] [--llama MODEL.gguf]

Needs the target remote_bench in build/bench and, for the Python that runs it, the package `openai`; with `openai[aiohttp]` the
client's other transport is measured as well. The server is remote_bench's stand-in for vLLM, which answers after --delay
milliseconds, or, with --llama, llama.cpp's own. No prompt is sent twice, as a server may know it then. Those of the Python client
are token ids already, where kernelrl renders and encodes its own and checks what comes back.

Prints a line a client and round, the Python client by its transport, httpx or aiohttp: requests and tokens a second, processor
time a request, the peak of memory, and the processor time that the server used. Where other programs use the machine, compare
processor times.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

CHECKOUT = pathlib.Path(__file__).resolve().parents[1]
BENCH = CHECKOUT / "build/bench/bench/remote_bench"
TOKENIZER = CHECKOUT / ".deps/models/smollm2"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--in-flight", type=int, default=1000)
    parser.add_argument("--tokens", type=int, default=256, help="of an answer")
    parser.add_argument("--delay", type=int, default=300, help="of the stand-in, milliseconds")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--llama", metavar="MODEL.gguf")
    parser.add_argument("--client", help=argparse.SUPPRESS)  # this process is it: TRANSPORT,BASE_URL,PROMPTS
    return parser.parse_args()


def http_client(openai, transport, in_flight):
    import httpx2

    kind = {"httpx": openai.DefaultAsyncHttpxClient, "aiohttp": openai.DefaultAioHttpClient}[transport]
    return kind(limits=httpx2.Limits(max_connections=in_flight, max_keepalive_connections=in_flight), timeout=None)


def check(choice, tokens):
    """That the ids and log-probabilities are there, as vLLM or as llama.cpp gives them."""
    if getattr(choice, "token_ids", None) is not None:
        assert len(choice.token_ids) == len(choice.logprobs.token_logprobs) == tokens
    else:
        entries = choice.logprobs.content
        assert len([(entry["id"], entry["logprob"]) for entry in entries]) <= tokens  # tokens within a character are left out


async def ask_all(options):
    import openai

    transport, base_url, prompts_file = options.client.split(",")
    prompts = [json.loads(line) for line in open(prompts_file)]
    http = http_client(openai, transport, options.in_flight)
    client = openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0, http_client=http)
    model = (await client.models.list()).data[0].id
    done = tokens = 0
    numbered = iter(enumerate(prompts))

    async def ask_in_turn():
        nonlocal done, tokens
        for seed, prompt in numbered:
            completion = await client.completions.create(
                model=model, prompt=prompt, max_tokens=options.tokens, temperature=1, top_p=1, seed=seed, logprobs=1,
                extra_body={"return_token_ids": True, "top_k": 0, "min_p": 0, "ignore_eos": True})
            check(completion.choices[0], options.tokens)
            done += 1
            tokens += completion.usage.completion_tokens

    processor_before, begin = time.process_time(), time.perf_counter()
    await asyncio.gather(*(ask_in_turn() for _ in range(options.in_flight)))
    wall, processor = time.perf_counter() - begin, time.process_time() - processor_before
    await client.close()
    peak = int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024
    print(json.dumps({"requests": done, "tokens": tokens, "wall_s": wall, "processor_s": processor, "peak_mb": peak}))


def processor_seconds_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start_server(options):
    """The process, which ends when its pipes close, and its base URL."""
    if options.llama:
        command = [sys.executable, str(CHECKOUT / "tests/servers/llama_server.py"), options.llama]
    else:
        command = [str(BENCH), "serve", str(TOKENIZER), str(options.delay)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = server.stdout.readline().strip()
    if not line:
        sys.exit(f"remote_bench.py: the server did not start: {' '.join(command)}")
    return server, f"http://127.0.0.1:{line}/v1" if options.llama else line


def ask_with(name, first, base_url, options):
    """What `name` measured of itself, asking with the prompts from `first` on."""
    numbers = [str(first), str(options.requests)]
    if name == "kernelrl":
        command = [str(BENCH), "ask", str(TOKENIZER), *numbers, base_url, str(options.in_flight), str(options.tokens)]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    with tempfile.NamedTemporaryFile("w") as prompts:
        subprocess.run([str(BENCH), "prompts", str(TOKENIZER), *numbers], stdout=prompts, check=True)
        command = [sys.executable, __file__, "--client", f"{name},{base_url},{prompts.name}",
                   "--in-flight", str(options.in_flight), "--tokens", str(options.tokens)]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)


def measure(name, first, base_url, server, options):
    before = processor_seconds_of(server.pid)
    got = ask_with(name, first, base_url, options)
    served = processor_seconds_of(server.pid) - before
    print(f"{name:8} {got['requests']:6} requests  {got['wall_s']:7.2f} s  {got['requests'] / got['wall_s']:7.1f} requests/s  "
          f"{got['tokens'] / got['wall_s']:9.1f} tokens/s  {1e3 * got['processor_s'] / got['requests']:6.3f} ms a request  "
          f"{got['peak_mb']:6.1f} MB  server {served:6.2f} s", flush=True)


def main():
    options = arguments()
    if options.client:
        return asyncio.run(ask_all(options))
    if importlib.util.find_spec("openai") is None:
        sys.exit("remote_bench.py: no package 'openai'; run it with the Python of an environment that has it")
    server, base_url = start_server(options)
    names = ["kernelrl", "httpx"] + (["aiohttp"] if importlib.util.find_spec("aiohttp") else [])
    try:
        for run, name in enumerate(names * options.rounds):
            measure(name, run * options.requests, base_url, server, options)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
