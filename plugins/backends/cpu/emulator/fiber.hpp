// A stack with a guard page below it and a function that runs on it, resumed and suspended at will
// (Boost.Context). One thread owns a fiber and all those that switch to it. Destroying a suspended
// fiber drops its frames without unwinding.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>

namespace krl::emulator {

class FiberStacks {
 public:
  FiberStacks() = default;
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  // `count` stacks of `bytes` (a multiple of the page size) each. Drops the earlier ones. False: no
  // memory.
  bool allocate(std::size_t count, std::size_t bytes);
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return bytes_; }

  std::uintptr_t bottom(std::size_t index) const { return base_ + index * stride() + kGuard; }
  std::uintptr_t top(std::size_t index) const { return bottom(index) + bytes_; }

  // True if `address` is in the guard page of some stack.
  bool in_guard(std::uintptr_t address) const {
    return address >= base_ && address < base_ + count_ * stride() &&
           (address - base_) % stride() < kGuard;
  }

 private:
  static constexpr std::size_t kGuard = 4096;
  std::size_t stride() const { return bytes_ + kGuard; }

  std::uintptr_t base_ = 0;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace krl::emulator
