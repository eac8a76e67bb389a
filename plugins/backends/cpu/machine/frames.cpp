#include "plugins/backends/cpu/machine/frames.hpp"

#include <cstring>
#include <new>

namespace krl::machine {

void Frames::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{kRowAlignment});
}

std::byte* Frames::add(Function& function, const Activation& call) {
  const std::size_t bytes = function.frame.size();
  if (bytes_ + bytes > kMostBytes) return nullptr;
  bytes_ += bytes;
  auto* memory = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kRowAlignment}));
  frames_.emplace_back(memory);
  std::memcpy(memory, function.frame.data(), bytes);
  new (memory) Activation(call);
  return memory;
}

void Frames::clear() {
  frames_.clear();
  bytes_ = 0;
}

}  // namespace krl::machine
