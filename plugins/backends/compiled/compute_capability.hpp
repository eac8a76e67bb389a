// The resources of a multiprocessor (SM) of each compute capability. Constant; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace krl::compiled {

struct ComputeCapability {
  int major, minor;
  int threads_per_sm;
  std::int64_t shared_per_sm;     // bytes
  std::int64_t shared_per_block;  // bytes, the most that a kernel can opt in to

  std::string arch() const;  // "sm_90"
  // The target of code for this one GPU: "sm_90a", with the instructions (wgmma, tcgen05) that no
  // other GPU has.
  std::string full_arch() const;
};

std::span<const ComputeCapability> compute_capabilities();

// Returns null if `arch` is not in the table: "sm_90", or "sm_90a" for features that only that one
// has.
const ComputeCapability* find_arch(std::string_view arch);
// Finds it likewise. Throws Failure(KRL_INVALID_ARGUMENT) with the known names if there is none.
const ComputeCapability& require_arch(std::string_view arch);

}  // namespace krl::compiled
