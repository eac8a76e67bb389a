// The contract between an evaluator and `kernelrl-machine`, the process that executes one
// candidate's PTX on the CPU.
//
// One exec per evaluation, started by the evaluator inside its sandbox:
//
//   fd 0  the job, one JSON document, then end of file
//   fd 3  the arena (memfd; mapped shared, read-write)
//   fd 4  the PTX (memfd or file)
//   fd 5  the result, one JSON document
//
// The evaluator places inputs into the arena and poisons outputs before the start, and reads
// outputs from it afterwards. The machine exits with 0 whenever it wrote a result, whatever the
// result says. Its output is not trusted: the evaluator checks sizes, ranges and completeness.
//
// Plain values, no shared state: every function may be called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plugins/backends/cpu/instruction_class.hpp"

namespace krl::cpu {

inline constexpr int kJobDescriptor = 0;
inline constexpr int kArenaDescriptor = 3;
inline constexpr int kModuleDescriptor = 4;
inline constexpr int kResultDescriptor = 5;

// Every buffer of a job starts at a multiple of this many bytes, as memory from cudaMalloc does.
inline constexpr std::uint64_t kBufferAlignment = 256;

// ---- paths ----

// The longest sequence of operations that one warp of a launch executes: the cost of latency.
struct CriticalPath {
  std::uint64_t instructions = 0;
  std::uint64_t clocks = 0;  // chains of dependent instructions, without memory
  // Waits for loads, by the farthest place of their sectors: those that touch a sector first
  // touched in this launch; those all of whose sectors were touched before, some only by other
  // blocks, and waits at fences between blocks; those whose sectors this block had all touched.
  std::uint64_t dram_requests = 0;
  std::uint64_t l2_requests = 0;
  std::uint64_t l1_requests = 0;
  std::uint64_t shared_requests = 0;
  std::uint64_t warp_operations = 0;  // shuffles, votes, matches, reductions
  std::uint64_t barriers = 0;
  std::uint64_t atomics = 0;
  std::uint64_t loop_turns = 0;  // atomics on shared memory that are loops: see Counters
  // Clocks of waiting for what other warps of the block write, and for further addresses of
  // constant memory.
  std::uint64_t waits = 0;
  // Global requests among the above that follow a store, an atomic operation or a barrier of the
  // same warp: a compiler may not move them before it, so they do not overlap the previous request.
  std::uint64_t ordered_dram_requests = 0;
  std::uint64_t ordered_l2_requests = 0;
  std::uint64_t ordered_l1_requests = 0;

  bool operator==(const CriticalPath&) const = default;
};

// The parts that a model of a GPU sums, each with its own cost.
inline constexpr std::uint64_t CriticalPath::*kPathParts[] = {
    &CriticalPath::instructions,    &CriticalPath::clocks,      &CriticalPath::dram_requests,
    &CriticalPath::l2_requests,     &CriticalPath::l1_requests, &CriticalPath::shared_requests,
    &CriticalPath::warp_operations, &CriticalPath::barriers,    &CriticalPath::atomics,
    &CriticalPath::loop_turns,      &CriticalPath::waits,
};
// The cost of one unit of each part, in clocks.
using PathClocks = std::array<double, std::size(kPathParts)>;

// ---- the job ----

// The schedule of blocks and warps. kForward, kReversed and kShuffled run block after block, unless
// one waits for another, in that order of blocks and warps. In kLockstep and kDrawn blocks run side
// by side, and a warp's turn is a few memory accesses: one in kLockstep; in kDrawn a number drawn
// from the seed, with a warp stalled for long now and then.
enum class Order { kForward = 0, kReversed = 1, kShuffled = 2, kLockstep = 3, kDrawn = 4 };

inline bool runs_side_by_side(Order order) { return order >= Order::kLockstep; }

enum class Role { kInput, kOutput, kInOut, kScratch };

struct Buffer {
  std::string name;          // for messages: "x[1024] is out of bounds"
  std::uint64_t offset = 0;  // offset in the arena; a multiple of kBufferAlignment
  std::uint64_t bytes = 0;
  std::uint32_t element_size = 4;  // bytes
  bool writable = true;            // false: a store is an illegal_address fault
  Role role = Role::kInput;

  bool operator==(const Buffer&) const = default;
};

// A pointer argument: the start of a buffer of the same run.
struct BufferArgument {
  std::uint32_t buffer = 0;

  bool operator==(const BufferArgument&) const = default;
};

// A descriptor of a row-major array that begins where a buffer does, for bulk copies of tensors: see
// krl::ResolvedTensorMap, whose limits it meets.
struct TensorMapArgument {
  std::uint32_t buffer = 0, element_bytes = 4, swizzle = 0;
  std::vector<std::uint64_t> sizes;  // elements, the innermost last
  std::vector<std::uint32_t> box;    // …

  bool operator==(const TensorMapArgument&) const = default;
};

// The size of a kernel's parameter that takes one.
inline constexpr std::uint32_t kTensorMapBytes = 128;

// A double takes the width of its parameter, as an integer does; a float has its own.
using Argument =
    std::variant<BufferArgument, TensorMapArgument, std::int32_t, std::int64_t, float, double>;

using Dim3 = std::array<std::uint32_t, 3>;

struct Launch {
  std::uint32_t kernel = 0;  // index into Job::kernels
  Dim3 grid{1, 1, 1};
  Dim3 block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<Argument> arguments;
  std::uint32_t resident_blocks = 0;  // blocks that the GPU holds at once; 0: not known

  bool operator==(const Launch&) const = default;
};

// Launches that share buffers. __device__ variables start every run with their initial values.
struct Run {
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;
  bool count = false;  // collect counters; the verdict is the same with and without
  Order order = Order::kForward;
  std::uint32_t held_line = 0;  // kDrawn: warps are often stalled after its accesses; 0: none
  // Threads of a block repeat what others do, as in code that Triton made: they store to one word of
  // shared memory what each has computed of the same inputs, in roundings that may differ, and load
  // from global memory what they have no use for. The former is no race, whichever stays; of the
  // latter only what comes of other orders is one.
  bool redundant_threads = false;
  std::uint64_t garbage = 0;  // the seed of what nobody has set: see garbage.hpp

  bool operator==(const Run&) const = default;
};

struct Job {
  std::vector<std::string> kernels;  // the module's names of its entries: mangled
  // Warp instructions per run; the first ones of kLockstep and kDrawn do not count.
  std::uint64_t work_limit = 50'000'000;
  std::uint64_t seed = 0;                     // seed of Order::kShuffled and Order::kDrawn
  std::uint32_t max_shared_bytes = 48 << 10;  // static + dynamic, per block
  // The costs by which warps and blocks are ordered in counted runs, indexed like kPathParts.
  PathClocks path_clocks = {0, 2, 350, 180, 33, 25, 64, 30, 106, 50, 1};
  std::vector<Run> runs;

  bool operator==(const Job&) const = default;
};

// ---- the result ----

enum class FaultKind {
  kIllegalAddress,
  kMisaligned,
  kDivergentBarrier,
  kDataRace,
  kUninitialisedShared,
  kUninitialisedGlobal,
  kUninitialisedLocal,
  kTrap,
  kWorkLimit,
  kDeadlock,
  kStackOverflow,
  kUnsupported,
  kSignal,
};

// "illegal_address", "misaligned", … as in the runner's result and in an evaluation.
std::string_view name_of(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kSignal;
  std::string message;     // "x[1024] is out of bounds: x has 1024 elements"
  std::uint32_t line = 0;  // line of the candidate's text, from 1; 0 if unknown
  std::uint32_t run = 0;
  std::uint32_t launch = 0;
  std::string kernel;
  Dim3 block{};
  Dim3 thread{};

  bool operator==(const Fault&) const = default;
};

// A launch that the hardware would refuse; nothing of its run was executed.
struct LaunchError {
  std::uint32_t run = 0;
  std::uint32_t launch = 0;
  std::int32_t argument = -1;  // -1: the configuration, not an argument
  std::string message;

  bool operator==(const LaunchError&) const = default;
};

// Two warps accessed the same memory in an order that only the schedule decided, and the result may
// depend on it: a store and a load or store, or two atomic operations where the old value of one is
// used. Not a fault: a lock does this, but so does a lost update.
struct Encounter {
  std::uint32_t run = 0;
  std::uint32_t line = 0;  // line of the later access; 0 if unknown
  std::string place;       // "y[0]", "shared total"

  bool operator==(const Encounter&) const = default;
};

inline constexpr std::size_t kMostEncounters = 8;

// A run met what nobody has set, in a way that is right if nothing follows from it: a register that
// not every path writes, the value of a lane that takes no part, local memory that was not written.
struct Unset {
  std::uint32_t run = 0;
  std::uint32_t line = 0;
  std::string what;  // "a variable that not every path sets"

  bool operator==(const Unset&) const = default;
};

// Elements of an output that a run did not write, or only in part.
struct Unwritten {
  std::uint32_t run = 0, buffer = 0;
  std::uint64_t first = 0, count = 0;  // elements

  bool operator==(const Unwritten&) const = default;
};

// Events that a profiler would count for one launch. A request is one instruction of one warp, with
// any number of lanes; a sector is 32 bytes of global memory. Lanes of a warp are assumed to
// reconverge as early as program order allows.
struct Counters {
  std::uint64_t blocks = 0;
  std::uint64_t warps = 0;
  std::uint64_t threads = 0;
  std::uint64_t instructions = 0;  // warp instructions
  // Lanes' instructions: / (32 instructions) is the branch efficiency.
  std::uint64_t thread_instructions = 0;
  std::uint64_t global_load_requests = 0;
  std::uint64_t global_load_sectors = 0;
  std::uint64_t global_store_requests = 0;
  std::uint64_t global_store_sectors = 0;
  // Sectors that global loads and stores would have touched at least, by their lanes and widths, if
  // neighbouring lanes had accessed neighbouring addresses.
  std::uint64_t needed_sectors = 0;
  std::uint64_t vector8_requests = 0;    // global loads and stores of 8 bytes per lane
  std::uint64_t vector16_requests = 0;   // … of 16 bytes per lane
  std::uint64_t dram_load_sectors = 0;   // distinct ones loaded: the traffic of an ideal cache
  std::uint64_t dram_store_sectors = 0;  // distinct ones stored
  std::uint64_t l1_sectors = 0;          // loaded again, by a block that touched them before
  std::uint64_t l2_sectors = 0;          // loaded again, by a block that had not touched them
  // For loads of constant memory and parameters: addresses beyond the first of a warp's request.
  std::uint64_t constant_repeats = 0;
  std::uint64_t shared_load_requests = 0;
  std::uint64_t shared_store_requests = 0;
  std::uint64_t shared_wavefronts = 0;  // passes over the 32 banks
  std::uint64_t bank_conflicts = 0;     // wavefronts beyond those the width of the access needs
  std::uint64_t global_atomics = 0;     // requests
  std::uint64_t shared_atomics = 0;     // requests
  // Repeats: passes of these beyond the first, for lanes at the same address. Loops: turns of the
  // loops that an assembler makes for operations without an instruction for shared memory (floats,
  // 64 bits).
  std::uint64_t shared_atomic_repeats = 0;
  std::uint64_t shared_atomic_loops = 0;
  std::uint64_t atomic_passes = 0;   // serial passes of the global ones, for lanes at an address
  std::uint64_t hottest_atomic = 0;  // most atomic operations on one address of global memory
  std::uint64_t barriers = 0;        // __syncthreads, per warp
  std::uint64_t shuffles = 0;        // per warp
  std::uint64_t votes = 0;           // ballots, any, all, match, reduce, activemask; per warp
  std::uint64_t warp_barriers = 0;   // __syncwarp, per warp
  std::uint64_t local_requests = 0;  // loads and stores of local memory
  std::uint64_t local_sectors = 0;   // sectors of local memory
  // Instructions of the code that any warp executed, each counted once.
  std::uint64_t code_instructions = 0;
  std::uint64_t typical_runs = 0;     // mean number of executions of an instruction's code
  PerClass<std::uint64_t> classes{};  // warp instructions by class
  PerTensorType<std::uint64_t> tensor_products{};  // multiplications and additions by tensor cores
  // Clocks from the start of the first block to the end of the last; 0: not known.
  std::uint64_t span_clocks = 0;
  CriticalPath critical;

  bool operator==(const Counters&) const = default;
};

struct LaunchReport {
  Counters counters;  // all 0 unless Run::count
  Dim3 grid{};
  Dim3 block{};
  std::uint32_t kernel = 0;
  std::uint32_t shared_bytes = 0;  // static + dynamic, per block

  bool operator==(const LaunchReport&) const = default;
};

struct KernelFacts {
  std::string name;
  std::uint32_t shared_bytes = 0;           // static
  std::uint32_t max_threads_per_block = 0;  // __launch_bounds__; 0 if not given

  bool operator==(const KernelFacts&) const = default;
};

struct Result {
  std::optional<LaunchError> launch_error;
  std::optional<Fault> fault;        // neither: every run ended as it should
  std::vector<KernelFacts> kernels;  // per kernel of the job, unless the module failed to load
  std::vector<std::vector<LaunchReport>> runs;  // per finished run, per launch
  // The encounters of finished runs, in their order: the first on different lines, at most
  // kMostEncounters per run.
  std::vector<Encounter> encounters;
  std::vector<Unwritten> unwritten;  // from finished runs, in their order
  // From finished runs, in their order, limited like encounters.
  std::vector<Unset> unset;
  std::uint64_t work = 0;  // counted as for the work limit, over all runs
  // What the runs printed, one after the other, the one that ended the job included. Candidates may
  // not print: their code is refused before.
  std::string printed;

  bool operator==(const Result&) const = default;
};

// JSON; `from_json` throws nlohmann::json::exception on a missing key or a value of the wrong type.
void to_json(nlohmann::json& json, const Job& job);
void from_json(const nlohmann::json& json, Job& job);
void to_json(nlohmann::json& json, const Result& result);
void from_json(const nlohmann::json& json, Result& result);
void to_json(nlohmann::json& json, const Counters& counters);
void from_json(const nlohmann::json& json, Counters& counters);

}  // namespace krl::cpu
