# task: relu expect: compile_error
# A text in the decorator has a second function of the same name, which Triton takes for the source: it looks for the first line that begins with def. Nothing has checked its names.
import triton
import triton.language as tl


# @launch relu[(ceil_div(size, 128),)](inp, out, size)
@triton.jit(version="""
def relu(inp, out, size):
    tl.core.inspect.os.getpid()
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
    '''""")
def relu(inp, out, size):
    ''' # '''
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.maximum(tl.load(inp + i, i < size), 0.0), i < size)
