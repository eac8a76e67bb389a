// Launch directives: which kernels a candidate runs, in what shape, on which arguments.
//
//   // @scratch partial float[ceil_div(n, 1024)]
//   // @launch block_sums<<<ceil_div(n, 1024), 256, 32 * 4>>>(x, partial, n)
//   // @launch final_sum<<<1, 256>>>(partial, y, partial.size)
//
// and in Triton
//
//   # @scratch partial float32[ceil_div(n, 1024)]
//   # @launch block_sums[(ceil_div(n, BLOCK),)](x, partial, n, BLOCK=1024, num_warps=8)
//
// On GPUs with bulk copies of tensors (sm_90 on), in CUDA and PTX, a directive makes a tensor map, which
// a kernel takes as `const __grid_constant__ CUtensorMap`:
//
//   // @tensor_map a_map a[m, k] box[128, 64] swizzle 128
//   // @launch gemm<<<ceil_div(m, 128), 384>>>(a_map, b_map, c)
//
// describes the buffer `a` as a row-major array of these sizes, from which a copy takes a box of 128 rows
// of 64 elements; elements outside the array are zeros. `swizzle` is 0 (or not given), 32, 64 or 128: the
// bytes of the box's rows.
//
// A directive is a line comment that begins its line. Launches run in the order of the text. Grid,
// block, dynamic shared bytes and integer arguments are expressions (expression.hpp) of the axes,
// the integer scalars and `<tensor>.size`, the number of elements of a tensor or scratch buffer; a
// grid of Triton also of the constants given by name. Without `@launch`, in CUDA, a single kernel whose parameters are the task's tensors (matched by name, or
// else by order), scalars and axes runs with one thread per element of the first output, in blocks
// of 256.
//
// Reading checks everything that holds for all cases; resolving gives the numbers of one case.
// Whether the arguments fit the compiled kernel is for the backend to check. Errors carry line and
// column in the candidate's text; nothing throws. Header-only, C++17; depends on
// task_definition.hpp. Plain data; const functions are safe from any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <kernelrl/checked.hpp>
#include <kernelrl/cuda_source.hpp>
#include <kernelrl/expression.hpp>
#include <kernelrl/python_source.hpp>
#include <kernelrl/task_definition.hpp>

namespace krl {

// An error in a candidate's text; line and column are 1-based.
struct SourceError {
  int line = 1, column = 1;
  std::string message;
};

// An expression and its place in the text.
struct PlacedExpression {
  Expression expression;
  int line = 1, column = 1;
};

// `@scratch name type[elements]`: uninitialised memory lent by the harness.
struct ScratchDirective {
  std::string name;
  std::string type;
  std::int64_t element_bytes = 0;
  PlacedExpression elements;
};

// `@tensor_map name buffer[sizes] box[sizes] swizzle bytes`. Sizes are numbers of elements, the innermost
// last.
struct TensorMapDirective {
  std::string name, buffer;
  std::vector<PlacedExpression> sizes, box;  // 1 to 5, and as many
  PlacedExpression swizzle;                  // the constant 0 if not given
  int line = 1, column = 1;                  // place of the name
};

// A value that Triton compiles into a kernel: `BLOCK=1024`, `num_warps=8`.
struct LaunchConstant {
  std::string name;
  PlacedExpression value;
  std::string literal;  // instead of the value, if it is no integer: True, "relu", 0.5, tl.float16
};

// `@launch kernel<<<grid, block, shared>>>(arguments)`, or `@launch kernel[grid](arguments)`.
struct LaunchDirective {
  std::string kernel;  // spelled with its template arguments: "scale<float, 4>"
  PlacedExpression grid, block;
  PlacedExpression shared;                  // bytes; the constant 0 if not given
  std::vector<PlacedExpression> arguments;  // in Triton without those that are compiled in
  std::vector<LaunchConstant> constants;    // Triton's
  int line = 1, column = 1;                 // place of the kernel's name
};

struct LaunchProgram {
  Language language = Language::kCuda;
  std::vector<ScratchDirective> scratch;
  std::vector<TensorMapDirective> tensor_maps;
  std::vector<LaunchDirective> launches;  // at least one
};

// Finds and checks the directives of a candidate, whose text may have been scanned already.
Checked<LaunchProgram, SourceError> read_launches(const ScannedSource& source,
                                                  const TaskDefinition& task);
Checked<LaunchProgram, SourceError> read_launches(std::string_view source,
                                                  const TaskDefinition& task);

struct LaunchArgument {
  enum Kind { kTensor, kScratch, kScalar, kInteger, kTensorMap } kind = kInteger;
  std::size_t index = 0;     // into the case's tensors or scalars, or the program's buffers or maps
  std::int64_t integer = 0;  // value of a kInteger; its width is the parameter's
  int line = 1, column = 1;
};

struct ResolvedLaunch {
  // In Triton as what it is compiled for: "add(*fp32:16, *fp32:16, i32:16, BLOCK=1024, num_warps=4)".
  // A type ends with ":16" if the value is a multiple of 16; an integer 1 is compiled in.
  std::string kernel;
  Dim3 grid = {1, 1, 1}, block = {1, 1, 1};
  std::int64_t shared_bytes = 0;  // dynamic
  std::vector<LaunchArgument> arguments;
  int line = 1, column = 1;
};

struct ResolvedScratch {
  std::string name;
  std::int64_t elements = 0, bytes = 0;
};

// Its values meet the limits of cuTensorMapEncodeTiled.
struct ResolvedTensorMap {
  static constexpr std::uint32_t kBytes = 128;  // the size of a CUtensorMap

  std::string name;
  LaunchArgument buffer;           // kTensor or kScratch
  std::int64_t element_bytes = 4;  // 1, 2, 4 or 8
  // 1 to 5, the innermost last. No sizes: rows that are no multiple of 16 bytes have no map, and a
  // copy by it is a fault.
  std::vector<std::int64_t> sizes, box;
  std::int64_t swizzle = 0;  // bytes: 0, 32, 64 or 128
};

struct ResolvedProgram {
  std::vector<ResolvedScratch> scratch;
  std::vector<ResolvedTensorMap> tensor_maps;
  std::vector<ResolvedLaunch> launches;
};

// The limits of a launch. The defaults are CUDA's for every architecture since 7.0, except the
// shared memory, which is that of 9.0.
struct LaunchLimits {
  std::int64_t threads_per_block = 1024;
  Dim3 block = {1024, 1024, 64};
  Dim3 grid = {(std::numeric_limits<std::int32_t>::max)(), 65535, 65535};
  std::int64_t shared_bytes = 232448;
  std::int64_t scratch_bytes = std::int64_t{256} << 20;  // total of all scratch buffers
};

// The program for one case of the task for which it was read.
Checked<ResolvedProgram, SourceError> resolve_launches(const LaunchProgram& program,
                                                       const ResolvedCase& resolved_case,
                                                       const LaunchLimits& limits = {});

// The launches of a source in the task's last, largest case; none if they cannot be resolved.
inline std::vector<ResolvedLaunch> launches_in_last_case(std::string_view source,
                                                         const TaskDefinition& task) {
  const auto resolved = resolve_case(task, task.cases.back());
  const auto program = read_launches(source, task);
  if (!resolved || !program) return {};
  const auto launches = resolve_launches(*program, *resolved);
  return launches ? launches->launches : std::vector<ResolvedLaunch>();
}

// The threads of the largest block among these launches; 0 of none.
inline std::int64_t largest_block_of(const std::vector<ResolvedLaunch>& launches) {
  std::int64_t most = 0;
  for (const ResolvedLaunch& launch : launches)
    most = (std::max)(most, std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2]);
  return most;
}

}  // namespace krl

#include <kernelrl/detail/launch_reader.hpp>
#include <kernelrl/detail/launch_resolver.hpp>
