#include "plugins/backends/cpu/emulator/machine.hpp"

#include <sys/time.h>
#include <ucontext.h>
#include <csignal>
#include <cstring>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "plugins/backends/cpu/emulator/atomic_operation.hpp"
#include "plugins/backends/cpu/emulator/line_table.hpp"
#include "plugins/backends/elf/elf_view.hpp"

namespace krl::emulator {

BuiltinVariables builtin_variables;
Machine* Machine::active_ = nullptr;

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGVTALRM};
// A frame that is too large reaches this far below the stack at most.
constexpr std::uintptr_t kFarBelowStack = 64 << 20;

// Fires when the thread has computed for so long, and then again and again; 0: never.
void set_cpu_timer(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const timeval first{whole,
                      static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)};
  const timeval again{0, seconds > 0 ? 100'000 : 0};
  const itimerval timer{again, first};
  setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}
alignas(16) unsigned char signal_stack[64 << 10];

std::uintptr_t program_counter(const void* context) {
  const auto* user = static_cast<const ucontext_t*>(context);
  return static_cast<std::uintptr_t>(user->uc_mcontext.gregs[REG_RIP]) + 1;  // as a return address
}

std::string tuple(const Dim3& d) {
  return "(" + std::to_string(d[0]) + ", " + std::to_string(d[1]) + ", " + std::to_string(d[2]) +
         ")";
}

std::string hexadecimal(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

// Runs on its own stack; `fault` leaves it by a jump.
void Machine::on_signal(int signal, siginfo_t* info, void* context) {
  Machine& machine = active();
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::uintptr_t pc = program_counter(context);
  switch (signal) {
    case SIGVTALRM:
      // A loop without a single hook. In the emulator's own code it is only slow: the timer fires
      // again.
      if (machine.module_.image().contains(pc, 1)) machine.fault_work_limit(pc);
      return;
    case SIGFPE:
      machine.fault(FaultKind::kTrap, "integer division by zero (or INT_MIN / -1)", pc);
    case SIGILL:
      machine.fault(FaultKind::kTrap, "the kernel reached code that cannot be", pc);
    default:
      if (address < machine.stack_bottom_ && machine.stack_bottom_ - address < kFarBelowStack) {
        machine.fault_stack_overflow(pc);
      }
      machine.fault(FaultKind::kSignal,
                    "access to " + hexadecimal(address) + ", which is no memory of the launch", pc);
  }
}

Machine::Machine(ElfModule& module, AddressRange arena)
    : arena_(arena), buffers_(1), module_(module), global_bytes_(0) {
  active_ = this;
}

Machine::~Machine() { active_ = nullptr; }

std::optional<Fault> Machine::guarded(const std::function<void()>& body) {
  stack_t alternative{};
  alternative.ss_sp = signal_stack;
  alternative.ss_size = sizeof signal_stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction before[std::size(kSignals)];
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(kSignals[i], &action, &before[i]);
  }
  // A step takes some 10 ns; a loop without any is given the time of all steps at a tenth of that
  // speed.
  set_cpu_timer(1.0 + static_cast<double>(work_limit_) * 100e-9);
  const bool faulted = sigsetjmp(escape_, 1) != 0;
  if (!faulted) body();
  set_cpu_timer(0);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before[i], nullptr);
  if (!faulted) return std::nullopt;
  return fault_;
}

void Machine::fault(FaultKind kind, std::string message, std::uintptr_t pc) {
  fault_ = {};
  fault_.kind = loading_ ? FaultKind::kUnsupported : kind;
  fault_.message =
      loading_
          ? "unsupported on cpu: a constructor that does more than set __device__ variables: " +
                message
          : std::move(message);
  fault_.line = line_of(pc);
  fault_.block = builtin_variables.block_index;
  fault_.thread = index_of(thread_);
  pending_.active = false;
  siglongjmp(escape_, 1);
}

std::uint32_t Machine::line_of(std::uintptr_t pc) {
  if (!module_.image().contains(pc, 1)) return 0;
  if (const auto known = lines_.find(pc); known != lines_.end()) return known->second;
  std::string why;
  const auto elf = ElfView::open(module_.bytes(), why);
  return lines_[pc] = elf ? line_at(*elf, module_.offset_of(pc) - 1, "kernel.cu") : 0;
}

// ---- set-up -------------------------------------------------------------------------------------

void Machine::run_constructors() {
  loading_ = true;
  work_limit_ = work_left_ = 1'000'000;
  arena_bytes_ = shared_bytes_ = 0;
  stack_top_ = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  stack_bottom_ = stack_top_ - (1u << 20);
  module_.run_constructors();
  loading_ = false;
  module_.take_snapshot();
}

bool Machine::begin_run(const Run& run, std::uint64_t work_limit) {
  work_limit_ = work_left_ = work_limit;
  module_.restore_snapshot();
  buffers_.assign(1, {});
  std::uint64_t end = 0;
  for (const auto& buffer : run.buffers) end = std::max(end, buffer.offset + buffer.bytes);
  end = (end + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  granule_map_.assign(end / kBufferAlignment, 0);
  for (const auto& buffer : run.buffers) {
    const auto index = static_cast<std::uint8_t>(buffers_.size());
    buffers_.push_back({buffer.offset, buffer.offset + buffer.bytes, buffer.writable, &buffer});
    const auto first = buffer.offset / kBufferAlignment;
    const auto last = (buffer.offset + buffer.bytes + kBufferAlignment - 1) / kBufferAlignment;
    std::fill(granule_map_.begin() + static_cast<std::ptrdiff_t>(first),
              granule_map_.begin() + static_cast<std::ptrdiff_t>(last), index);
  }
  granules_ = granule_map_.data();
  arena_bytes_ = end;
  global_bytes_ = end + (module_.variables().end - module_.variables().begin);
  counting_ = run.count;
  profile_.reset();
  if (counting_) {
    profile_.emplace(global_bytes_);
    measure_basic_blocks();
  }
  return races_.reserve(global_bytes_, 0);
}

// The GPU's instructions of a basic block, estimated from the bytes of text up to the next one,
// without what the hooks add: their calls, the registers that a call makes the compiler save, the
// checks of array indices. Seven bytes of x86-64 at -O1 count as one instruction of a GPU, which
// has more registers and wider address arithmetic: a vector addition then has 14 to 16 per warp, as
// nvcc emits for it. Estimated, to be calibrated.
void Machine::measure_basic_blocks() {
  if (!block_instructions_.empty()) return;
  constexpr std::uint32_t kCallBytes = 6;
  constexpr double kInstructionBytes = 7, kMostInstructions = 500;
  block_instructions_.assign(module_.text().end - module_.image().begin + 1, 1);
  const auto blocks = module_.call_sites("__sanitizer_cov_trace_pc");
  const auto added = hook_bytes();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // The last block of the text is followed by constants: the limit keeps it in bounds.
    const std::uint32_t end =
        i + 1 < blocks.size() ? blocks[i + 1] - kCallBytes : module_.offset_of(module_.text().end);
    double own = static_cast<double>(end - blocks[i]);
    for (auto hook = added.upper_bound(blocks[i]); hook != added.end() && hook->first <= end;
         ++hook) {
      own -= hook->second;
    }
    const double instructions = std::clamp(own / kInstructionBytes, 1.0, kMostInstructions);
    block_instructions_[blocks[i]] = static_cast<std::uint16_t>(instructions + 0.5);
  }
}

// Where in the text hooks have added code to the kernel's, and how many bytes of it, measured on a
// corpus of kernels.
std::map<std::uint32_t, double> Machine::hook_bytes() const {
  constexpr double kAccessBytes = 18, kSharedAddressBytes = 19, kIndexCheckBytes = 13;
  std::map<std::uint32_t, double> bytes;
  const auto add = [&](const std::string& hook, double each) {
    for (const auto site : module_.call_sites(hook)) bytes[site] += each;
  };
  for (const char* width : {"1", "2", "4", "8", "16"}) {
    for (const char* hook : {"__tsan_read", "__tsan_write"})
      add(std::string(hook) + width, kAccessBytes);
  }
  add("__tls_get_addr", kSharedAddressBytes);
  // The check jumps out of line, to where the handler is called, and from there comes back behind
  // the check.
  for (const auto site : module_.call_sites("__ubsan_handle_out_of_bounds")) {
    if (const auto back = module_.jump_target(site)) bytes[*back] += kIndexCheckBytes;
  }
  return bytes;
}

void Machine::begin_launch(const Launch& launch, std::uint32_t shared_bytes) {
  const auto& [x, y, z] = launch.block;
  for (std::uint32_t i = 0; i < x * y * z; ++i)
    thread_indices_[i] = {i % x, i / x % y, i / (x * y)};
  builtin_variables.block_dim = launch.block;
  builtin_variables.grid_dim = launch.grid;
  shared_.resize(shared_bytes / 8 + 4);
  shared_begin_ = (reinterpret_cast<std::uintptr_t>(shared_.data()) + 15) & ~std::uintptr_t{15};
  shared_bytes_ = shared_bytes;
  races_.reserve(global_bytes_, shared_bytes);
  races_.begin_launch();
  logs_.resize(counting_ ? RaceDetector::kMaxThreads : 0);
  if (profile_) profile_->begin_launch();
}

void Machine::begin_block(const Dim3& index) {
  builtin_variables.block_index = index;
  races_.begin_block();
  if (profile_) profile_->begin_block();
}

Counters Machine::end_launch() {
  if (!profile_) return {};
  Counters counters = profile_->counters();
  const auto& grid = builtin_variables.grid_dim;
  counters.blocks = std::uint64_t{grid[0]} * grid[1] * grid[2];
  return counters;
}

// ---- the scheduler's side -----------------------------------------------------------------------

void Machine::merge_warp(std::uint32_t warp, std::uint32_t threads) {
  if (!profile_) return;
  const std::uint32_t first = warp * 32;
  profile_->merge({logs_.data() + first, std::min(32u, threads - first)});
}

// ---- the hooks' side ----------------------------------------------------------------------------

void Machine::log_basic_block(std::uintptr_t pc) {
  const std::uint32_t offset = module_.offset_of(pc);
  const std::uint64_t instructions =
      offset < block_instructions_.size() ? block_instructions_[offset] : 1;
  log_->push_back({instructions, offset, 0, Event::kBasicBlock});
}

void Machine::access_elsewhere(std::uintptr_t address, std::uint32_t size, bool write, bool strong,
                               std::uintptr_t pc) {
  if (address >= stack_bottom_ && address < stack_top_ && size <= stack_top_ - address) return;
  const AddressRange variables = module_.variables();
  if (variables.contains(address, size)) {
    if (loading_) return;
    return checked({arena_bytes_ + (address - variables.begin), size, write, strong, false},
                   address, pc);
  }
  if (!write && module_.constants().contains(address, size)) return;
  if (address - arena_.begin < arena_.end - arena_.begin) fault_in_arena(address, size, write, pc);
  fault_elsewhere(address, size, write, pc);
}

void Machine::access_range(std::uintptr_t address, std::size_t size, bool write,
                           std::uintptr_t pc) {
  while (size > 0) {
    std::uint32_t piece = 16;
    while (piece > size || (address & (piece - 1)) != 0) piece /= 2;
    access(address, piece, write, false, pc);
    address += piece;
    size -= piece;
  }
}

std::uint64_t Machine::atomic(unsigned operation, unsigned type, std::uintptr_t address,
                              std::uint64_t value, std::uint64_t compare, std::uintptr_t pc) {
  const std::uint32_t size = atomic_size(type);
  if (size == 0)
    fault(FaultKind::kUnsupported, "unsupported on cpu: an atomic operation of an unknown type",
          pc);
  LaneLog* const log = std::exchange(log_, nullptr);  // logged below, as one atomic request
  access(address, size, true, true, pc);
  log_ = log;
  const bool shared = address - shared_begin_ < shared_bytes_;
  if (log_ != nullptr) {
    record(shared ? Event::kSharedAtomic : Event::kGlobalAtomic,
           address - (shared ? shared_begin_ : arena_.begin), size, pc);
  }
  std::uint64_t old = 0;
  std::memcpy(&old, reinterpret_cast<const void*>(address), size);
  const std::uint64_t result = atomic_result(operation, type, old, value, compare);
  std::memcpy(reinterpret_cast<void*>(address), &result, size);
  if (pending_.active) settle();
  return old;
}

// A store that two threads race for does no harm if both store the same value. Whether they do
// shows after the store.
void Machine::settle() {
  if (!pending_.active) return;
  pending_.active = false;
  if (std::memcmp(reinterpret_cast<const void*>(pending_.address), pending_.before,
                  pending_.access.size) == 0)
    return;
  fault(FaultKind::kDataRace, race_message(pending_.access, pending_.conflict), pending_.pc);
}

void Machine::judge(RaceDetector::Verdict verdict, const RaceDetector::Access& access,
                    std::uintptr_t address, std::uintptr_t pc) {
  switch (verdict) {
    case RaceDetector::Verdict::kFine:
      return;
    case RaceDetector::Verdict::kIfChanged:
      pending_ = {true, address, pc, access, races_.conflict(), {}};
      std::memcpy(pending_.before, reinterpret_cast<const void*>(address), access.size);
      return;
    case RaceDetector::Verdict::kRace:
      fault(FaultKind::kDataRace, race_message(access, races_.conflict()), pc);
    case RaceDetector::Verdict::kUninitialised:
      fault(FaultKind::kUninitialisedShared,
            describe(access) + " is read, but no thread of the block has written it", pc);
  }
}

std::string Machine::describe(const RaceDetector::Access& access) const {
  if (access.shared) {
    for (const auto& variable : module_.shared_variables()) {
      if (access.offset >= variable.offset && access.offset < variable.offset + variable.bytes) {
        const auto index = (access.offset - variable.offset) / access.size;
        const std::string name = "shared " + variable.name;
        return access.size >= variable.bytes ? name : name + "[" + std::to_string(index) + "]";
      }
    }
    const std::uint64_t behind =
        access.offset - std::min<std::uint64_t>(access.offset, module_.shared_bytes());
    return "dynamic shared memory at byte " + std::to_string(behind);
  }
  for (std::size_t i = 1; i < buffers_.size(); ++i) {
    const MappedBuffer& mapped = buffers_[i];
    if (access.offset >= mapped.begin && access.offset < mapped.end) {
      const auto index = (access.offset - mapped.begin) / std::max(1u, mapped.buffer->element_size);
      return mapped.buffer->name + "[" + std::to_string(index) + "]";
    }
  }
  return "a __device__ variable";
}

std::string Machine::describe_thread(std::uint32_t thread) const {
  return "thread " + tuple(index_of(thread));
}

std::string Machine::race_message(const RaceDetector::Access& access,
                                  const RaceDetector::Conflict& conflict) const {
  const std::string who = conflict.other_block         ? "a thread of another block"
                          : conflict.thread == thread_ ? "another thread"
                                                       : describe_thread(conflict.thread);
  const std::string remedy = conflict.other_block ? " and nothing orders the two blocks"
                                                  : " without a barrier between the two";
  return describe(access) + " is " + (access.write ? "written" : "read") + " by " +
         describe_thread(thread_) + " and " + (conflict.other_wrote ? "written" : "read") + " by " +
         who + remedy;
}

void Machine::fault_in_arena(std::uintptr_t address, std::uint32_t size, bool write,
                             std::uintptr_t pc) {
  const auto offset = static_cast<std::int64_t>(address - arena_.begin);
  const MappedBuffer* nearest = nullptr;
  std::int64_t distance = 0;
  for (std::size_t i = 1; i < buffers_.size(); ++i) {
    const auto begin = static_cast<std::int64_t>(buffers_[i].begin),
               end = static_cast<std::int64_t>(buffers_[i].end);
    const std::int64_t away = offset < begin  ? begin - offset
                              : offset >= end ? offset - end + 1
                                              : 0;
    if (nearest == nullptr || away < distance) {
      nearest = &buffers_[i];
      distance = away;
    }
  }
  if (nearest == nullptr) fault_elsewhere(address, size, write, pc);
  const Buffer& buffer = *nearest->buffer;
  const std::int64_t element = std::max(1u, buffer.element_size);
  const std::int64_t from_begin = offset - static_cast<std::int64_t>(nearest->begin);
  const std::int64_t index =
      from_begin >= 0 ? from_begin / element : -((-from_begin + element - 1) / element);
  const std::string place = buffer.name + "[" + std::to_string(index) + "]";
  if (distance == 0 && offset + size <= static_cast<std::int64_t>(nearest->end)) {
    fault(FaultKind::kIllegalAddress,
          place + " is written, but " + buffer.name + " may only be read", pc);
  }
  fault(FaultKind::kIllegalAddress,
        place + (distance == 0 ? " reaches" : " is") + " out of bounds: " + buffer.name + " has " +
            std::to_string(buffer.bytes / static_cast<std::uint64_t>(element)) + " elements",
        pc);
}

void Machine::fault_elsewhere(std::uintptr_t address, std::uint32_t size, bool write,
                              std::uintptr_t pc) {
  const std::string action =
      std::string(write ? "store of " : "load of ") + std::to_string(size) + " bytes ";
  if (address < 4096) fault(FaultKind::kIllegalAddress, action + "through a null pointer", pc);
  const auto past_shared = static_cast<std::int64_t>(address - shared_begin_);
  if (past_shared > -65536 && past_shared < 1 << 20 && shared_begin_ != 0) {
    fault(FaultKind::kIllegalAddress,
          action + "at byte " + std::to_string(past_shared) +
              " of shared memory, of which the block has " + std::to_string(shared_bytes_) +
              " bytes",
          pc);
  }
  fault(FaultKind::kIllegalAddress,
        action + "at an address that belongs to no buffer of the launch", pc);
}

void Machine::fault_misaligned(std::uintptr_t address, std::uint32_t size, std::uintptr_t pc) {
  fault(FaultKind::kMisaligned,
        "an access of " + std::to_string(size) + " bytes at an address that is " +
            std::to_string(address % size) + " bytes past a multiple of " + std::to_string(size),
        pc);
}

void Machine::fault_stack_overflow(std::uintptr_t pc) {
  fault(FaultKind::kStackOverflow,
        "local variables or recursion need more than the 56 KiB of stack that a thread has", pc);
}

void Machine::fault_work_limit(std::uintptr_t pc) {
  work_left_ = 0;
  fault(FaultKind::kWorkLimit,
        "the run took more than " + std::to_string(work_limit_) +
            " emulated steps: an endless loop, or far too much work",
        pc);
}

}  // namespace krl::emulator
