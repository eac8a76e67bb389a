#include "plugins/backends/cpu/emulator/fiber.hpp"

#include <sys/mman.h>

namespace krl::emulator {

FiberStacks::~FiberStacks() {
  if (base_ != 0) munmap(reinterpret_cast<void*>(base_), count_ * stride());
}

bool FiberStacks::allocate(std::size_t count, std::size_t bytes) {
  if (base_ != 0) munmap(reinterpret_cast<void*>(base_), count_ * stride());
  base_ = 0;
  count_ = count;
  bytes_ = bytes;
  void* memory = mmap(nullptr, count * stride(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    count_ = 0;
    return false;
  }
  base_ = reinterpret_cast<std::uintptr_t>(memory);
  for (std::size_t i = 0; i < count; ++i) {
    if (mprotect(reinterpret_cast<void*>(base_ + i * stride()), kGuard, PROT_NONE) != 0)
      return false;
  }
  return true;
}

}  // namespace krl::emulator
