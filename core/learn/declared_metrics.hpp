// The metrics of reinforcement that plans may name, from all code that writes some.
#pragma once

#include "core/base/metrics.hpp"

namespace krl::core {

// Constant; thread-safe.
const MetricNames& declared_metrics();

// Each declares the metrics of its file.
void declare_learning_metrics(MetricNames& names);     // reinforce.cpp
void declare_exploration_metrics(MetricNames& names);  // exploration.cpp
void declare_search_metrics(MetricNames& names);       // search.cpp
void declare_admission_metrics(MetricNames& names);    // admission.cpp
void declare_archive_metrics(MetricNames& names);      // archive.cpp
void declare_judged_metrics(MetricNames& names);       // judged.cpp
void declare_critic_metrics(MetricNames& names);       // critic_examples.cpp

}  // namespace krl::core
