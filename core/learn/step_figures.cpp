#include "core/learn/step_figures.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/plugin/component.hpp"

namespace krl::core {
namespace {

// A single bad batch may pass; a policy that gives no number so often has none left.
constexpr int kMostNotFinite = 3;

}  // namespace

void StepFigures::begin_iteration() {
  sums_.clear();
  counts_.clear();
  first_.clear();
  steps_ = not_finite_ = 0;
}

Status StepFigures::add(const Metrics& step) {
  ++steps_;
  std::string wrong;
  for (const auto& [name, value] : step) {
    if (!std::isfinite(value)) {
      if (wrong.empty()) wrong = fmt::format("{} = {}", name, value);
      continue;
    }
    merge_metric(sums_, name, value);
    ++counts_[name];
  }
  if (wrong.empty()) {
    in_a_row_ = 0;
    return {};
  }
  ++not_finite_;
  if (first_.empty()) first_ = wrong;
  if (++in_a_row_ < kMostNotFinite) return {};
  return failure(
      Code::kInternal,
      fmt::format(
          "policy '{}' reported {} in {} consecutive optimiser steps: its weights are no longer usable; try a smaller learning rate",
          policy_, wrong, in_a_row_));
}

std::optional<double> StepFigures::of(const std::string& name) const {
  const auto sum = sums_.find(name);
  if (sum == sums_.end()) return std::nullopt;
  return name.ends_with("_max") ? sum->second : sum->second / counts_.at(name);
}

Metrics StepFigures::own() const {
  Metrics own;
  for (const auto& [name, unused] : sums_)
    if (is_id(name) && has_vendor(name)) own["actor/" + name] = *of(name);
  return own;
}

std::string StepFigures::warning() const {
  if (not_finite_ == 0) return {};
  return fmt::format("policy '{}' reported {} in {} of {} optimiser steps", policy_, first_,
                     not_finite_, steps_);
}

}  // namespace krl::core
