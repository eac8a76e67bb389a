// The figures that a policy reports of the optimiser steps of a stage; one thread. A step whose
// loss, gradient or other figure is not finite is counted, its other figures stay; several in a row
// end the run, as what was learned is lost then.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"

namespace krl::core {

class StepFigures {
 public:
  // `policy`: its id.
  explicit StepFigures(std::string policy) : policy_(std::move(policy)) {}

  // Begins an iteration: forgets the figures of the one before, not how it ended.
  void begin_iteration();
  // The figures of one step. An error if it is one too many that is not finite.
  Status add(const Metrics& step);

  // The mean over the steps that gave a finite one; of a name that ends in "_max" the largest.
  std::optional<double> of(const std::string& name) const;
  // Returns the figures of the policy's own, "acme.norm", under "actor/acme.norm".
  Metrics own() const;
  // Steps of the iteration with a figure that is not finite.
  int not_finite() const { return not_finite_; }
  // "policy 'x' reported grad_norm = nan in 2 of 4 optimiser steps"; empty if there were none.
  std::string warning() const;

 private:
  const std::string policy_;
  Metrics sums_;
  std::map<std::string, int> counts_;  // numbers of summands
  int steps_ = 0, not_finite_ = 0;
  int in_a_row_ = 0;   // over the iterations
  std::string first_;  // first of the iteration: "grad_norm = nan"
};

}  // namespace krl::core
