// The kernels that a stage has judged, so that none is judged again (rollout.distinct).
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/episode/episode.hpp"
#include "core/episode/rollout.hpp"

namespace krl::core {

// Its state goes into checkpoints. One thread; what `of` returns never changes.
class Judged {
 public:
  // The kernels of a task up to the last `add`; null if there are none.
  std::shared_ptr<const KernelIds> of(const Task& task) const;

  // Takes in the episodes of an iteration; counts kernels of the stage, and answers of the iteration
  // that were dropped. An answer that was cut off has no kernel.
  Metrics add(const std::vector<Episode>& episodes);

  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  std::map<std::string, std::shared_ptr<const KernelIds>> tasks_;
};

}  // namespace krl::core
