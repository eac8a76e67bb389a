// Proposes tasks that no file defines: chains of elementwise steps, reductions, normalisations and
// a matrix product, fused in one kernel. Every step of a chain changes the result.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {

struct Proposals {
  std::vector<Family> families;  // by structure; the variants of each are right for all its tasks

  // The task at an index: its family and operation. The difficulty does not fall with the index.
  struct Place {
    std::size_t family, operation;
  };
  std::vector<Place> places;
};

// Proposes `count` different tasks of the difficulties 1 to `hardest`, equally many of each as far
// as possible. The difficulty is the number of fused steps, plus one for an axis, a type or a
// layout other than the usual one; the task's tier is one less. A task of a difficulty above 1 may
// be an earlier one with one step more, with one step exchanged, or with another axis, type or
// layout. A fifth of all tasks is proposed only as `unseen`, the others only without, for any
// seeds. A task's id describes its computation, except for its constants. Throws
// std::invalid_argument if there are not that many.
Proposals propose(std::uint64_t seed, std::int64_t count, std::int64_t hardest,
                  bool unseen = false);

}  // namespace krl::templates
