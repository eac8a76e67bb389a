"""A kernel for a task as a source file with a host function, in the form of FlashInfer-Bench: the binding tvm-ffi."""
import re

from left_out import LeftOut

NAME = "launch_task"
MARK = "// ---- The launcher that kernelrl wrote"
FUNCTIONS = {"min", "max", "ceil_div", "next_pow2", "abs"}
ELEMENT_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int32": 4, "int64": 8, "bool": 1}

# The names of the launch language, as functions on 64-bit integers.
HELPERS = "\n" + MARK + """ for the directives above ----
#include <cuda_runtime.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

namespace launch_language {
using Integer = long long;

inline Integer ceil_div(Integer a, Integer b) { return (a + b - 1) / b; }
inline Integer next_pow2(Integer a) {
  Integer power = 1;
  while (power < a) power *= 2;
  return power;
}
inline Integer abs(Integer a) { return a < 0 ? -a : a; }
inline Integer min(Integer a) { return a; }
inline Integer max(Integer a) { return a; }
template <class... Rest>
Integer min(Integer a, Rest... rest) { Integer b = min(rest...); return a < b ? a : b; }
template <class... Rest>
Integer max(Integer a, Rest... rest) { Integer b = max(rest...); return a > b ? a : b; }
inline dim3 sizes(Integer x, Integer y = 1, Integer z = 1) {
  return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z));
}

// A pointer of the type that a kernel's parameter has.
struct Pointer {
  void* address;
  template <class T>
  operator T*() const { return static_cast<T*>(address); }
};

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) TVM_FFI_THROW(RuntimeError) << what << ": " << cudaGetErrorString(status);
}

inline Pointer scratch(Integer bytes, cudaStream_t stream) {
  void* address = nullptr;
  check(cudaMallocAsync(&address, static_cast<size_t>(bytes), stream), "scratch");
  return {address};
}

// More dynamic shared memory than 48 KiB has to be asked for.
template <class... Parameters>
void allow_shared(void (*kernel)(Parameters...), Integer bytes) {
  if (bytes > 48 * 1024)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "shared memory");
}
}  // namespace launch_language
"""


def place_of_axis(task, axis):
    """The input, and its dimension, that has the size of a variable axis; None if there is none."""
    places = ((tensor["name"], i) for tensor in task.get("input", ()) for i, size in enumerate(tensor["shape"]) if size == axis)
    return next(places, None)


def cpp(task, text):
    """An expression in C++: `launch_language::ceil_div(local_n, 256LL)`.

    Local names have a prefix, so that they never equal those of the kernels.
    """
    known = task["axes"].keys() | {scalar["name"] for scalar in task.get("scalar", ())}

    def word(match):
        word = match.group()
        if word == "dim3":
            return "launch_language::sizes"
        if word[0].isdigit():
            return f"{word}LL"
        if word in FUNCTIONS:
            return f"launch_language::{word}"
        if word.endswith(".size"):
            return "size_of_" + word.removesuffix(".size")
        return f"local_{word}" if word in known else word  # and, or, not
    return re.sub(r"[\w.]+", word, text)


def source_with_launcher(task, kernel):
    """The kernel's text and, after it, a function that runs its launch directives.

    Its arguments are the inputs, scalars and outputs of the task, as tensors of TVM FFI; an output that is computed in
    place is a copy of the input. It enqueues on the environment's stream and takes scratch buffers from the stream's
    memory pool.
    """
    if "problem" in kernel:
        raise LeftOut(kernel["problem"])
    inputs, outputs, scalars = task.get("input", []), task["output"], task.get("scalar", [])
    names = [tensor["name"] for tensor in inputs]
    parameters = [f"tvm::ffi::TensorView input_{name}" for name in names]
    parameters += [("double" if s["dtype"].startswith(("float", "bfloat")) else "int64_t") + f" local_{s['name']}" for s in scalars]
    parameters += [f"tvm::ffi::TensorView output_{tensor['name']}" for tensor in outputs]
    lines = [
        f"const DLDevice device = input_{names[0]}.device();",
        "auto* stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(device.device_type, device.device_id));",
        'launch_language::check(cudaSetDevice(device.device_id), "device");']
    for axis, size in task["axes"].items():
        value = cpp(task, str(size))
        if size == "var":
            place = place_of_axis(task, axis)
            if not place:
                raise LeftOut(f"no input has the size {axis}")
            value = "input_{}.size({})".format(*place)
        lines.append(f"[[maybe_unused]] const launch_language::Integer local_{axis} = {value};")

    def tensor_lines(tensor, view):
        name, elements = tensor["name"], "".join(f" * ({cpp(task, str(size))})" for size in tensor["shape"])
        return [f"[[maybe_unused]] const launch_language::Pointer tensor_{name}{{{view}.data_ptr()}};",
                f"[[maybe_unused]] const launch_language::Integer size_of_{name} = 1LL{elements};"]
    in_place = {tensor["name"] for tensor in outputs}
    for tensor in inputs:
        if tensor["name"] not in in_place:
            lines += tensor_lines(tensor, f"input_{tensor['name']}")
    for tensor in outputs:
        name = tensor["name"]
        lines += tensor_lines(tensor, f"output_{name}")
        if name in names:
            lines.append(
                f"launch_language::check(cudaMemcpyAsync(output_{name}.data_ptr(), input_{name}.data_ptr(), static_cast<size_t>("
                f'size_of_{name} * {ELEMENT_BYTES[tensor["dtype"]]}), cudaMemcpyDeviceToDevice, stream), "copy");')
    for scratch in kernel["scratch"]:
        name = scratch["name"]
        lines += [f"const launch_language::Integer size_of_{name} = {cpp(task, scratch['elements'])};",
                  f"const launch_language::Pointer tensor_{name} = launch_language::scratch(size_of_{name} * "
                  f"{scratch['element_bytes']}, stream);"]
    tensors = {*names, *in_place, *(scratch["name"] for scratch in kernel["scratch"])}
    for launch in kernel["launches"]:
        lines += launch_lines(task, launch, tensors)
    lines += [f'launch_language::check(cudaFreeAsync(tensor_{scratch["name"]}.address, stream), "scratch");'
              for scratch in kernel["scratch"]]
    body = "".join(f"  {line}\n" for line in lines)
    return (f"{kernel['source']}\n{HELPERS}\nvoid {NAME}({', '.join(parameters)}) {{\n{body}}}\n\n"
            f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({NAME}, {NAME});\n")


def launch_lines(task, launch, tensors):
    def sizes(text):
        return cpp(task, text) if text.startswith("dim3") else f"launch_language::sizes({cpp(task, text)})"
    arguments = ", ".join(f"tensor_{a}" if a in tensors else cpp(task, a) for a in launch["arguments"])
    kernel, shared = launch["kernel"], cpp(task, launch["shared"])
    if shared != "0LL":
        yield f"launch_language::allow_shared({kernel}, {shared});"
    yield (f"{kernel}<<<{sizes(launch['grid'])}, {sizes(launch['block'])}, static_cast<size_t>({shared}), stream>>>"
           f"({arguments});")
    yield 'launch_language::check(cudaGetLastError(), "launch");'
