#include "plugins/backends/cpu/machine/critical_path.hpp"

namespace krl::machine {

using cpu::CriticalPath;

namespace {

// Waits of each level with those of farther ones, which take longer.
CriticalPath nested(CriticalPath path) {
  path.l2_requests += path.dram_requests;
  path.l1_requests += path.l2_requests;
  path.shared_requests += path.l1_requests;
  return path;
}

// … and each level's own again.
CriticalPath apart(CriticalPath path) {
  path.shared_requests -= path.l1_requests;
  path.l1_requests -= path.l2_requests;
  path.l2_requests -= path.dram_requests;
  return path;
}

void raise_nested(CriticalPath* path, const CriticalPath& other) {
  for (const auto part : cpu::kPathParts) path->*part = std::max(path->*part, other.*part);
}

}  // namespace

void raise(CriticalPath* path, const CriticalPath& other) {
  CriticalPath most = nested(*path);
  raise_nested(&most, nested(other));
  *path = apart(most);
}

void add(CriticalPath* path, const CriticalPath& other) {
  for (const auto part : cpu::kPathParts) path->*part += other.*part;
}

void BlockPath::begin(std::uint32_t warps) {
  count_ = warps;
  for (std::uint32_t i = 0; i < warps; ++i) warps_[i].begin();
  path_ = {};
}

void BlockPath::join() {
  CriticalPath slowest;
  for (std::uint32_t i = 0; i < count_; ++i) {
    raise_nested(&slowest, nested(warps_[i].end_interval()));
  }
  add(&path_, apart(slowest));
}

}  // namespace krl::machine
