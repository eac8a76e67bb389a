// kernelrl-gpu-profiler: reads a GPU's hardware counters while a candidate runs that has passed.
//
//   kernelrl-gpu-profiler            answers requests (counters/counter.hpp)
//   kernelrl-gpu-profiler --metrics CHIP
//                                    lists the metrics of a "GH100", and the passes; no GPU
//   kernelrl-gpu-profiler --lacks CHIP METRIC…
//                                    lists which of these a chip does not have; no GPU
//   kernelrl-gpu-profiler --check DEVICE
//                                    tells whether counters can be read here, and if not, why
//
// This is a separate process, because CUPTI affects all that its process does on a GPU, and a
// candidate that faults only now ends it alone.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/cuda/worker/counters/profile.hpp"
#include "plugins/backends/cuda/worker/serve.hpp"

namespace {

using namespace krl::gpu;
using nlohmann::json;

void print_metrics(const std::string& chip) {
  const MetricPlan plan(chip);
  for (const Metric* metric : plan.metrics()) {
    std::printf("%-24s %s\n", std::string(metric->name).c_str(), metric->cupti);
  }
  std::printf("%zu passes\n", plan.passes());
}

void print_lacking(const std::string& chip, const std::vector<std::string>& metrics) {
  for (const std::string& metric : MetricPlan(chip).lacking(metrics)) {
    std::printf("%s\n", metric.c_str());
  }
}

void print_check(const std::string& device) {
  const ProfilerReady ready = check_counters(std::stoi(device));
  std::printf("%s: %zu metrics in %zu passes\n", ready.chip.c_str(), ready.metrics.size(),
              ready.passes);
}

// Returns the process' exit code. `words`: a question and its subject.
int answer(const std::vector<std::string>& words) {
  try {
    if (words.size() == 2 && words[0] == "--metrics") return print_metrics(words[1]), 0;
    if (words.size() == 2 && words[0] == "--check") return print_check(words[1]), 0;
    if (words.size() > 2 && words[0] == "--lacks") {
      return print_lacking(words[1], {words.begin() + 2, words.end()}), 0;
    }
    std::fprintf(stderr,
                 "kernelrl-gpu-profiler: usage: --metrics CHIP, --lacks CHIP METRIC… and "
                 "--check DEVICE\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernelrl-gpu-profiler: %s\n", error.what());
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return answer({argv + 1, argv + argc});
  std::unique_ptr<DeviceSession> session;
  std::unique_ptr<Profiler> profiler;
  return serve({{"setup",
                 [&](const json& request) -> json {
                   cupti();  // before there is a context, which it would miss
                   const Setup setup = request.get<Setup>();
                   session = std::make_unique<DeviceSession>(setup);
                   profiler = std::make_unique<Profiler>(*session, setup.device);
                   return profiler->ready();
                 }},
                {"load", calls(session, &DeviceSession::load)},
                {"profile", calls(profiler, &Profiler::profile)}});
}
