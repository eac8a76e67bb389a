#include "plugins/backends/compiled/compute_capability.hpp"

#include <kernelrl/values.hpp>

namespace krl::compiled {
namespace {

constexpr std::int64_t kKiB = 1024;

// CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability".
constexpr ComputeCapability kTable[] = {
    {7, 5, 1024, 64 * kKiB, 64 * kKiB},    {8, 0, 2048, 164 * kKiB, 163 * kKiB},
    {8, 6, 1536, 100 * kKiB, 99 * kKiB},   {8, 7, 1536, 164 * kKiB, 163 * kKiB},
    {8, 9, 1536, 100 * kKiB, 99 * kKiB},   {9, 0, 2048, 228 * kKiB, 227 * kKiB},
    {10, 0, 2048, 228 * kKiB, 227 * kKiB}, {10, 3, 2048, 228 * kKiB, 227 * kKiB},
    {12, 0, 1536, 100 * kKiB, 99 * kKiB},  {12, 1, 1536, 100 * kKiB, 99 * kKiB},
};

}  // namespace

std::string ComputeCapability::arch() const {
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

std::string ComputeCapability::full_arch() const { return arch() + (major >= 9 ? "a" : ""); }

std::span<const ComputeCapability> compute_capabilities() { return kTable; }

const ComputeCapability* find_arch(std::string_view arch) {
  if (arch.ends_with('a') || arch.ends_with('f')) arch.remove_suffix(1);
  for (const ComputeCapability& known : kTable) {
    if (known.arch() == arch) return &known;
  }
  return nullptr;
}

const ComputeCapability& require_arch(std::string_view arch) {
  if (const ComputeCapability* known = find_arch(arch)) return *known;
  std::string names;
  for (const ComputeCapability& known : kTable) {
    names += (names.empty() ? "" : ", ") + known.arch();
  }
  invalid_argument("arch: '" + std::string(arch) + "' is none of " + names);
}

}  // namespace krl::compiled
