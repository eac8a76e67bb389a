// Evaluations per second of the `cpu` backend: every naive kernel of configs/tasks and, where the
// `templates` dataset is built, its pairs; once with nothing cached and all checks on, once as new
// kernels of tasks whose naive kernels are known, once from the cache on disk by a new instance,
// once from memory. Then the compiles alone: by a warm server, to PTX and CUBIN and to PTX alone,
// and by a server that is started anew for each. One thread: the figures are per core.
//
//   evaluator_bench [PAIRS]      of `templates`, 200 if not given
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "bench/corpus.hpp"
#include "plugins/backends/nvrtc/compile_servers.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"

namespace {

using namespace krl;
using namespace krl::evaluator;
using namespace krl::nvrtc;
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

using Passes = std::function<bool(const bench::Work&)>;

// `passes`: does one piece of work; true if it came out right. It goes before the processor's time
// is taken, so that processes which it holds have ended.
void measure(const char* name, const std::vector<bench::Work>& corpus, Passes passes) {
  std::vector<double> seconds;
  std::size_t passed = 0;
  const double before = processor_seconds();
  for (const bench::Work& work : corpus) {
    const auto start = Clock::now();
    passed += passes(work) ? 1 : 0;
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  passes = nullptr;
  double total = 0;
  for (const double s : seconds) total += s;
  std::sort(seconds.begin(), seconds.end());
  std::printf(
      "%-14s %7.1f/s   median %8.3f ms   worst %8.3f ms   processor %8.3f ms   %zu of %zu ok\n",
      name, static_cast<double>(seconds.size()) / total, 1e3 * seconds[seconds.size() / 2],
      1e3 * seconds.back(),
      1e3 * (processor_seconds() - before) / static_cast<double>(seconds.size()), passed,
      seconds.size());
}

void measure(const char* name, const CpuInstance& backend, const std::vector<bench::Work>& corpus) {
  measure(name, corpus, [&](const bench::Work& work) {
    return backend.evaluate(work.task, work.source).verdict == Verdict::kOk;
  });
}

// Kernels that no one has seen, though each does what one of `corpus` does.
std::vector<bench::Work> changed(std::vector<bench::Work> corpus) {
  for (bench::Work& work : corpus) work.source += "// changed\n";
  return corpus;
}

CompileServerOptions compile_options(const char* architecture) {
  const NvrtcLibrary nvrtc = find_nvrtc({}, KERNELRL_PYTHON_DEPS);
  CompileServerOptions options;
  options.launcher = KERNELRL_BINARY_DIR "/libexec/kernelrl/kernelrl-sandbox";
  options.program = KERNELRL_BINARY_DIR "/libexec/kernelrl/kernelrl-nvrtc";
  options.library = nvrtc.library.string();
  options.options = nvrtc_options({architecture, {}, {}}, nvrtc);
  options.rules.readable = nvrtc_files(nvrtc);
  return options;
}

Passes compiles_by(std::shared_ptr<CompileServers> servers) {
  return [servers = std::move(servers)](const bench::Work& work) {
    return servers->compile(work.source, {}, {}).end == CompileOutput::kCompiled;
  };
}

void measure_compiles(const std::vector<bench::Work>& corpus) {
  const auto start = [](const char* architecture) {
    return std::make_shared<CompileServers>(compile_options(architecture));
  };
  measure("compile", corpus, compiles_by(start("sm_75")));
  measure("compile, PTX", corpus, compiles_by(start("compute_75")));
  measure("compile, exec", corpus,
          [&](const bench::Work& work) { return compiles_by(start("sm_75"))(work); });
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
    measure("known tasks", backend, changed(corpus));
    measure("memory", backend, corpus);
  }
  measure("disk", CpuInstance(options), corpus);
  std::filesystem::remove_all(folder);
  measure_compiles(corpus);
}
