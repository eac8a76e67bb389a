// The ways in which a candidate can end a launch.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::machine {
using namespace cpu;

using cpu::FaultKind;

// Thrown by operations; the launch adds kernel, block and thread.
struct Fault {
  FaultKind kind;
  std::string message;     // "x[1024] is out of bounds: x has 1024 elements"
  std::uint32_t line = 0;  // line of the candidate's source; 0: unknown
  int lane = -1;           // lane of the warp that ran; -1: all
};

// Thrown while a module is decoded.
struct Unsupported {
  std::string name;        // name of an instruction, directive or register: "wgmma.mma_async"
  std::uint32_t line = 0;  // line of the candidate's source; 0: unknown
};

}  // namespace krl::machine
