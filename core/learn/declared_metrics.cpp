#include "core/learn/declared_metrics.hpp"

#include "core/measure/discovery.hpp"
#include "core/measure/rollout_metrics.hpp"

namespace krl::core {

const MetricNames& declared_metrics() {
  static const MetricNames kNames = [] {
    MetricNames names;
    declare_rollout_metrics(names);
    declare_critic_metrics(names);
    declare_learning_metrics(names);
    declare_exploration_metrics(names);
    declare_search_metrics(names);
    declare_admission_metrics(names);
    declare_discovery_metrics(names);
    declare_archive_metrics(names);
    declare_judged_metrics(names);
    return names;
  }();
  return kNames;
}

}  // namespace krl::core
