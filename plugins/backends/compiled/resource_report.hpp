// Parses the resource report of ptxas, the assembler in NVRTC and nvcc. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace krl::compiled {

inline constexpr std::string_view kReportOption = "--ptxas-options=-v";

struct KernelResources {
  std::int32_t registers = -1, stack_bytes = -1;
  std::int32_t spill_bytes = -1;   // written to local memory as registers ran out
  std::int32_t shared_bytes = -1;  // static
  std::int32_t barriers = -1;
};

// A compiler's log in two: the figures of ptxas, and everything else, which is for people.
struct SplitLog {
  std::string report, messages;
};
SplitLog split_log(std::string_view log);

// Returns the resources by the kernel's mangled name. A source can print arbitrary text before
// ptxas runs, so of several reports on one kernel the last counts.
std::map<std::string, KernelResources, std::less<>> read_resource_report(std::string_view report);

}  // namespace krl::compiled
