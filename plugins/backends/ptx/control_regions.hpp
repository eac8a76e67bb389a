// Finds what the branches of a function decide about: the instructions that one side may execute
// and the other may not, up to where both meet again (the branch's nearest post-dominator).
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/backends/ptx/module.hpp"

namespace krl::ptx {

class ControlRegions {
 public:
  // Keeps a reference to `function`.
  explicit ControlRegions(const Function& function);

  // Returns the indices in the body of the instructions that the branch at `index` decides about. A
  // side that ends in a trap or runs for ever does not meet the others, so that all of it counts
  // and they go on freely.
  std::vector<std::uint32_t> decided_by(std::uint32_t index) const;

 private:
  std::vector<std::uint32_t> successors(std::uint32_t index) const;
  std::vector<std::uint32_t> number_from_the_end();
  void find_meeting_points();
  std::uint32_t meeting_point(std::uint32_t a, std::uint32_t b) const;

  const Function& function_;
  std::uint32_t exit_;                   // the end of the function
  std::vector<std::uint32_t> order_;     // by index: higher is nearer to the end; 0: never ends
  std::vector<std::uint32_t> meets_at_;  // by index: the nearest post-dominator
};

}  // namespace krl::ptx
