// Evaluations per second of the `cpu` backend: every naive kernel of configs/tasks and, where the
// `templates` dataset is built, its pairs; once with nothing cached and all checks on, once from
// the cache on disk by a new instance, once from memory. One thread: the figures are per core.
//
//   evaluator_bench [PAIRS]      of `templates`, 200 if not given
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "bench/corpus.hpp"

namespace {

using namespace krl;
using namespace krl::testing;
using Clock = std::chrono::steady_clock;

// Of this process and of the workers that ended: what an evaluation costs on a crowded machine too.
double processor_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
      sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
  }
  return sum;
}

void measure(const char* name, const CpuInstance& backend, const std::vector<bench::Work>& corpus) {
  std::vector<double> seconds;
  std::size_t passed = 0;
  const double before = processor_seconds();
  for (const bench::Work& work : corpus) {
    const auto start = Clock::now();
    passed += backend.evaluate(work.task, work.source).verdict == KRL_VERDICT_OK ? 1 : 0;
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  double total = 0;
  for (const double s : seconds) total += s;
  std::sort(seconds.begin(), seconds.end());
  std::printf(
      "%-8s %7.1f/s   median %8.3f ms   worst %8.3f ms   processor %8.3f ms   %zu of %zu ok\n",
      name, static_cast<double>(seconds.size()) / total, 1e3 * seconds[seconds.size() / 2],
      1e3 * seconds.back(),
      1e3 * (processor_seconds() - before) / static_cast<double>(seconds.size()), passed,
      seconds.size());
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t pairs = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 200;
  const std::vector<bench::Work> corpus = bench::corpus(pairs);
  const auto folder = std::filesystem::temp_directory_path() / "kernelrl_evaluator_bench";
  std::filesystem::remove_all(folder);
  const Table options{{"cache", folder.string()}};
  {
    const CpuInstance backend(options);
    // The oracle's start is paid once a run, not once an evaluation.
    backend.evaluate(corpus[0].task, corpus[0].source, CpuInstance::kAllStages, 99);
    measure("cold", backend, corpus);
    measure("memory", backend, corpus);
  }
  measure("disk", CpuInstance(options), corpus);
  std::filesystem::remove_all(folder);
}
