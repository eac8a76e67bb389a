#include "service/runs/comparison.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <optional>
#include <set>

#include "core/base/metrics.hpp"
#include "core/run/metrics.hpp"
#include "service/runs/runs.hpp"

namespace krl::service {
namespace {

constexpr std::size_t kLast = 10;  // iterations at the end whose means are compared
constexpr std::string_view kTask = "task/";
constexpr std::array kMetrics = {"reward/mean",      "kernel/compile_rate", "kernel/pass_rate",
                                 "kernel/speedup",   "found/best_speedup",  "found/tasks",
                                 "answers/distinct", "actor/entropy",       "judged/kernels",
                                 "time_s/iteration"};

// The iterations in which answers were sampled and judged.
Result<std::vector<IterationMetrics>> rounds_of(const RunLayout& run) {
  KRL_ASSIGN(std::vector<IterationMetrics> lines, MetricsTail(run.metrics()).next());
  std::erase_if(lines, [](const IterationMetrics& line) {
    return !line.values.contains("kernel/pass_rate");
  });
  return lines;
}

std::optional<double> value_in(const IterationMetrics& line, const std::string& name) {
  const auto found = line.values.find(name);
  return found == line.values.end() || !std::isfinite(found->second) ? std::nullopt
                                                                     : std::optional(found->second);
}

// The values of a metric in the first `n` iterations, oldest first.
std::vector<double> values_of(const std::vector<IterationMetrics>& lines, std::size_t n,
                              const std::string& name) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    if (const auto value = value_in(lines[i], name)) values.push_back(*value);
  }
  return values;
}

double mean_of_last(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  values.erase(values.begin(),
               values.end() - static_cast<std::ptrdiff_t>(std::min(kLast, values.size())));
  return mean_of(values);
}

double last_of(const std::vector<double>& values) {
  return values.empty() || values.back() <= 0 ? std::nan("") : values.back();
}

std::set<std::string> tasks_in(const std::vector<IterationMetrics>& lines) {
  std::set<std::string> tasks;
  for (const IterationMetrics& line : lines) {
    for (const auto& [name, value] : line.values) {
      constexpr std::string_view kEnd = "/pass_rate";
      if (!name.starts_with(kTask) || !name.ends_with(kEnd)) continue;
      tasks.insert(name.substr(kTask.size(), name.size() - kTask.size() - kEnd.size()));
    }
  }
  return tasks;
}

void add_ratio(Comparison& comparison) {
  std::vector<double> logs;
  for (const ComparedTask& task : comparison.tasks) {
    const double log = std::log(task.best_speedup.second / task.best_speedup.first);
    if (std::isfinite(log)) logs.push_back(log);
  }
  comparison.paired = logs.size();
  if (logs.empty()) return;
  const auto n = static_cast<double>(logs.size());
  const double mean = mean_of(logs);
  comparison.ratio = std::exp(mean);
  if (logs.size() < 2) return;
  double squares = 0;
  for (const double log : logs) squares += (log - mean) * (log - mean);
  const boost::math::students_t_distribution<double> student(n - 1);
  const double half = boost::math::quantile(student, 0.975) * std::sqrt(squares / (n - 1) / n);
  comparison.low = std::exp(mean - half);
  comparison.high = std::exp(mean + half);
}

}  // namespace

Result<Comparison> compare_runs(const RunLayout& first, const RunLayout& second) {
  KRL_ASSIGN(const std::vector<IterationMetrics> one, rounds_of(first));
  KRL_ASSIGN(const std::vector<IterationMetrics> other, rounds_of(second));
  const std::size_t n = std::min(one.size(), other.size());
  if (n == 0)
    return failure(Code::kFailedPrecondition,
                   "a run without an iteration of reinforcement or search cannot be compared");
  Comparison comparison;
  comparison.iterations = static_cast<int>(n);
  const std::set<std::string> theirs = tasks_in(other);
  for (const std::string& task : tasks_in(one)) {
    if (!theirs.contains(task)) continue;
    const std::string passes = "task/" + task + "/pass_rate";
    const std::string speed = "task/" + task + "/best_speedup";
    comparison.tasks.push_back(
        {task,
         {mean_of_last(values_of(one, n, passes)), mean_of_last(values_of(other, n, passes))},
         {last_of(values_of(one, n, speed)), last_of(values_of(other, n, speed))}});
  }
  for (const char* name : kMetrics) {
    const Both both{mean_of_last(values_of(one, n, name)), mean_of_last(values_of(other, n, name))};
    if (std::isfinite(both.first) || std::isfinite(both.second))
      comparison.metrics.emplace_back(name, both);
  }
  add_ratio(comparison);
  return comparison;
}

}  // namespace krl::service
