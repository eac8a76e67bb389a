// The frames of a warp's calls: rows of registers, each after an Activation that identifies them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

// The call of a function by some lanes of a warp; its frame begins with it.
struct Activation {
  Function* function = nullptr;
  std::byte* caller = nullptr;       // its frame; null: of an entry
  BasicBlock* returns_to = nullptr;  // block in the caller
  const Call* call = nullptr;
  std::uint32_t depth = 0;
  std::uint32_t local_base = 0;  // start of its variables in each lane's local memory, bytes
};
inline Activation& activation(std::byte* frame) {
  return *std::launder(reinterpret_cast<Activation*>(frame));
}

// Memory for frames, given back all at once.
class Frames {
 public:
  // A frame as `function` begins with it; null if the warp's frames would take more than
  // kMostBytes.
  std::byte* add(Function& function, const Activation& call);
  void clear();

  static constexpr std::size_t kMostBytes = 32u << 20;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> frames_;
  std::size_t bytes_ = 0;
};

}  // namespace krl::machine
