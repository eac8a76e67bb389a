// Stacks for fibers: one block of address space, taken from the system page by page as it is used.
// One thread owns them and all fibers that run on them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace krl::emulator {

class FiberStacks {
 public:
  static constexpr std::size_t kBytes = 64 << 10;  // of one stack

  FiberStacks() = default;
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  // Room for `count` stacks; does nothing if there is. False: no memory. Stacks lie side by side
  // without guard pages (each would cost two system calls): who runs on one must look at its stack
  // pointer, as Machine::basic_block does.
  bool allocate(std::size_t count);

  std::uintptr_t bottom(std::size_t index) const { return base_ + index * kBytes; }
  // Tops of neighbours differ in their low bits: else the frames of all threads would share a few
  // sets of the cache.
  std::uintptr_t top(std::size_t index) const { return bottom(index) + kBytes - index % 32 * 320; }

 private:
  std::uintptr_t base_ = 0;
  std::size_t count_ = 0;
};

}  // namespace krl::emulator
