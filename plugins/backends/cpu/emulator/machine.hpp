// The emulated machine: the memory that a launch may touch, the thread that runs now, and what
// every hook reports to.
//
// One machine exists at a time (hooks carry no context): `Machine::active()`. Everything happens on
// one OS thread; the emulated threads are fibers of it. A fault ends the job: `fault` records it
// and jumps out of the candidate's code to whoever called `guarded`.
#pragma once

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/cpu/emulator/elf_module.hpp"
#include "plugins/backends/cpu/emulator/race_detector.hpp"
#include "plugins/backends/cpu/emulator/warp_profile.hpp"
#include "plugins/backends/cpu/runner_protocol.hpp"

namespace krl::emulator {

// What threadIdx and its kin are bound to. The module reads them; the machine writes them before a
// thread runs.
struct BuiltinVariables {
  Dim3 thread_index, block_index, block_dim, grid_dim;
  std::uint32_t lane;
  std::uint64_t arguments[KRL_MAX_ARGUMENTS];
};
extern BuiltinVariables builtin_variables;

class Machine {
 public:
  // `arena` is the memory that buffers lie in; `module` has been loaded. Both outlive the machine.
  Machine(ElfModule& module, AddressRange arena);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  static Machine& active() { return *active_; }

  // ---- set-up ----
  // Runs `body`; returns the fault that ended it, if one did. Signals of the candidate's code
  // become faults.
  std::optional<Fault> guarded(const std::function<void()>& body);
  void run_constructors();
  // Declares the buffers of a run; variables of the module get their initial values, the work limit
  // starts anew. False: no memory for the shadow.
  bool begin_run(const Run& run, std::uint64_t work_limit);
  void begin_launch(const Launch& launch, std::uint32_t shared_bytes);
  void begin_block(const Dim3& index);
  Counters end_launch();

  // ---- the scheduler's side ----
  // `thread` (linear in its block) runs from here on.
  void enter_thread(std::uint32_t thread) {
    thread_ = thread;
    builtin_variables.thread_index = thread_indices_[thread];
    builtin_variables.lane = thread % 32;
    log_ = counting_ ? &logs_[thread] : nullptr;
  }
  // … on the stack [bottom, top).
  void set_stack(std::uintptr_t bottom, std::uintptr_t top) {
    stack_bottom_ = bottom;
    stack_top_ = top;
  }
  std::uint32_t thread() const { return thread_; }
  void leave_thread() { settle(); }
  // The lanes of one warp have done all they do in this block.
  void merge_warp(std::uint32_t warp, std::uint32_t threads);
  RaceDetector& races() { return races_; }
  Dim3 index_of(std::uint32_t thread) const { return thread_indices_[thread]; }

  // ---- the hooks' side ----
  [[gnu::always_inline]] void access(std::uintptr_t address, std::uint32_t size, bool write,
                                     bool strong, std::uintptr_t pc) {
    if (pending_.active) [[unlikely]]
      settle();
    const std::uint64_t offset = address - arena_.begin;
    if (offset < arena_bytes_) [[likely]] {
      const MappedBuffer& buffer = buffers_[granules_[offset / kBufferAlignment]];
      if (offset < buffer.begin || offset + size > buffer.end || (write && !buffer.writable)) {
        fault_in_arena(address, size, write, pc);
      }
      checked({offset, size, write, strong, false}, address, pc);
    } else if (address - shared_begin_ < shared_bytes_) {
      if (address - shared_begin_ + size > shared_bytes_) fault_elsewhere(address, size, write, pc);
      checked({address - shared_begin_, size, write, strong, true}, address, pc);
    } else {
      access_elsewhere(address, size, write, strong, pc);
    }
  }
  void access_range(std::uintptr_t address, std::size_t size, bool write, std::uintptr_t pc);
  std::uint64_t atomic(unsigned operation, unsigned type, std::uintptr_t address,
                       std::uint64_t value, std::uint64_t compare, std::uintptr_t pc);
  // `stack`: where the stack pointer is. A function's first basic block comes before its first use
  // of local variables.
  [[gnu::always_inline]] void basic_block(std::uintptr_t pc, std::uintptr_t stack) {
    if (stack < stack_bottom_ + kStackReserve) [[unlikely]]
      fault_stack_overflow(pc);
    step(pc);
    if (log_ != nullptr) log_basic_block(pc);
  }
  // A barrier, vote, shuffle … of the present thread.
  void synchronising(Event event, std::uintptr_t pc) {
    if (pending_.active) [[unlikely]]
      settle();
    step(pc);
    if (log_ != nullptr) record(event, 0, 0, pc);
  }
  void fence() { races_.fence(thread_); }
  std::uint64_t clock() const { return work_limit_ - work_left_; }
  std::uintptr_t shared_address(std::uint64_t offset) const { return shared_begin_ + offset; }

  [[noreturn]] void fault(FaultKind kind, std::string message, std::uintptr_t pc);

  // ---- results ----
  std::uint64_t work_done() const { return work_limit_ - work_left_; }
  // The line of the candidate that an instruction belongs to; 0 if unknown. Slow only when asked
  // first.
  std::uint32_t line_of(std::uintptr_t pc);

 private:
  struct MappedBuffer {
    std::uint64_t begin = 0, end = 0;  // offsets in the arena
    bool writable = false;
    const Buffer* buffer = nullptr;
  };
  // A store that races unless it leaves the memory as it is: judged once it has happened.
  struct PendingStore {
    bool active = false;
    std::uintptr_t address = 0, pc = 0;
    RaceDetector::Access access{};
    RaceDetector::Conflict conflict;
    unsigned char before[16] = {};
  };

  [[gnu::always_inline]] void checked(const RaceDetector::Access& access, std::uintptr_t address,
                                      std::uintptr_t pc) {
    if ((address & (access.size - 1)) != 0) [[unlikely]]
      fault_misaligned(address, access.size, pc);
    step(pc);
    const auto verdict = races_.access(thread_, access);
    if (verdict != RaceDetector::Verdict::kFine) [[unlikely]]
      judge(verdict, access, address, pc);
    if (log_ != nullptr) {
      const Event event = access.shared ? (access.write ? Event::kSharedStore : Event::kSharedLoad)
                                        : (access.write ? Event::kGlobalStore : Event::kGlobalLoad);
      record(event, access.offset, access.size, pc);
    }
  }
  [[gnu::always_inline]] void step(std::uintptr_t pc) {
    if (work_left_-- == 0) [[unlikely]]
      fault_work_limit(pc);
  }
  [[gnu::always_inline]] void record(Event event, std::uint64_t address, std::uint32_t size,
                                     std::uintptr_t pc) {
    log_->push_back({address, module_.offset_of(pc), static_cast<std::uint8_t>(size), event});
  }

  void access_elsewhere(std::uintptr_t address, std::uint32_t size, bool write, bool strong,
                        std::uintptr_t pc);
  void log_basic_block(std::uintptr_t pc);
  void measure_basic_blocks();
  std::map<std::uint32_t, double> hook_bytes() const;
  void settle();
  void judge(RaceDetector::Verdict verdict, const RaceDetector::Access& access,
             std::uintptr_t address, std::uintptr_t pc);
  std::string describe(const RaceDetector::Access& access) const;
  std::string describe_thread(std::uint32_t thread) const;
  std::string race_message(const RaceDetector::Access& access,
                           const RaceDetector::Conflict& conflict) const;
  [[noreturn]] void fault_in_arena(std::uintptr_t address, std::uint32_t size, bool write,
                                   std::uintptr_t pc);
  [[noreturn]] void fault_elsewhere(std::uintptr_t address, std::uint32_t size, bool write,
                                    std::uintptr_t pc);
  [[noreturn]] void fault_misaligned(std::uintptr_t address, std::uint32_t size, std::uintptr_t pc);
  [[noreturn]] void fault_work_limit(std::uintptr_t pc);
  [[noreturn]] void fault_stack_overflow(std::uintptr_t pc);

  static void on_signal(int signal, siginfo_t* info, void* context);

  static Machine* active_;
  // What hooks and the mathematical functions may need below a kernel's frames.
  static constexpr std::uintptr_t kStackReserve = 8 << 10;

  // Touched by every access.
  AddressRange arena_;
  std::uint64_t arena_bytes_ = 0;  // 0 while no launch runs: then no buffer may be touched
  const std::uint8_t* granules_ =
      nullptr;  // per kBufferAlignment bytes of the arena: index into buffers_
  std::vector<MappedBuffer> buffers_;  // [0] is empty: what belongs to no buffer
  std::uintptr_t shared_begin_ = 0;
  std::uint64_t shared_bytes_ = 0;
  std::uint64_t work_left_ = 0;
  std::uint32_t thread_ = 0;
  LaneLog* log_ = nullptr;  // of the present thread; null while nothing is counted
  PendingStore pending_;
  RaceDetector races_;

  ElfModule& module_;
  std::uint64_t global_bytes_;  // the arena, then the module's variables: offsets of global memory
  std::uint64_t work_limit_ = 0;
  std::uintptr_t stack_bottom_ = 0, stack_top_ = 0;
  std::vector<Dim3> thread_indices_ =
      std::vector<Dim3>(RaceDetector::kMaxThreads);  // of this launch's blocks
  std::vector<std::uint8_t> granule_map_;
  std::vector<std::uint64_t> shared_;  // 16-byte aligned inside
  std::vector<LaneLog> logs_;
  std::optional<WarpProfile> profile_;
  std::vector<std::uint16_t> block_instructions_;  // per offset in the module
  std::map<std::uintptr_t, std::uint32_t> lines_;  // that were asked for
  bool counting_ = false;
  bool loading_ = false;
  sigjmp_buf escape_;
  Fault fault_;
};

}  // namespace krl::emulator
