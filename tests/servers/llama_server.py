#!/usr/bin/env python3
"""llama.cpp's own HTTP server, out of the PyPI wheel xllamacpp.

    llama_server.py MODEL.gguf [PORT]

Listens on 127.0.0.1 at PORT (0 or none: any that is free), and prints the number alone on a line once it answers. It serves the
model as "smollm2" to four requests at a time, on one thread: more would wait for each other on a busy machine. What it logs goes
to standard error. It ends on SIGTERM, and when the pipe that its standard output is loses its last reader: whoever reads the
port from a pipe and keeps that open takes the server along when it ends, however it ends.

`scripts/setup.sh --tests` brings the wheel, as .deps/llama_server, and a model, as .deps/models/smollm2.gguf. Any python3 from
3.10 on will do.
"""

import os
import pathlib
import select
import sys
import urllib.parse

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
SLOTS = 4
CONTEXT = 2048  # tokens a slot


def start(model, port):
    """The server, with the model loaded; its threads answer."""
    sys.path.insert(0, str(CHECKOUT / ".deps/llama_server"))
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.model_alias = ["smollm2"]
    settings.n_parallel = SLOTS
    settings.n_ctx = SLOTS * CONTEXT
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    return xllamacpp.Server(settings)


def wait_for_readers_to_leave(pipe):
    poll = select.poll()
    poll.register(pipe, 0)  # asks for nothing but POLLERR, which a pipe without readers gives
    poll.poll()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if not os.path.isfile(sys.argv[1]):
        sys.exit(f"llama_server.py: no file '{sys.argv[1]}'; scripts/setup.sh --tests makes .deps/models/smollm2.gguf")
    try:
        server = start(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 0)
    except (ImportError, RuntimeError, ValueError) as error:
        sys.exit(f"llama_server.py: {error}")
    print(urllib.parse.urlsplit(server.listening_address).port, flush=True)
    wait_for_readers_to_leave(sys.stdout)
    os._exit(0)  # at once: requests may be in progress, and nobody waits for their answers


if __name__ == "__main__":
    main()
