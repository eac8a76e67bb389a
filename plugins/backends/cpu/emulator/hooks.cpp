#include "plugins/backends/cpu/emulator/hooks.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "plugins/backends/cpu/emulator/machine.hpp"
#include "plugins/backends/cpu/emulator/scheduler.hpp"

namespace krl::emulator {
namespace {

// The address that a hook returns to: right behind the call, in the candidate's text.
#define KRL_CALLER reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

std::uintptr_t integer(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// ---- instrumentation ---------------------------------------------------------------------------

template <std::uint32_t size, bool write, bool strong>
void on_access(void* address) {
  Machine::active().access(integer(address), size, write, strong, KRL_CALLER);
}

template <bool write>
void on_range(void* address, std::size_t size) {
  Machine::active().access_range(integer(address), size, write, KRL_CALLER);
}

void on_basic_block() {
  Machine::active().basic_block(KRL_CALLER,
                                reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

void on_module_start() {}

// The first argument of g++'s -fsanitize=bounds handler, as in libsanitizer/ubsan/ubsan_value.h.
struct TypeDescriptor {
  std::uint16_t kind;
  std::uint16_t
      info;  // of an integer: bit 0 is set if it is signed, the rest is the logarithm of its width
  char name[1];  // "'float [256]'"
};
struct OutOfBounds {
  const char* file;
  std::uint32_t line, column;
  const TypeDescriptor* array_type;
  const TypeDescriptor* index_type;
};
void on_out_of_bounds(const OutOfBounds* data, std::uint64_t index) {
  const unsigned width = 1u << (data->index_type->info >> 1);
  const unsigned unused = width < 64 ? 64 - width : 0;
  const bool is_signed = (data->index_type->info & 1) != 0;
  const std::string text =
      is_signed ? std::to_string(static_cast<std::int64_t>(index << unused) >> unused)
                : std::to_string(index << unused >> unused);
  Machine::active().fault(
      FaultKind::kIllegalAddress,
      "index " + text + " is out of bounds of an array of type " + data->array_type->name,
      KRL_CALLER);
}

// ---- memory ------------------------------------------------------------------------------------

// The linker's description of a thread-local variable: here a __shared__ one.
struct SharedIndex {
  std::uint64_t module, offset;
};
void* on_shared_address(const SharedIndex* index) {
  return reinterpret_cast<void*>(Machine::active().shared_address(index->offset));
}

void* on_memmove(void* to, const void* from, std::size_t bytes) {
  Machine& machine = Machine::active();
  machine.access_range(integer(from), bytes, false, KRL_CALLER);
  machine.access_range(integer(to), bytes, true, KRL_CALLER);
  return std::memmove(to, from, bytes);
}
void* on_memset(void* to, int value, std::size_t bytes) {
  Machine::active().access_range(integer(to), bytes, true, KRL_CALLER);
  return std::memset(to, value, bytes);
}
int on_memcmp(const void* a, const void* b, std::size_t bytes) {
  Machine& machine = Machine::active();
  machine.access_range(integer(a), bytes, false, KRL_CALLER);
  machine.access_range(integer(b), bytes, false, KRL_CALLER);
  return std::memcmp(a, b, bytes);
}

unsigned long long on_atomic(unsigned operation, unsigned type, void* address,
                             unsigned long long value, unsigned long long compare) {
  return Machine::active().atomic(operation, type, integer(address), value, compare, KRL_CALLER);
}
void on_fence() { Machine::active().fence(); }

// ---- other threads -----------------------------------------------------------------------------

void on_barrier() { Scheduler::active().barrier(Scheduler::Barrier::kPlain, 0, KRL_CALLER); }
template <Scheduler::Barrier kind>
int on_predicate_barrier(int predicate) {
  return Scheduler::active().barrier(kind, predicate, KRL_CALLER);
}
unsigned long long on_warp_exchange(unsigned operation, unsigned mask, unsigned long long value,
                                    unsigned source) {
  return Scheduler::active().exchange(operation, mask, value, source, KRL_CALLER);
}
unsigned on_activemask() { return Scheduler::active().activemask(KRL_CALLER); }

// ---- the rest ----------------------------------------------------------------------------------

void on_printf() { Machine::active().synchronising(Event::kPrintf, KRL_CALLER); }
unsigned long long on_clock() { return Machine::active().clock(); }
void on_trap() {
  Machine::active().fault(FaultKind::kTrap, "the kernel called __trap()", KRL_CALLER);
}
void on_assert_fail(const char* expression) {
  Machine::active().fault(FaultKind::kTrap, std::string("assertion failed: ") + expression,
                          KRL_CALLER);
}

template <class Function>
void* code(Function* function) {
  return reinterpret_cast<void*>(function);
}

// Accesses of 1 to 16 bytes. "unaligned" is what the compiler could not prove aligned: the machine
// looks at the address.
#define KRL_ACCESS(size)                                                    \
  {"__tsan_read" #size, code(on_access<size, false, false>)},               \
      {"__tsan_write" #size, code(on_access<size, true, false>)},           \
      {"__tsan_volatile_read" #size, code(on_access<size, false, true>)}, { \
    "__tsan_volatile_write" #size, code(on_access<size, true, true>)        \
  }
#define KRL_UNALIGNED(size)                                               \
  {"__tsan_unaligned_read" #size, code(on_access<size, false, false>)}, { \
    "__tsan_unaligned_write" #size, code(on_access<size, true, false>)    \
  }

std::vector<Hook> all_hooks() {
  using Barrier = Scheduler::Barrier;
  std::vector<Hook> all = {
      KRL_ACCESS(1),
      KRL_ACCESS(2),
      KRL_ACCESS(4),
      KRL_ACCESS(8),
      KRL_ACCESS(16),
      KRL_UNALIGNED(2),
      KRL_UNALIGNED(4),
      KRL_UNALIGNED(8),
      KRL_UNALIGNED(16),
      {"__tsan_read_range", code(on_range<false>)},
      {"__tsan_write_range", code(on_range<true>)},
      {"__tsan_init", code(on_module_start)},
      {"__sanitizer_cov_trace_pc", code(on_basic_block)},
      {"__ubsan_handle_out_of_bounds", code(on_out_of_bounds)},
      {"__tls_get_addr", code(on_shared_address)},
      {"memcpy", code(on_memmove)},
      {"memmove", code(on_memmove)},
      {"memset", code(on_memset)},
      {"memcmp", code(on_memcmp)},
      {"__syncthreads", code(on_barrier)},
      {"__syncthreads_count", code(on_predicate_barrier<Barrier::kCount>)},
      {"__syncthreads_and", code(on_predicate_barrier<Barrier::kAnd>)},
      {"__syncthreads_or", code(on_predicate_barrier<Barrier::kOr>)},
      {"krl_warp_exchange", code(on_warp_exchange)},
      {"krl_activemask", code(on_activemask)},
      {"krl_atomic", code(on_atomic)},
      {"krl_fence", code(on_fence)},
      {"krl_printf", code(on_printf)},
      {"krl_clock", code(on_clock)},
      {"krl_trap", code(on_trap)},
      {"krl_assert_fail", code(on_assert_fail)},
      {"threadIdx", &builtin_variables.thread_index},
      {"blockIdx", &builtin_variables.block_index},
      {"blockDim", &builtin_variables.block_dim},
      {"gridDim", &builtin_variables.grid_dim},
      {"krl_lane", &builtin_variables.lane},
      {"krl_arguments", &builtin_variables.arguments},
  };
  all.insert(all.end(), math_functions().begin(), math_functions().end());
  std::sort(all.begin(), all.end(), [](const Hook& a, const Hook& b) { return a.name < b.name; });
  return all;
}

}  // namespace

const std::vector<Hook>& hooks() {
  static const std::vector<Hook> all = all_hooks();
  return all;
}

void* hook_address(std::string_view name) {
  const auto& all = hooks();
  const auto found = std::lower_bound(
      all.begin(), all.end(), name,
      [](const Hook& hook, std::string_view wanted) { return hook.name < wanted; });
  return found != all.end() && found->name == name ? found->address : nullptr;
}

}  // namespace krl::emulator
