// What the evaluator says to the two processes of a GPU, and what they answer.
//
//   kernelrl-gpu-runner    runs candidates' device code; has nothing that one must not reach
//   kernelrl-gpu-checker   trusted: expected values, comparison, what a baseline really takes
//
// A request is an object with one key, its kind; an answer is the kind's result, or {"trouble": …}.
// A request to a runner of libraries has a second key, kTicket, a secret number; its answer is an
// object of that and kAnswer.
// Both do Setup, Load, Run and Time; the checker alone Attach, Detach, Check, "sums" (of a Check: a
// list of the sums of each output's expected values), TryImpostor, TimeReference, Transfer and
// "clock", whose answer is the SM clock in MHz, 0 = unknown. A third process,
// kernelrl-gpu-profiler, does Setup and Load with answers of its own (counters/counter.hpp).
// Offsets count from the start of a buffer set (of a Program) or of the arena. Plain values.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/check/comparison.hpp"
#include "plugins/backends/evaluator/oracle/oracle_protocol.hpp"

namespace krl {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ElementError, index, got, expected)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReferenceProblem, message, line, column)

}  // namespace krl

namespace krl::gpu {

inline constexpr char kTicket[] = "ticket", kAnswer[] = "answer";

// ---- of both

// The first request: becomes a worker of a GPU. The answer is a Ready.
struct Setup {
  int device = 0;
  std::string trusted_code;  // trusted_kernels.cu, compiled
  std::uint64_t arena_bytes = 0;
};

// For it: the driver and a context, of a checker libtorch too.
inline constexpr std::chrono::minutes kSetupLimit{2};

struct Ready {
  std::string arena;              // its CUDA IPC handle
  bool reference_on_gpu = false;  // of a checker: where its libtorch computes
};

// An input that is drawn on the GPU.
struct Fill {
  std::string name;
  std::uint64_t offset = 0, elements = 0, row = 1;  // row: the length of the last axis
  int dtype = 0, values = 0;                        // DType, ValueKind
  double low = 0, high = 1;
};

struct Argument {
  bool address = false;  // of the buffer at offset `value`; else the value's bits
  std::uint64_t value = 0;
};

struct Launch {
  std::uint32_t kernel = 0;  // an index into the module's
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  std::vector<Argument> arguments;
};

// What the function of a candidate with host code of its own is called with (host_call.hpp).
struct HostTensor {
  std::uint64_t offset = 0;
  int dtype = 0;  // DType
  std::vector<std::int64_t> shape;
};
struct HostScalar {
  int dtype = 0;  // DType
  double real = 0;
  std::int64_t integer = 0;
};
struct HostArguments {
  std::vector<HostTensor> tensors;  // inputs, then outputs that are no inputs
  int inputs = 0;
  std::vector<int> outputs;  // places in `tensors`
  std::vector<HostScalar> scalars;
  std::vector<std::int64_t> axes;  // that vary
};

// A candidate's work in one case: a set of buffers, poisoned and filled, and what runs on it.
struct Program {
  std::uint64_t bytes = 0;  // of a set, guard zones included
  std::vector<Fill> inputs;
  std::vector<Launch> launches;
  HostArguments host;  // where a library is loaded, which launches by itself
};

// Replaces what is loaded, or is loaded beside it. The answer is null.
struct Load {
  std::string cubin;
  std::vector<std::string> kernels;  // mangled
  std::string library;               // instead of both: a shared object
  bool beside = false;               // a second module, to be timed in turn with the first
};

// Poisons the first set, fills it and runs the program once. The answer is null.
struct Run {
  Program program;
  std::uint64_t seed = 0;
  double factor = 1;  // see factor_of
};

// Samples of a program's time with a cold L2, each over `sets` launches of it on buffers of their
// own, all with fresh inputs. The sets of a sample lie one behind the other, at a place of its own,
// as the time of a short kernel depends on where its data are.
struct Samples {
  Program program;
  std::uint32_t sets = 1;
  std::vector<std::uint64_t> places;  // of each sample: where its sets begin in the arena
  std::vector<std::uint64_t> seeds;   // sets × samples; a sample's stand together
};

// As many samples of each, in turn: one of the module that is loaded, and if there is a second, of
// the one beside it. The answer: for each a list of nanoseconds per sample, of one launch.
struct Time {
  std::vector<Samples> samples;
  bool backwards = false;  // the first pair of samples in the other order; each pair changes it
  std::int64_t keep = -1;  // the index of a seed of the first: its set is kept at the arena's start
};

// Samples of the time of a task's reference, each one call with fresh inputs and a cold L2. The
// answer: a list of nanoseconds; empty if the reference cannot run where the checker computes.
struct TimeReference {
  OracleRequest reference;
  std::vector<Fill> inputs;  // offsets into its memory
  std::vector<std::uint64_t> seeds;
};

// How long do a case's inputs and outputs take between the GPU and page-locked memory of the host?
// The answer is the same with nanoseconds.
struct Transfer {
  std::uint64_t to_gpu = 0, to_host = 0;  // bytes
};

// A call of CUDA's that failed.
struct Trouble {
  int code = 0;         // CUresult
  std::string message;  // "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE"
  std::uint32_t launch = 0;
  bool launching = false;  // it was refused at launch `launch`, before anything ran
  // Of a library: kNone, or whose doing it is.
  enum Host { kNone, kItsFailure, kItsWorkLeft } host = kNone;
};

// ---- of the checker

// Makes a runner's arena readable under a number. The answer is null.
struct Attach {
  std::uint64_t runner = 0;
  std::string arena;
};
struct Detach {
  std::uint64_t runner = 0;
};

struct Region {
  std::uint64_t offset = 0, bytes = 0;
};

// Holds a runner's arena after a Run against the expected values; those are computed if the key is
// new. The answer is a CheckResult.
struct Check {
  std::string key;           // of everything that decides the expected values
  OracleRequest reference;   // its memory is the checker's own
  std::vector<Fill> inputs;  // offsets into that memory
  std::uint64_t seed = 0;
  double factor = 1, atol = 0, rtol = 0;
  std::uint64_t runner = 0;                 // 0: only compute what is expected
  std::vector<std::int64_t> input_offsets;  // in the arena; -1: may change
  std::vector<std::uint64_t> output_offsets;
  std::vector<Region> guards;  // must still be poison
};

// Would outputs that are made up pass the check of a run? Each is one number everywhere, or all are
// copies of an input. The answer is a bool.
struct TryImpostor {
  Check run;
  std::vector<double> numbers;  // of the outputs
  std::int64_t copied = -1;     // the index of an input; -1: none
};

struct CheckedOutput {
  std::uint64_t wrong = 0;
  double max_abs_error = 0, max_rel_error = 0;
  std::vector<ElementError> first;  // of the wrong ones
};

struct CheckResult {
  ReferenceProblem problem;  // of the reference: nothing was compared; no message: none
  std::vector<CheckedOutput> outputs;
  std::vector<std::size_t> changed_inputs;  // indices
  std::vector<std::size_t> changed_guards;
};

// ---- as messages

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Setup, device, trusted_code, arena_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Ready, arena, reference_on_gpu)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Fill, name, offset, elements, row, dtype, values, low, high)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Argument, address, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Launch, kernel, grid, block, shared_bytes, arguments)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostTensor, offset, dtype, shape)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostScalar, dtype, real, integer)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostArguments, tensors, inputs, outputs, scalars, axes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Program, bytes, inputs, launches, host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Load, cubin, kernels, library, beside)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Run, program, seed, factor)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Samples, program, sets, places, seeds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Time, samples, backwards, keep)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeReference, reference, inputs, seeds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Transfer, to_gpu, to_host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Trouble, code, message, launch, launching, host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Attach, runner, arena)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Detach, runner)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Region, offset, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Check, key, reference, inputs, seed, factor, atol, rtol, runner,
                                   input_offsets, output_offsets, guards)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TryImpostor, run, numbers, copied)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckedOutput, wrong, max_abs_error, max_rel_error, first)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckResult, problem, outputs, changed_inputs, changed_guards)

}  // namespace krl::gpu
