// The instructions of a PTX text, function by function. The text is untrusted: whatever it is, the
// reader ends after one pass. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krl {

struct PtxFunction {
  std::string name;    // mangled
  bool entry = false;  // a kernel
  // Instructions in the order of the text, without labels, guards and operands:
  // "ld.global.v4.f32".
  std::vector<std::string> opcodes;
  std::vector<std::string> called;  // names
};

// Functions with a body, in the order of the text.
std::vector<PtxFunction> read_ptx(std::string_view ptx);

}  // namespace krl
