// The tuner of a search: right kernels with other numbers, which nobody has to be asked for. Pure
// functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/learn/archive.hpp"
#include "core/task/source_identity.hpp"

namespace krl::core {

// Returns the kernel with one of its integers replaced, wherever it occurs, by one that is larger or
// smaller by a power of two: sizes of blocks, of grids that are fixed, and other constants of the
// code. Changes of each come in turn, the smallest first.
std::vector<std::string> retuned(const std::string& source);

struct TunedKernel {
  const ArchivedKernel* parent = nullptr;
  std::string source;
};

// Up to `count` such kernels that are not among the `known` ones, each once: in turn of the fastest
// kernels of different structures. REQUIRES: the fastest come first.
std::vector<TunedKernel> choose_tuned(const std::vector<ArchivedKernel>& kernels, KernelIds known,
                                      std::size_t count);

// The episode that consists of the kernel, before it is evaluated: its parent is given.
Episode episode_of(const TunedKernel& kernel, const Task& task, GroupId group);

}  // namespace krl::core
