# task: relu expect: compile_error
# Imports in the module are left out, so that os is not defined.
import triton
import triton.language as tl
import os, sys, subprocess, ctypes


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit
def relu(inp, out, size):
    os.getpid()
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
