#include "plugins/backends/cpu/machine/critical_path.hpp"

namespace krl::machine {

using cpu::CriticalPath;

namespace {

// Adds to the waits of each level those of farther levels, which take longer.
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

double clocks_of(const CriticalPath& path, const cpu::PathClocks& each) {
  double clocks = 0;
  for (std::size_t i = 0; i < each.size(); ++i) {
    clocks += static_cast<double>(path.*cpu::kPathParts[i]) * each[i];
  }
  return clocks;
}

double WarpPath::clocks(const cpu::PathClocks& each) const {
  CriticalPath path = path_;
  for (const MemoryLevel level : waits_) count(level, &path);
  count(carried_, &path);
  return clocks_of(path, each);
}

void BlockPath::begin(std::uint32_t warps) {
  count_ = warps;
  idle_ = 0;
  if (std::exchange(hottest_, 0) > 0) loops_.clear();
  for (std::uint32_t i = 0; i < warps; ++i) warps_[i].begin();
  path_ = {};
}

void BlockPath::join() {
  CriticalPath slowest;
  double idle = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    idle = std::max(idle, warps_[i].idle());
    raise_nested(&slowest, nested(warps_[i].end_interval()));
  }
  slowest.loop_turns = std::max<std::uint64_t>(slowest.loop_turns, hottest_);
  if (std::exchange(hottest_, 0) > 0) loops_.clear();
  add(&path_, apart(slowest));
  idle_ += idle;
}

}  // namespace krl::machine
