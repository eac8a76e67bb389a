// Reads the properties of kernels from a CUBIN, the compiled code of a GPU. The bytes are
// untrusted: every offset is checked. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::compiled {

struct CubinParameter {
  std::uint32_t index = 0, offset = 0, bytes = 0;
};

struct CubinKernel {
  std::string name;  // mangled
  std::int32_t registers = -1, stack_bytes = -1;
  std::int32_t max_threads = -1;        // threads per block, from __launch_bounds__; -1 = not given
  std::array<std::int64_t, 3> block{};  // the one that .reqntid demands; zeros: any
  std::array<std::int64_t, 3> cluster{};   // blocks, from __cluster_dims__; zeros: not given
  std::vector<CubinParameter> parameters;  // ordered by index
};

// The kernels in the order of the file. No value, with the reason in `why`, if it is not a CUBIN.
std::optional<std::vector<CubinKernel>> read_cubin(std::string_view bytes, std::string& why);

// Returns the bytes of local memory that a thread of some kernel can use: its frames, and what the
// driver reserves for calls and arrays whose depth or size is known only in a run. `ptx`: of the
// same module.
std::uint32_t most_stack(std::string_view bytes, std::string_view ptx);

// True if a launch can leave something for the next one in the module's own variables, or if the
// bytes are not a CUBIN.
bool has_variables(std::string_view bytes);

}  // namespace krl::compiled
