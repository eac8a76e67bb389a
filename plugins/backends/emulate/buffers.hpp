// Buffers and values as a call names them: `x=f32[rows,64]:normal`, `x=input.npy`, `n=1024`.
#pragma once

#include <cstdint>
#include <kernelrl/expression.hpp>
#include <kernelrl/task_definition.hpp>
#include <string>
#include <vector>

#include "plugins/backends/emulate/npy.hpp"

namespace krl::emulate {

inline constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;  // all buffers of a call

struct Buffer {
  std::string name;
  Array contents;  // without bytes if nothing has written it: an output, scratch memory
  std::int64_t elements = 0;

  bool is_set() const { return !contents.bytes.empty(); }
  std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(elements) * contents.type->bytes;
  }
};

// NAME=TYPE[SIZES] or NAME=TYPE[SIZES]:CONTENTS, where CONTENTS is normal, normal(mean, deviation),
// uniform(low, high), integers(low, high), arange, zeros, ones, a number or a file, or NAME=FILE.npy.
// Sizes are expressions of `names`. Throws Failure(KRL_INVALID_ARGUMENT), and as read_npy.
Buffer read_buffer(const std::string& text, const IntegerNames& names, std::uint64_t seed);

// NAME=NUMBER: a real number if it has a point or an exponent. Throws Failure(KRL_INVALID_ARGUMENT).
ResolvedScalar read_value(const std::string& text);

}  // namespace krl::emulate
