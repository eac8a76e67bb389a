// The requests of the evaluator to the two processes of a GPU, and their answers.
//
//   kernelrl-gpu-runner runs candidates' device code; holds nothing that a candidate must not reach
//   kernelrl-gpu-checker   trusted: expected values, comparison, true times of baselines
//
// A request is an object with one key, its kind; an answer is the kind's result, or {"trouble": …}.
// A request to a runner of libraries has a second key, kTicket, a secret number; its answer is an
// object of that and kAnswer.
// Both processes handle Setup, Load, Run, Time, Calls as "call", "finish" and "recycle", and
// "empty_launch", which answers with the time of an empty kernel's launch in ns. Only the checker
// handles Attach, Detach, Stage, Fetch, "time_launches" (takes a Stage), Check, "input_shares"
// (takes a UseInputs), "is_intact" (takes a Detach: a bool, true if a runner's arena holds only
// guards), Pool, Examine, "sums" (takes a Check: a list of the sums of each output's expected
// values), "traits" (takes a Check: a list of OutputTraits), TryImpostor, TimeReference, Transfer,
// "peaks" (answers with Peaks), "free_memory" (the GPU's, in bytes), "slowdown" (by what factor
// some work took longer than ever before, because other processes use the GPU), and "clock" (the SM
// clock in MHz, 0 = unknown). A third process, kernelrl-gpu-profiler, handles Setup and Load with
// different answers (counters/counter.hpp).
//
// An arena holds guards outside of laid-out sets of buffers: bytes that only a key can predict.
// Code that has examined a set restores the guards in its place.
// Memory that no launch has written holds a poison, given by its number: the kind poison_of(number,
// 0) with that seed (evaluator/check/poison.hpp). No two consecutive launches find the same kind.
// Offsets count from the start of a buffer set (of a Program) or of the arena. Plain values.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/check/comparison.hpp"
#include "plugins/backends/evaluator/check/inputs.hpp"
#include "plugins/backends/evaluator/check/roofline.hpp"
#include "plugins/backends/evaluator/oracle/oracle_protocol.hpp"

namespace krl::evaluator {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ElementError, index, got, expected)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OutputTraits, is_finite, accepts_zeros)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Peaks, bytes_per_ns, operations_per_ns)

}  // namespace krl::evaluator

namespace krl::gpu {

inline constexpr char kTicket[] = "ticket", kAnswer[] = "answer";

// ---- of both

// The key of an arena's guards.
struct GuardKey {
  std::uint64_t start = 0, mask = 0;
};

// The first request: becomes a worker of a GPU. The answer is a Ready.
struct Setup {
  int device = 0;
  std::string trusted_code;  // trusted_kernels.cu, compiled
  std::uint64_t arena_bytes = 0;
  GuardKey guards;
};

// Covers starting the driver and a context, and in a checker loading libtorch.
inline constexpr std::chrono::minutes kSetupLimit{2};

struct Ready {
  std::string arena;              // its CUDA IPC handle
  bool reference_on_gpu = false;  // for a checker: runs libtorch on the GPU
};

// An input that is drawn on the GPU.
struct Fill {
  std::string name;
  std::uint64_t offset = 0, elements = 0, row = 1;  // row: the length of the last axis
  int dtype = 0, values = 0;                        // DType, ValueKind
  double low = 0, high = 1;
  int structure = 0;  // Structure
};

// A row-major array in a set, for bulk copies: see krl::ResolvedTensorMap.
struct TensorMap {
  std::uint64_t offset = 0, element_bytes = 4, swizzle = 0;
  std::vector<std::uint64_t> sizes;  // the innermost last
  std::vector<std::uint32_t> box;
};

struct Argument {
  // `value`: its bits; the offset of a buffer, whose address is passed; an index into tensor_maps.
  enum Kind : std::uint8_t { kValue, kAddress, kTensorMap } kind = kValue;
  std::uint64_t value = 0;
};

struct Launch {
  std::uint32_t kernel = 0;  // an index into the module's
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  std::vector<Argument> arguments;
  std::vector<TensorMap> tensor_maps;
};

// The arguments for the function of a candidate with host code (host_call.hpp).
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
  std::vector<HostTensor> tensors;  // inputs, then outputs that are not inputs
  int inputs = 0;
  std::vector<int> outputs;  // places in `tensors`
  std::vector<HostScalar> scalars;
  std::vector<std::int64_t> axes;  // the variable axes
};

// Determines the values of a set's inputs.
struct DrawnInputs {
  std::uint64_t seed = 0;
  evaluator::Distribution distribution = evaluator::Distribution::kAsGiven;
  std::uint64_t change = 0;  // other elements here and there: see krl_change
};

struct Region {
  std::uint64_t offset = 0, bytes = 0;
};

// A candidate's work in one case: a set of buffers, poisoned and filled, and what runs on it.
struct Program {
  std::uint64_t bytes = 0;  // size of a set, guard zones included; a multiple of 8
  std::vector<Fill> inputs;
  std::vector<Region> blank;  // poisoned: outputs and scratch buffers
  std::vector<Launch> launches;
  HostArguments host;  // used if a library is loaded, which launches by itself
};

// Replaces the loaded code, or is loaded alongside it. The answer is null.
struct Load {
  std::string cubin;
  std::vector<std::string> kernels;  // mangled
  std::string library;               // instead of both: a shared object
  bool has_variables = true;         // launches may change them: loaded again before each batch
  std::uint32_t stack_bytes = 0;     // limit on a thread's local memory
  bool beside = false;               // a second module, to be timed in turn with the first
};

// Lays out a set and runs the program on it. The answer is null.
struct Run {
  Program program;
  std::uint64_t place = 0;  // offset of the set in the arena
  DrawnInputs inputs;
  std::uint64_t poison = 0;  // its number
  bool anew = false;         // the module is loaded again, if launches may have changed it
};

// A program whose time is sampled.
struct Timed {
  Program program;
  std::uint32_t launches = 1;  // launches per sample
  std::uint32_t decoys = 0;    // sets that are laid out like the others, and never launched

  std::uint32_t sets() const { return launches + decoys; }
};

// Samples of programs' times with a cold L2: one or two programs, in turn, of the loaded module and
// of the one alongside it. Each launch has a separate set. All sets of a sample are laid out before
// it and put away after it. Both programs have the same places and inputs, because the time of a
// short kernel depends on where its data are. The module is loaded again before, and each program
// is run once unmeasured. The answer: for each program a list of nanoseconds per sample, of one
// launch.
struct Time {
  std::vector<Timed> programs;
  std::uint32_t samples = 0;
  std::uint32_t sets = 0;  // for which a sample has places; a program may use fewer
  // Offsets of all sets, in the order of their launches, those of a sample together; before all
  // others comes one set for the launches that are not measured. `poisons`: numbers of the sets'
  // poisons.
  std::vector<std::uint64_t> places, poisons;
  std::vector<DrawnInputs> inputs;
  // Where copies of the first program's sets are kept afterwards, except for the unmeasured one;
  // empty: nowhere.
  std::vector<std::uint64_t> kept;
  bool backwards = false;  // the first pair of samples in the other order; each pair changes it
};

// Calls of a library, one per set, in this order; the answer comes when their work is done. Without
// a loaded library, the calls do nothing. Before them "wake" makes the GPU switch to this process.
// Then "finish" brings their outputs to their places, and "recycle" makes unreadable the memory
// that they no longer need; the answers are null. None of this is timed here: in a process of a
// candidate's own, no clock can be trusted.
struct Calls {
  HostArguments host;
  std::vector<std::uint64_t> places;  // offsets of the sets in the arena
};

// Trials of a program as KernelBench times it (src/kernelbench/timing.py at 423217d), one call at a
// time, all on the same set, which is laid out already: a wait for all work, 256 MB written over
// the L2, an event, the call, an event. Before each trial, memory that nobody has written is
// poisoned again. The trials do not see work on streams other than the events', and host code can
// forge the answer: nanoseconds of each trial, warm-ups excluded.
struct Trials {
  Program program;
  std::uint64_t place = 0;  // offset of the set in the arena
  std::uint32_t warm_ups = 0, trials = 0;
};

// One trial of a library, on a set that is laid out already; or of calls that do nothing. The
// answer: the nanoseconds between the events, and those from the second until all streams had
// ended, which are few unless work went on beside the events' stream.
struct CalledTrial {
  HostArguments host;
  std::uint64_t place = 0;
  std::uint32_t warm_ups = 0;
};

// Samples of the time of a task's reference, each one call with fresh inputs and a cold L2. The
// answer: a list of nanoseconds; empty if the reference cannot run where the checker computes.
struct TimeReference {
  evaluator::OracleRequest reference;
  std::vector<Fill> inputs;  // offsets into its memory
  std::vector<std::uint64_t> seeds;
  // Instead, where libtorch computes on the GPU: as Trials, all with the first seed.
  std::uint32_t warm_ups = 0, trials = 0;
};

// Asks how long a case's inputs and outputs take between the GPU and page-locked memory of the
// host. The answer has the same type, with nanoseconds.
struct Transfer {
  std::uint64_t to_gpu = 0, to_host = 0;  // bytes
};

// A call of CUDA's that failed.
struct Trouble {
  int code = 0;         // CUresult
  std::string message;  // "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE"
  std::uint32_t launch = 0;
  bool launching = false;  // it was refused at launch `launch`, before anything ran
  // For a library: whose fault it is, or kNone.
  enum Host { kNone, kItsFailure, kItsWorkLeft } host = kNone;
};

// ---- of the checker

// Makes a runner's arena readable under a number. The answer is null.
struct Attach {
  std::uint64_t runner = 0;
  std::string arena;
  std::uint64_t bytes = 0;
  GuardKey guards;
  bool put_guards = false;  // the runner does not have the key
};
struct Detach {
  std::uint64_t runner = 0;
};

// Holds a set in a runner's arena after a Run against the expected values; those are computed if
// the key is new. "check" has a list of them; the answer is a list of CheckResults.
struct Check {
  std::string key;                     // identifies everything that decides the expected values
  evaluator::OracleRequest reference;  // its memory is the checker's own
  std::vector<Fill> inputs;            // offsets into that memory
  DrawnInputs drawn;
  double atol = 0, rtol = 0;
  std::uint64_t runner = 0;                 // 0: only compute the expected values
  std::uint64_t place = 0, bytes = 0;       // the set in the arena
  std::vector<std::int64_t> input_offsets;  // offsets in the set; -1: may change
  std::vector<std::uint64_t> output_offsets;
  std::vector<Region> guards;  // regions of the set
  bool fetched = false;        // the set is the one that was fetched last
};

// Lays out sets in a runner's arena, which therefore learns neither seeds nor guards, and leaves
// the L2 cold. The answer is null. For "time_launches" the arena is the checker's own, and the
// program of the loaded module is then launched on each set, one after the other: the answer is the
// time of one launch, from enqueueing the first to the end of the last, in ns.
struct Stage {
  std::uint64_t runner = 0;
  Program program;
  std::vector<std::uint64_t> places, seeds;
  evaluator::Distribution distribution = evaluator::Distribution::kAsGiven;
  std::uint64_t poison = 0;  // the number of the first set's, each of the next has the next

  std::vector<DrawnInputs> inputs() const {
    std::vector<DrawnInputs> drawn;
    for (const std::uint64_t seed : seeds) drawn.push_back({seed, distribution});
    return drawn;
  }
};

// Copies sets from a runner's arena into memory that no candidate's process maps, and puts guards
// in their place: later judgements use these copies, until the next are fetched. The answer, null,
// comes when that is done.
struct Fetch {
  std::uint64_t runner = 0;           // 0: from the checker's own arena
  std::uint64_t bytes = 0;            // size of a set
  std::vector<std::uint64_t> places;  // offset of each set
  std::vector<std::uint64_t> kept;    // offset of each set's copy in the arena; empty: no copies
};

// The outputs with which timed launches of a case are compared: a trusted program computes them
// from inputs of many seeds. The program belongs to the loaded module; without launches it is the
// reference. The answer is a ReferenceProblem: of the reference, or that the program's own outputs
// are wrong.
struct Pool {
  std::string key;
  Program program;
  std::vector<std::uint64_t> output_offsets;  // offsets in its sets
  std::vector<DrawnInputs> members;
  // Checks of the first members, which allow no rounding before the reference is asked.
  std::vector<Check> exact;
  Check check;  // a run of the case that the program must pass
};

// Fetches the sets of a Time, unless they are, and holds them against a pool: a launch may have
// written its own outputs and scratch buffers, decoys no one. The answer is an Examined.
struct Examine {
  std::string pool;
  std::uint64_t runner = 0;
  Timed timed;
  // For each set, its offset, and its index in the pool.
  std::vector<std::uint64_t> places, members;
  std::vector<std::uint64_t> kept;          // offset of each set's copy; empty: no copies
  std::vector<std::uint64_t> poisons;       // number of each set's poison
  std::vector<std::int64_t> input_offsets;  // offsets in a set; -1: may change
  std::vector<std::uint64_t> output_offsets;
  std::vector<Region> guards;
  bool fetched = false;
};

// Asks which share of its inputs a task's outputs follow, by the program of the module that is
// loaded. "input_shares" answers with a number for each input.
struct UseInputs {
  Program program;
  std::vector<std::uint64_t> output_offsets;
  Check check;  // a run of the case
  std::uint64_t seed = 0, tries = 1;
};

struct SetProblem {
  enum Kind { kOutput, kInput, kGuard, kDecoy } kind = kOutput;
  std::uint64_t set = 0;
  std::uint64_t index = 0;  // index of the output, the input or the guard
  std::uint64_t wrong = 0;  // elements of an output
};

struct Examined {
  bool pool_is_known = true;         // else the sets were only fetched
  std::vector<SetProblem> problems;  // a few at most
};

// Would outputs that are made up pass the check of a run? Each is one number everywhere, or all are
// copies of an input. The answer is a bool for each.
struct TryImpostor {
  Check run;
  std::vector<double> numbers;  // values of the outputs
  std::int64_t copied = -1;     // the index of an input; -1: none
};

struct CheckedOutput {
  std::uint64_t wrong = 0;
  double max_abs_error = 0, max_rel_error = 0;
  std::vector<evaluator::ElementError> first;  // the first wrong elements
};

struct CheckResult {
  evaluator::ReferenceProblem
      problem;  // if it has a message, the reference failed and nothing was compared
  std::vector<CheckedOutput> outputs;
  std::vector<std::size_t> changed_inputs;  // indices
  std::vector<std::size_t> changed_guards;
};

// ---- as messages

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GuardKey, start, mask)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Setup, device, trusted_code, arena_bytes, guards)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Ready, arena, reference_on_gpu)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Fill, name, offset, elements, row, dtype, values, low, high,
                                   structure)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TensorMap, offset, element_bytes, swizzle, sizes, box)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Argument, kind, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Launch, kernel, grid, block, shared_bytes, arguments,
                                   tensor_maps)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostTensor, offset, dtype, shape)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostScalar, dtype, real, integer)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostArguments, tensors, inputs, outputs, scalars, axes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DrawnInputs, seed, distribution, change)
// A batch has hundreds: as objects they would take longer to read than the launches take.
inline void to_json(nlohmann::json& json, const std::vector<DrawnInputs>& all) {
  std::vector<std::uint64_t> numbers;
  for (const DrawnInputs& drawn : all) {
    const auto distribution = static_cast<std::uint64_t>(drawn.distribution);
    numbers.insert(numbers.end(), {drawn.seed, distribution, drawn.change});
  }
  json = numbers;
}
inline void from_json(const nlohmann::json& json, std::vector<DrawnInputs>& all) {
  const auto numbers = json.get<std::vector<std::uint64_t>>();
  all.clear();
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    all.push_back(
        {numbers[i], static_cast<evaluator::Distribution>(numbers.at(i + 1)), numbers.at(i + 2)});
  }
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Region, offset, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Program, bytes, inputs, blank, launches, host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Load, cubin, kernels, library, has_variables, stack_bytes,
                                   beside)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Run, program, place, inputs, poison, anew)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Timed, program, launches, decoys)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Time, programs, samples, sets, places, poisons, inputs, kept,
                                   backwards)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Calls, host, places)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Stage, runner, program, places, seeds, distribution, poison)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Trials, program, place, warm_ups, trials)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CalledTrial, host, place, warm_ups)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeReference, reference, inputs, seeds, warm_ups, trials)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Transfer, to_gpu, to_host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Trouble, code, message, launch, launching, host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Attach, runner, arena, bytes, guards, put_guards)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Detach, runner)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Check, key, reference, inputs, drawn, atol, rtol, runner, place,
                                   bytes, input_offsets, output_offsets, guards, fetched)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Fetch, runner, bytes, places, kept)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Pool, key, program, output_offsets, members, exact, check)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Examine, pool, runner, timed, places, kept, poisons, members,
                                   input_offsets, output_offsets, guards, fetched)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UseInputs, program, output_offsets, check, seed, tries)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SetProblem, kind, set, index, wrong)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Examined, pool_is_known, problems)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TryImpostor, run, numbers, copied)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckedOutput, wrong, max_abs_error, max_rel_error, first)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckResult, problem, outputs, changed_inputs, changed_guards)

}  // namespace krl::gpu
