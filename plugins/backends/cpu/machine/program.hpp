// The program that the machine executes: PTX decoded into operations on rows of a frame. Built once
// from a ptx::Module that passed the checks; every offset, index and target in it is valid for any
// candidate. The counters in it belong to the machine; used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/cpu/instruction_class.hpp"
#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {
using namespace cpu;

class Warp;
struct Instruction;
struct MemoryAccess;  // memory/access.hpp: state of one memory instruction

// Executes an instruction for the lanes of `mask`, which is not empty. Throws Fault.
using Operation = void (*)(const Instruction&, Warp&, std::byte* frame, Mask mask);

using cpu::InstructionClass;
using cpu::kInstructionClasses;

// Offsets locate rows in the frame; 0 is not a row. The operation defines the meaning of a … e.
struct Instruction {
  Operation run = nullptr;
  std::uint32_t d = 0, a = 0, b = 0, c = 0, e = 0;
  std::uint32_t guard = 0;  // a predicate; 0: unconditional
  bool guard_negated = false;
  InstructionClass kind = InstructionClass::kInteger;
  std::uint8_t extra[6] = {};
  std::int64_t immediate = 0;
  MemoryAccess* access = nullptr;
  std::uint32_t line = 0;  // line of the candidate's source; 0: unknown
};

// Lanes that execute a warp-wide operation together. They may have come to it at different places.
struct Party {
  const Instruction* at;
  std::byte* frame;
  Mask mask;
};
// Executes a warp-wide operation for all lanes that take part. Throws Fault.
using Meeting = void (*)(const Party* parties, std::size_t count, Warp& warp);

enum class Ending : std::uint8_t {
  kNext,    // continues with the next block
  kBranch,  // jumps to `target`
  kIf,  // jumps to `target` where `last.a` holds (negated by last.guard_negated), else to the next
  kSwitch,       // jumps to targets[last.a] (brx.idx)
  kCall,         // calls[target], then the next block
  kReturn,       // returns from a function; in an entry, the lanes end
  kExit,         // the lanes end
  kBarrier,      // a barrier of the block: see BarrierRequest
  kClusterWait,  // waits until all threads of the cluster have arrived at its barrier
  kMeeting,  // waits for the lanes in the mask row `last.e`, then `meeting`, then the next block
};

// A barrier at the end of a block. Its operands are in BasicBlock::last:
//   row a  the barrier, 0 to 15
//   row b  where `counted`, how many threads take part; otherwise all threads of the block do
//   row c  the predicate of kCount, kAnd and kOr, negated by guard_negated
//   row d  the result: 32-bit values for kCount, otherwise a predicate
struct BarrierRequest {
  enum Kind : std::uint8_t { kSync, kArrive, kCount, kAnd, kOr } kind = kSync;
  bool counted = false;
};

// A basic block: instructions executed one after the other, and how it ends.
struct BasicBlock {
  std::uint32_t first = 0, end = 0;  // range in Function::instructions
  Ending ending = Ending::kNext;
  std::uint32_t target = 0;  // a block, or an index into Function::calls
  std::uint32_t rank = 0;    // lanes at lower ranks go first, so that others can join them
  Instruction last;          // the operands of the ending
  Meeting meeting = nullptr;
  BarrierRequest barrier;
  std::vector<std::uint32_t> targets;
  // Instructions of each class, the ending included.
  std::array<std::uint16_t, kInstructionClasses> classes{};
  std::uint32_t instructions = 0;   // total
  std::uint32_t chain_clocks = 0;   // longest chain of dependent instructions, without memory
  bool begins_region = true;        // loads of earlier blocks do not wait with its own
  bool uses_earlier_loads = false;  // reads what earlier regions loaded and did not wait for
  bool polls = false;   // reads what other threads may change: a loop around it may wait for them
  bool yields = false;  // begins with a strong access: in time, other warps may have to go first
  bool works = false;   // does more than a waiting loop: plain accesses, floats
  std::uint64_t runs = 0;   // number of executions by warps
  std::uint64_t lanes = 0;  // … with how many lanes in total
};

// A parameter or result of a function, or a .param variable of a call: each lane has `bytes` of its
// own, one after the other: lane i's begin at offset + i * bytes.
struct ParameterSlot {
  std::uint32_t offset = 0;  // offset in the frame
  std::uint32_t bytes = 0;
};

struct Function;

struct Call {
  Function* callee = nullptr;  // null: one of `candidates`, by the address in the row last.a
  std::vector<std::pair<std::uint64_t, Function*>> candidates;
  std::vector<ParameterSlot> arguments, results;  // slots in the caller's frame
};

// A row whose values depend on where a thread is.
enum class Special : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNwarpId,
  kClusterIdX,
  kClusterIdY,
  kClusterIdZ,
  kNclusterIdX,
  kNclusterIdY,
  kNclusterIdZ,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kDynamicSharedSize,
  kTotalSharedSize,
  kLocalVariable,  // `offset_of` bytes after the start of the function's local memory
};
struct SpecialRow {
  std::uint32_t offset = 0;
  Special which = Special::kTidX;
  bool wide = false;  // a row of 64-bit values
  std::uint32_t offset_of = 0;
};

struct EntryParameter {
  std::uint32_t offset = 0, bytes = 0;  // place in the block of parameters
  ptx::Type type = ptx::Type::kNone;
  bool pointer = false;  // .ptr
};

struct Function {
  std::string name;
  bool entry = false;
  std::vector<Instruction> instructions;
  // Instructions of an entry that run once for each warp of a launch, for all lanes.
  std::vector<Instruction> invariants;
  std::vector<BasicBlock> blocks;  // begins with blocks[0]
  std::vector<std::shared_ptr<MemoryAccess>> accesses;
  std::vector<std::byte> frame;  // initial contents: constants in place, all else zero
  std::vector<SpecialRow> specials;
  // Rows (offset, bytes) that may be read before they are written.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> unset;
  std::vector<std::uint32_t> unset_lines;  // lines where the registers among them are read first
  std::vector<ParameterSlot> parameters, results;  // for functions that are called
  std::vector<EntryParameter> entry_parameters;    // for entries
  std::uint32_t parameter_bytes = 0;               // …
  std::vector<Call> calls;
  std::uint32_t local_bytes = 0;  // variables of each thread in local memory
  bool warps_hand_over = false, blocks_hand_over = false;          // see Program
  std::array<std::uint32_t, 3> max_threads{}, required_threads{};  // 0: not given
};

// A variable in global or constant memory, at the address where it is for all entries of a
// module.
struct GlobalVariable {
  std::string name;
  std::uint64_t address = 0, bytes = 0;
  bool constant = false;
  std::vector<std::byte> initial;  // `bytes` long
};

// A variable in shared memory, as faults name it.
struct SharedVariable {
  std::string name;
  std::uint32_t offset = 0, bytes = 0, element_bytes = 1;
};

// An entry and all that it calls.
struct Program {
  Function* entry = nullptr;
  std::vector<std::unique_ptr<Function>> functions;
  std::uint32_t shared_bytes = 0;         // static shared memory: the addresses 0 … shared_bytes
  std::uint32_t system_shared_bytes = 0;  // the last of them: the system initialises these
  std::uint32_t dynamic_shared = 0;       // start of dynamic shared memory
  std::vector<SharedVariable> shared_variables;
  // True if a warp's reads may depend on when others of its block, or other blocks, write: strong
  // loads, and atomics whose old value is used.
  bool warps_hand_over = false, blocks_hand_over = false;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // blocks
  bool uses_cluster = false;  // more than one block, or instructions that concern the cluster
};

}  // namespace krl::machine
