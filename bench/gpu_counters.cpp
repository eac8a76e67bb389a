#include "bench/gpu_counters.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>

#include "plugins/backends/cuda/worker/counters/metrics.hpp"

namespace krl::bench {
namespace {

using testing::Outcome;
using Clock = std::chrono::steady_clock;

constexpr std::array kTasks = {"vector_add", "transpose", "matmul", "softmax_rows", "histogram"};
constexpr std::uint64_t kSeed = 7;

struct Profiled {
  Outcome outcome;
  double ms = 0;
};

Profiled evaluate(const testing::BackendInstance& backend, const char* id, std::uint32_t stages) {
  const testing::TaskText& task = testing::all_tasks().at(id);
  const auto start = Clock::now();
  Profiled profiled{backend.evaluate(task, testing::naive_of(task), stages, kSeed)};
  profiled.ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return profiled;
}

// `scale`: of the values, undone, as ncu has percents where evaluations have shares.
void print_row(const std::string& name, const std::string& metric, double scale,
               const std::array<Profiled, kTasks.size()>& profiled) {
  std::printf("%-26s %-66s", name.c_str(), metric.c_str());
  for (const Profiled& p : profiled) {
    const auto found = p.outcome.values.find(name);
    if (found == p.outcome.values.end()) std::printf(" %14s", "-");
    if (found != p.outcome.values.end()) std::printf(" %14.6g", found->second / scale);
  }
  std::printf("\n");
}

void print_header(const std::array<Profiled, kTasks.size()>& profiled) {
  std::printf("%-26s %-66s", "value", "metric");
  for (const char* task : kTasks) std::printf(" %14s", task);
  std::printf("\n%-93s", "first case");
  for (const Profiled& p : profiled) {
    std::printf(" %14s", p.outcome.cases.empty() ? "-" : p.outcome.cases.front().label.c_str());
  }
  std::printf("\n");
}

using AllProfiled = std::array<Profiled, kTasks.size()>;

constexpr std::uint32_t kChecked = KRL_STAGE_COMPILE | KRL_STAGE_CHECK;
constexpr std::uint32_t kCounted = kChecked | KRL_STAGE_TIME | KRL_STAGE_COUNTERS;

// Sums over all launches, which do not depend on when they ran.
constexpr std::array kCompared = {"global_load_requests",  "global_load_sectors",
                                  "global_store_requests", "global_store_sectors",
                                  "instructions",          "thread_instructions"};
constexpr double kMostApart = 0.02;

AllProfiled profile_all(const testing::BackendInstance& backend) {
  AllProfiled profiled;
  for (std::size_t i = 0; i < kTasks.size(); ++i) {
    profiled[i] = evaluate(backend, kTasks[i], kCounted);
    const Outcome& outcome = profiled[i].outcome;
    std::printf("%-14s %s %s: %.1f ms\n", kTasks[i], std::string(name_of(outcome.verdict)).c_str(),
                outcome.why.c_str(), profiled[i].ms);
    for (const std::string& note : outcome.diagnostics) std::printf("  %s\n", note.c_str());
  }
  return profiled;
}

bool is_near(const Profiled& one, const Profiled& other, const char* name) {
  const auto a = one.outcome.values.find(name), b = other.outcome.values.find(name);
  if (a == one.outcome.values.end() || b == other.outcome.values.end()) return false;
  return std::abs(a->second - b->second) <= kMostApart * std::abs(a->second);
}

}  // namespace

void print_counters(const testing::BackendInstance& backend) {
  AllProfiled profiled;
  for (std::size_t i = 0; i < kTasks.size(); ++i) {
    const Profiled checked = evaluate(backend, kTasks[i], kChecked);
    profiled[i] = evaluate(backend, kTasks[i], kCounted);
    const Profiled timed = evaluate(backend, kTasks[i], kChecked | KRL_STAGE_TIME);
    const Outcome& outcome = profiled[i].outcome;
    std::printf("%-14s %s %s: checked %.1f ms, and timed %.1f ms, and profiled %.1f ms\n",
                kTasks[i], std::string(name_of(outcome.verdict)).c_str(), outcome.why.c_str(),
                checked.ms, timed.ms, profiled[i].ms);
    for (const std::string& note : outcome.diagnostics) std::printf("  %s\n", note.c_str());
  }
  print_header(profiled);
  for (const gpu::Metric& metric : gpu::kMetrics) {
    print_row(std::string(metric.name), metric.cupti, metric.scale, profiled);
  }
  for (const char* name : {"sectors_per_request", "warp_efficiency", "bank_conflicts_per_request",
                           "bandwidth_fraction"}) {
    print_row(name, "", 1, profiled);
  }
  if ((backend.describe().signals & KRL_SIGNAL_MEMORY) == 0) {
    std::printf("no counters; libexec/kernelrl/kernelrl-gpu-profiler --check 0 says why\n");
  }
}

bool compare_counters(const MakeBackend& with_cupti, const MakeBackend& with_ncu) {
  std::printf("by CUPTI\n");
  const AllProfiled cupti = profile_all(with_cupti());
  std::printf("by ncu\n");
  const AllProfiled ncu = profile_all(with_ncu());
  print_header(ncu);
  std::set<std::string> names;
  for (const Profiled& p : ncu) {
    for (const auto& [name, value] : p.outcome.values) names.insert(name);
  }
  for (const std::string& name : names) {
    print_row(name, "by CUPTI", 1, cupti);
    print_row(name, "by ncu", 1, ncu);
  }
  int near = 0, all = 0;
  for (std::size_t i = 0; i < kTasks.size(); ++i) {
    for (const char* name : kCompared) {
      ++all;
      near += is_near(cupti[i], ncu[i], name) ? 1 : 0;
    }
  }
  std::printf("%d of %d counters are within %.0f %%\n", near, all, 100 * kMostApart);
  return near == all;
}

}  // namespace krl::bench
