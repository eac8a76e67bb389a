// Fresh shapes, which are never shown: the pool given by a task's ranges, and the part of it that
// an evaluation checks. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <kernelrl/task_definition.hpp>
#include <vector>

namespace krl::evaluator {

// Kernels that are right at a few sizes alone go wrong elsewhere by what kind of size an axis has:
// its least, a few, any odd one, one beyond all of the cases, one far beyond them; and by the borders
// of tiles.
//
// A set has one shape of each kind for every axis. Kinds are a prime number, and from one axis to
// the next they are shifted by the same amount, so that in a set no axis has a kind twice, and over
// the sets each kind of one axis meets others of the other axes: small and large, long and thin.
// Besides, it has two shapes for each axis that end with a tile and begin another one, beside few
// of all other axes, and two in which most axes do.
inline constexpr std::size_t kSizeKinds = 5;
inline constexpr std::size_t kShapeSets = 5;

// Returns the number of elements of all tensors together.
std::int64_t elements_of(const ResolvedCase& shape);

struct FreshPool {
  std::vector<ResolvedCase> shapes;  // all different, and none that the task names
  // Indices into `shapes`; an evaluation checks one set.
  std::vector<std::vector<std::size_t>> sets;
};

// Limits of a pool. No shape is more work than `work` times the largest of some cases, measured by
// the product of its axes, by its elements, and by the operations that the task declares if these
// grow faster than the elements. A shape with an axis far beyond the cases may be more: up to a
// tensor of more elements than 16 bits count, at most `far` times as much work and `far_operations`
// times as many operations if its first axis is the long one, otherwise a factor drawn between
// `work` and these. No axis is longer than `stretch` times its largest size in the cases, because
// kernels with one block per row spend as much on a short row as on a long one; but a row may have
// `row` elements.
struct PoolLimits {
  std::vector<IntegerNames> TaskDefinition::*cases;  // that the limits are factors of
  double work, far, far_operations;
  std::int64_t stretch, row;
};
// An emulator executes it.
inline constexpr PoolLimits kUpToCases{&TaskDefinition::cases, 1.25, 6, 2.5, 8, 73'728};
inline constexpr PoolLimits kUpToReal{&TaskDefinition::real, 0.25, 0.25, 0.25, 4, 73'728};

// A function of the task's id, axes, ranges and cases, so that other texts of a task change
// nothing. Empty without ranges. Throws Failure(KRL_INVALID_ARGUMENT, "file:line:column: …") if a
// size within the ranges makes no shape.
FreshPool make_pool(const TaskDefinition& task, const PoolLimits& limits);

// Shapes with one axis at the end of its range and all others at their least. None without ranges.
std::vector<IntegerNames> ends_of_ranges(const TaskDefinition& task);

}  // namespace krl::evaluator
