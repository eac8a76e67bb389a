"""A warm compile server for Triton (compile_request.hpp): has loaded Triton, and forks for each compile.

    python3 -I -S -B server.py FOLDER     FOLDER holds the package `triton`

Started in kernelrl's sandbox, without network, files to write and programs to start. The process of a
compile may start no other process either, and has limits of its own; what it writes is not believed.
"""

import ctypes
import json
import os
import platform
import re
import resource
import signal
import struct
import sys
import traceback

LOG, MODULE = 3, 4
COMPILED, REFUSED, UNUSABLE = 0, 1, 2
MOST_PRINTED = 1 << 14  # bytes

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), sys.argv[1]]
os.environ["TRITON_HOME"] = "/nowhere"  # Triton's cache is not used, and there is no home to look for

import triton  # noqa: E402
from triton.compiler.errors import CompilationError  # noqa: E402

from candidate import FILE, Refusal, functions_of  # noqa: E402
from translate import translate  # noqa: E402

FIRST = """import triton
import triton.language as tl


@triton.jit
def first(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.sum(tl.load(x + i, i < n), 0), i < n)
"""


def text_of(error):
    """What an exception says, without the marks of Python."""
    if isinstance(error, KeyError) and str(error).startswith("'candidate."):
        return "a function calls itself"
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, AssertionError) and not str(error):  # of Triton's own
        return traceback.extract_tb(error.__traceback__)[-1].line or "an assertion of Triton's"
    text = getattr(error, "error_message", None) or str(error) or type(error).__name__
    quoted = re.fullmatch(r"\w+\((['\"])(.*)\1\)", text, re.S)  # NameError('x is not defined')
    return re.sub(r" at 0x[0-9a-f]+", "", quoted[2] if quoted else text)


def place_of(error, functions):
    """Where a compile failed, and why: the innermost call in the candidate's own text."""
    line, compiling = 0, getattr(error, "compiling", None)
    while isinstance(error, CompilationError):
        of_text = [f for f in functions.values() if f.src == error.src]
        if of_text and hasattr(error.node, "lineno"):
            line = of_text[0].starting_line_number + error.node.lineno - 1
        if error.__cause__ is None:
            break
        error = error.__cause__
    return line, text_of(error) + (f" (compiling {compiling})" if compiling else "")


def complain(line, message):
    words = " ".join(message.split()).encode("utf-8", "replace").decode()
    print(f"{FILE}({line}): error: {words}" if line else f"{FILE}: error: {words}", flush=True)


def compile_request(request):
    """Returns the translation, or complains and returns nothing."""
    functions = {}
    try:
        functions = functions_of(request["source"])
        return translate(functions, request["kernels"], int(request["options"][0]))
    except Refusal as refusal:
        complain(refusal.line, str(refusal))
    except SyntaxError as error:
        complain(error.lineno or 0, error.msg)
    except MemoryError:
        complain(0, "out of memory")
    except RecursionError:
        complain(0, "too deeply nested")
    except Exception as error:  # of Triton, whatever a text makes of it
        complain(*place_of(error, functions))
    return None


def forbid_processes():
    """A filter of system calls: no program, process or socket is made, whatever the launcher allows."""
    # socket, clone, clone3, execve, execveat, kill, tkill, tgkill, ptrace; fork and vfork where they exist
    numbers = {"x86_64": (0xC000003E, [41, 56, 435, 59, 322, 62, 200, 234, 101, 57, 58]),
               "aarch64": (0xC00000B7, [198, 220, 435, 221, 281, 129, 130, 131, 117])}
    arch, calls = numbers[platform.machine()]
    # BPF: of another architecture, kill; load the call's number; compare; allow, or fail with EPERM.
    code = [(0x20, 0, 0, 4), (0x15, 1, 0, arch), (0x06, 0, 0, 0x80000000), (0x20, 0, 0, 0)]
    for at, call in enumerate(calls):
        code.append((0x15, len(calls) - at, 0, call))
    code += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)]
    program = b"".join(struct.pack("<HBBI", *step) for step in code)
    text = ctypes.create_string_buffer(program)
    header = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(code), ctypes.addressof(text)))
    if LIBC.prctl(22, 2, header) != 0:
        print("no filter of system calls", file=sys.stderr)


LIBC = ctypes.CDLL(None, use_errno=True)


def restrict(request, server):
    LIBC.prctl(1, signal.SIGKILL)  # dies with the server
    if os.getppid() != server:
        os._exit(UNUSABLE)
    limit = request["cpu_seconds"]
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    os.dup2(LOG, 1)
    os.dup2(LOG, 2)
    os.close(LOG)
    os.close(0)
    forbid_processes()


def compile_and_exit(request, server):
    try:
        restrict(request, server)
        translation = compile_request(request)
        if translation is None:
            os._exit(REFUSED)
        with open(MODULE, "wb", closefd=False) as module:
            module.write(json.dumps(translation).encode())
        os._exit(COMPILED)
    except OSError:
        os.ftruncate(1, MOST_PRINTED)
        os.lseek(1, 0, os.SEEK_END)
        complain(0, "the compile prints too much")
    finally:
        os._exit(REFUSED)


def read(count):
    data = b""
    while len(data) < count:
        more = os.read(0, count - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def write(message):
    data = json.dumps(message).encode()
    os.write(1, struct.pack("=I", len(data)) + data)


def serve():
    server = os.getpid()
    translate(functions_of(FIRST), ["first(*fp32:16, i32, BLOCK=128)"], 80)  # loads what compiles need
    while True:
        request = json.loads(read(struct.unpack("=I", read(4))[0]))
        child = os.fork()
        if child == 0:
            compile_and_exit(request, server)
        write({"child": child})
        _, status, usage = os.wait4(child, 0)
        # Any end but a signal is the text's fault: there is nothing else that a compile waits for.
        write({"exit_code": int(status != 0) if os.WIFEXITED(status) else -1,
               "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
               "cpu_seconds": usage.ru_utime + usage.ru_stime})


if __name__ == "__main__":
    serve()
