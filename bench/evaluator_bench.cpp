// Evaluations per second of the `cpu` backend: every naive kernel of configs/tasks and, where the
// `templates` dataset is built, its pairs; once with nothing cached and all checks on, once from
// the cache on disk by a new instance, once from memory. One thread: the figures are per core.
//
//   build/bench/evaluator_bench [pairs]      how many pairs of `templates` to take, 200 if not
//   given
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace {

using namespace krl;
using namespace krl::testing;
using Clock = std::chrono::steady_clock;

struct Work {
  TaskText task;
  std::string source;
};

// The kernel of an answer: what stands between the fence's lines.
std::string kernel_of(std::string_view answer) {
  const auto start = answer.find("```cuda\n");
  const auto end = answer.find("\n```", start);
  if (start == std::string_view::npos || end == std::string_view::npos) return {};
  return std::string(answer.substr(start + 8, end - start - 8));
}

void add_pairs(std::size_t count, std::vector<Work>* corpus) {
  const std::string path = KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/templates.krl.so";
  if (!std::filesystem::exists(path)) return;
  const Plugin plugin(path);
  const auto dataset = plugin.create<krl_dataset_v>(KRL_DATASET, "templates");
  krl_dataset_sink sink{};
  sink.struct_size = sizeof sink;
  sink.ctx = corpus;
  sink.task = [](const krl_dataset_sink*, const krl_task*) { return krl_status{KRL_OK}; };
  sink.document = [](const krl_dataset_sink*, const krl_document*) { return krl_status{KRL_OK}; };
  sink.pair = [](const krl_dataset_sink* s, const krl_pair* pair) {
    const TaskText task{std::string(view(pair->task->id)),
                        std::string(view(pair->task->definition_json))};
    std::string kernel = kernel_of(view(pair->answer));
    if (!kernel.empty()) {
      static_cast<std::vector<Work>*>(s->ctx)->push_back({task, std::move(kernel)});
    }
    return krl_status{KRL_OK};
  };
  std::uint64_t size = 0;
  dataset.call().require(dataset.table().size(dataset.self(), dataset.context(), &size));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(size, count); ++i) {
    dataset.call().require(dataset.table().read(dataset.self(), dataset.context(), i, &sink));
  }
}

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

void measure(const char* name, const CpuInstance& backend, const std::vector<Work>& corpus) {
  std::vector<double> seconds;
  std::size_t passed = 0;
  const double before = processor_seconds();
  for (const Work& work : corpus) {
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
  std::vector<Work> corpus;
  for (const auto& [id, task] : all_tasks()) corpus.push_back({task, naive_of(task)});
  add_pairs(pairs, &corpus);
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
