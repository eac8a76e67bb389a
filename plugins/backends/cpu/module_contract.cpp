// What a module may ask of the emulator: the names it may leave undefined, and the form of the
// file.
#include <algorithm>
#include <iterator>

#include "plugins/backends/cpu/runner_protocol.hpp"
#include "plugins/backends/elf/elf_view.hpp"

namespace krl::emulator {
namespace {

// Hooks that the compiler's instrumentation calls, and what the shim declares. Sorted.
constexpr std::string_view kHooks[] = {
    "__sanitizer_cov_trace_pc",
    "__syncthreads",
    "__syncthreads_and",
    "__syncthreads_count",
    "__syncthreads_or",
    "__tls_get_addr",
    "__tsan_init",
    "__tsan_read1",
    "__tsan_read16",
    "__tsan_read2",
    "__tsan_read4",
    "__tsan_read8",
    "__tsan_read_range",
    "__tsan_unaligned_read16",
    "__tsan_unaligned_read2",
    "__tsan_unaligned_read4",
    "__tsan_unaligned_read8",
    "__tsan_unaligned_write16",
    "__tsan_unaligned_write2",
    "__tsan_unaligned_write4",
    "__tsan_unaligned_write8",
    "__tsan_volatile_read1",
    "__tsan_volatile_read16",
    "__tsan_volatile_read2",
    "__tsan_volatile_read4",
    "__tsan_volatile_read8",
    "__tsan_volatile_write1",
    "__tsan_volatile_write16",
    "__tsan_volatile_write2",
    "__tsan_volatile_write4",
    "__tsan_volatile_write8",
    "__tsan_write1",
    "__tsan_write16",
    "__tsan_write2",
    "__tsan_write4",
    "__tsan_write8",
    "__tsan_write_range",
    "__ubsan_handle_out_of_bounds",
    "blockDim",
    "blockIdx",
    "gridDim",
    "krl_activemask",
    "krl_arguments",
    "krl_assert_fail",
    "krl_atomic",
    "krl_clock",
    "krl_fence",
    "krl_lane",
    "krl_printf",
    "krl_trap",
    "krl_warp_exchange",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "threadIdx",
};

// Functions of the C library that CUDA has under the same name with the same meaning; each also
// with an "f" behind it, for float. Sorted.
constexpr std::string_view kMath[] = {
    "acos",   "acosh",    "asin",      "asinh",     "atan",   "atan2",     "atanh",  "cbrt",
    "ceil",   "copysign", "cos",       "cosh",      "erf",    "erfc",      "exp",    "exp10",
    "exp2",   "expm1",    "fabs",      "fdim",      "floor",  "fma",       "fmax",   "fmin",
    "fmod",   "frexp",    "hypot",     "ilogb",     "j0",     "j1",        "ldexp",  "lgamma",
    "llrint", "llround",  "log",       "log10",     "log1p",  "log2",      "logb",   "lrint",
    "lround", "modf",     "nearbyint", "nextafter", "pow",    "remainder", "remquo", "rint",
    "round",  "scalbln",  "scalbn",    "sin",       "sincos", "sinh",      "sqrt",   "tan",
    "tanh",   "tgamma",   "trunc",     "y0",        "y1"};

template <std::size_t N>
bool contains(const std::string_view (&sorted)[N], std::string_view name) {
  return std::binary_search(std::begin(sorted), std::end(sorted), name);
}

}  // namespace

bool allowed_symbol(std::string_view name) {
  if (contains(kHooks, name) || contains(kMath, name)) return true;
  return !name.empty() && name.back() == 'f' && contains(kMath, name.substr(0, name.size() - 1));
}

std::optional<std::string> refused_module(std::string_view elf) {
  std::string why;
  const auto view = ElfView::open(elf, why);
  if (!view) return why;
  for (const auto& symbol : view->dynamic_symbols()) {
    // A thread-local without a definition is `extern __shared__`; the first entry of a table has no
    // name.
    const bool bound_by_name =
        symbol.undefined() && !symbol.name.empty() && symbol.type() != STT_TLS;
    if (bound_by_name && !allowed_symbol(symbol.name)) {
      return "calls or uses \"" + std::string(symbol.name) + "\", which device code does not have";
    }
  }
  return std::nullopt;
}

}  // namespace krl::emulator
