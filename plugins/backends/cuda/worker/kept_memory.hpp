// Lets what a process keeps in a GPU's memory, to use it again, give way to what other processes
// need: a policy that trains beside the judge takes gigabytes at times, and a runner starts with its
// arena. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace krl::gpu {

class KeptMemory {
 public:
  // `free_bytes` tells how much of the GPU's memory is free now; `spare` of it shall stay so.
  KeptMemory(std::function<std::uint64_t()> free_bytes, std::uint64_t spare)
      : free_bytes_(std::move(free_bytes)), spare_(spare) {}

  // `drop` frees a part of something that is kept; false if nothing is left of it. What was added
  // last gives way first.
  void add(std::function<bool()> drop) { kept_.push_back(std::move(drop)); }

  // Before `bytes` are allocated: drops what is kept until they and the spare ones are free, or
  // nothing is kept any more.
  void make_room(std::uint64_t bytes) const {
    for (std::size_t left = kept_.size(); left > 0 && free_bytes_() < bytes + spare_;) {
      if (!kept_[left - 1]()) --left;
    }
  }

 private:
  std::function<std::uint64_t()> free_bytes_;
  std::uint64_t spare_;
  std::vector<std::function<bool()>> kept_;
};

}  // namespace krl::gpu
