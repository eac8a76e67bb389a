"""A server of one's own, for as long as a block runs, and no longer than this process, even if it is killed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kernelrl.errors import JudgeError
from kernelrl.judge import Judge

START_S = 60.0
STOP_S = 30.0


@contextlib.contextmanager
def local(backend: str = "cpu", arguments: Sequence[str] = (), *, program: str | None = None) -> Iterator[Judge]:
    """Starts `kernelrl serve` on a free port, gives a judge that asks it, and stops it at the end:

        with kernelrl.local() as judge:
            print(judge.evaluate("vector_add", source).verdict)

    `arguments` are more words for its command line. The program is `program`, the one that the environment variable
    KERNELRL names, or the `kernelrl` in the PATH.
    """
    program = program or os.environ.get("KERNELRL") or shutil.which("kernelrl")
    if program is None:
        raise FileNotFoundError("no kernelrl in the PATH: set KERNELRL to the path of the program")
    command = [program, "serve", "--backend", backend, "--port", "0", "--until-eof", *arguments]
    with (
        tempfile.NamedTemporaryFile() as output,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output) as server,
    ):
        try:
            with Judge(_address(server, Path(output.name))) as judge:
                yield judge
        finally:
            server.terminate()
            try:
                server.wait(STOP_S)
            except subprocess.TimeoutExpired:
                server.kill()


def _address(server: subprocess.Popen[bytes], output: Path) -> str:
    """Waits until the server says where it listens."""
    end = time.monotonic() + START_S
    while True:
        over = server.poll() is not None or time.monotonic() > end
        said = output.read_text(errors="replace")
        if found := re.search(r"listening on (http://[^\s,]+)", said):
            return found[1]
        if over:
            raise JudgeError(f"kernelrl serve did not start: {said.strip()}")
        time.sleep(0.02)
