// References: TorchScript functions, compiled once and called in float64 and float32.
// Used by the oracle's one thread. libtorch is kept out of this header.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "plugins/backends/evaluator/oracle/oracle_protocol.hpp"

namespace krl::evaluator {

class Nudges;

enum class ReferenceDevice { kCpu, kCuda };  // the current GPU; libtorch_cuda is loaded already

// The error that rounding to float32 may cause in an output element y, in any order of summation:
//
//   3 · sqrt(terms) · (max(e, mean of e) + 2^-24·|y|)
//
// e is the largest error that the reference makes there in float32, on the same inputs and on
// inputs each of which is moved by an ulp: twice, and 8 times if an output has few elements, or a
// few that err a thousand times the mean.
// Adding `terms` numbers up one after the other errs by the square root of `terms` more than adding
// them up pairwise, as the reference does. If the reference makes no error at all on the very
// inputs, there is nothing to round, and terms is 1. Numbers: docs/tasks.md.
inline constexpr double kRoundingFactor = 3;
inline constexpr double kUnitRoundoff = 0x1p-24;

// Values that repeat (OracleRequest::repeats) round alike, so their errors add up, as if there were
// the square of as many terms; and if a nudge breaks a tie, the element's nudged errors are left
// out, because a kernel that rounds breaks none. In a task without rtol and atol (strict), an
// output that is a copy of input elements must be exact.
//
// An integer is right if the reference returns it in float64, in float32, or in float32 on nudged
// inputs, where equal inputs are nudged alike.
class ReferenceStore {
 public:
  explicit ReferenceStore(ReferenceDevice device = ReferenceDevice::kCpu);
  ~ReferenceStore();

  // Writes expected values and rounding errors to the places in the request; `memory` is the
  // device's. Returns the problem of the reference, if any: it does not compile, it fails, or it
  // returns other types or shapes than declared.
  std::optional<ReferenceProblem> compute(const OracleRequest& request, std::byte* memory);

  // Returns a call of a reference that compute() found to be right, with its inputs ready and of
  // the types that the task declares, for timing: its results are dropped.
  std::function<void()> callable(const OracleRequest& request, std::byte* memory);

  // Gives back the memory of the GPU that libtorch holds but does not use; false if it holds none.
  bool drop_unused_memory();

 private:
  struct Compiled;
  Compiled& compiled(const std::string& text);
  const ReferenceDevice device_;
  const std::unique_ptr<Nudges> nudges_;
  std::list<Compiled> compiled_;  // the newest first
};

}  // namespace krl::evaluator
