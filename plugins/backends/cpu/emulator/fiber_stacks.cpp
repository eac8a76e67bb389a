#include "plugins/backends/cpu/emulator/fiber_stacks.hpp"

#include <sys/mman.h>

namespace krl::emulator {

FiberStacks::~FiberStacks() {
  if (base_ != 0) munmap(reinterpret_cast<void*>(base_), count_ * kBytes);
}

bool FiberStacks::allocate(std::size_t count) {
  if (count <= count_) return true;
  if (base_ != 0) return false;  // fibers may run on the present stacks: they cannot move
  void* memory = mmap(nullptr, count * kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return false;
  base_ = reinterpret_cast<std::uintptr_t>(memory);
  count_ = count;
  return true;
}

}  // namespace krl::emulator
