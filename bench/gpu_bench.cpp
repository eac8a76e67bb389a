// What the `nvrtc` backend does on the GPUs of this machine:
//
//   gpu_bench [real] PART [ARGUMENTS]
//
// real: kernels are timed at real sizes instead of small ones. Each part prints a few lines:
//
//   honest                     the naive kernels against themselves: are they "the same"?
//   slower                     kernels with 5 % more work: are they found?
//   throughput [PAIRS [THREADS]]
//                              novel kernels per second, then cached
//   headroom [FOLDER]          of each task at real sizes, as a table: the naive kernel,
//                              PyTorch, FOLDER/TASK.cu (bench/kernels) and the roofline
//   recovery [TIMES]           broken kernels between good ones
//   kills [SECONDS [MS]]       one of its processes gets SIGKILL every MS;
//                              fails if a verdict is wrong or lost
//   agreement [PAIRS] [FILE]   the cpu backend against the GPU: verdicts, speedups,
//                              one CSV line each into FILE
//   counters                   hardware counters of five kernels
//   deep                       the same by ncu alongside CUPTI's; fails if they differ
//   export FOLDER [COUNT]      kernels for load_inline.py; needs no GPU
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/corpus.hpp"
#include "bench/export_kernels.hpp"
#include "bench/gpu_counters.hpp"
#include "bench/gpu_kills.hpp"
#include "plugins/files/file.hpp"

namespace {

using namespace krl;
using namespace krl::testing;
using bench::Work;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kTimed = KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_TIME;

const char* sizes = "small";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

std::string verdict_text(const Outcome& outcome) {
  return std::string(name_of(outcome.verdict)) + (outcome.why.empty() ? "" : ": ") + outcome.why;
}

BackendInstance gpu_backend(const std::string& cache = "off", const char* counters = "off") {
  const auto start = Clock::now();
  BackendInstance backend("nvrtc",
                          Table{{"cache", cache}, {"counters", counters}, {"sizes", sizes}});
  const auto info = backend.describe();
  std::printf("%s, %s, %u at a time\n", std::string(view(info.device)).c_str(),
              std::string(view(info.toolchain)).c_str(), info.concurrency);
  // The first product and the first convolution of references load libraries for seconds, once.
  for (const Work& work : bench::naive_kernels()) {
    if (work.task.id != "matmul" && work.task.id != "conv1d") continue;
    backend.evaluate(work.task, work.source, kTimed, 99);
  }
  std::printf("ready after %.1f s\n", seconds_since(start));
  return backend;
}

// ---- is timing honest?

struct Timings {
  std::vector<double> log_ratios, half_widths, samples;
  int faster = 0, slower = 0;

  void add(const Outcome& outcome) {
    for (const auto& c : outcome.cases) {
      if (c.samples_ns.empty()) continue;
      log_ratios.push_back(std::log(c.speedup));
      half_widths.push_back(std::log(c.speedup_high / c.speedup_low) / 2);
      samples.push_back(static_cast<double>(c.samples_ns.size()));
      faster += c.speedup_low > 1 ? 1 : 0;
      slower += c.speedup_high < 1 ? 1 : 0;
    }
  }
  void print(const char* name) const {
    std::vector<double> magnitudes;
    for (const double x : log_ratios) magnitudes.push_back(std::fabs(x));
    std::printf(
        "%s: %zu cases, %d faster, %d slower, median |log ratio| %.4f, worst %.4f, median half "
        "width %.4f, median samples %.0f\n",
        name, log_ratios.size(), faster, slower, quantile(magnitudes, 0.5), quantile(magnitudes, 1),
        quantile(half_widths, 0.5), quantile(samples, 0.5));
  }
};

void honest() {
  const BackendInstance backend = gpu_backend();
  Timings timings;
  std::vector<double> latencies;
  int apart = 0;  // kernels whose baseline was slower alongside them, or seemed to be
  for (const Work& work : bench::naive_kernels()) {
    const auto start = Clock::now();
    const Outcome outcome = backend.evaluate(work.task, work.source, kTimed, 7);
    latencies.push_back(seconds_since(start));
    timings.add(outcome);
    const auto beside = outcome.values.find("baseline_beside");
    apart += beside != outcome.values.end() && beside->second == 0 ? 1 : 0;
    std::printf("%-20s %6.1f ms  %s ", work.task.id.c_str(), 1e3 * latencies.back(),
                verdict_text(outcome).c_str());
    for (const auto& c : outcome.cases) {
      std::printf(" | %.2f us x%.4f [%.4f, %.4f] n=%zu", c.time_ns / 1e3, c.speedup, c.speedup_low,
                  c.speedup_high, c.samples_ns.size());
    }
    std::printf("\n");
  }
  timings.print("honest");
  std::printf("baselines that were not believed beside their candidates: %d of %zu\n", apart,
              latencies.size());
  std::printf("latency: median %.0f ms, worst %.0f ms\n", 1e3 * quantile(latencies, 0.5),
              1e3 * quantile(latencies, 1));
}

constexpr int kLargestSmall = 1 << 22;

// A task whose work is a loop of `rounds` over `n` elements, as a case or as one of real size.
Work looping(int n, int rounds, int naive_rounds) {
  const auto kernel = [](int times) {
    return "__global__ void spin(const float* x, float* y, int n) {\\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\\n"
           "  if (i >= n) return;\\n"
           "  float a = x[i];\\n"
           "  for (int r = 0; r < " +
           std::to_string(times) +
           "; ++r) a = fmaf(a, 0.5f, 0.25f);\\n"
           "  y[i] = a * 0.0f + x[i];\\n}\\n";
  };
  const std::string id = "spin_" + std::to_string(n) + "_" + std::to_string(naive_rounds);
  const std::string json =
      R"({"id": ")" + id +
      R"(", "prompt": "y = x, slowly", "axes": {"n": "var"}, "input": [{"name": "x", "dtype": )"
      R"("float32", "shape": ["n"], "values": "uniform"}], "output": [{"name": "y", "dtype": )"
      R"("float32", "shape": ["n"]}], "reference": "def run(x):\n    return x + 0\n", "naive": ")" +
      kernel(naive_rounds) + R"(", "cases": [{"n": )" +
      (n > kLargestSmall ? R"(4099}], "real": [{"n": )" : "") + std::to_string(n) + "}]}";
  std::string source = kernel(rounds);
  for (std::size_t at; (at = source.find("\\n")) != std::string::npos;) source.replace(at, 2, "\n");
  return {{id, json}, source};
}

void slower() {
  const BackendInstance backend = gpu_backend();
  Timings timings;
  const bool real = std::string_view(sizes) == "real";
  const auto elements = real ? std::vector<int>{1 << 23, 1 << 24, 3 << 24, 1 << 26}
                             : std::vector<int>{1 << 12, 1 << 16, 1 << 20, kLargestSmall};
  for (const int n : elements) {
    for (int rounds : {1000, 2000, 3000, 4000, 6000, 8000, 12000, 16000, 24000, 32000}) {
      if (real) rounds /= 10;
      const Work work = looping(n, rounds * 21 / 20, rounds);
      const Outcome outcome = backend.evaluate(work.task, work.source, kTimed, 7);
      if (outcome.cases.empty()) std::printf("%s: %s\n", work.task.id.c_str(), outcome.log.c_str());
      timings.add(outcome);
    }
  }
  timings.print("5 % more work");
}

// ---- what there is to win

std::string duration(double ns) {
  char text[32];
  std::snprintf(text, sizeof text, ns < 1e5 ? "%.1f µs" : "%.0f µs", ns / 1e3);
  return text;
}

void headroom(const std::filesystem::path& folder) {
  const BackendInstance backend = gpu_backend();
  std::printf(
      "| task | case | naive | PyTorch | by hand | roofline | shares: naive, PyTorch, by hand |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const auto& [id, task] : all_tasks()) {
    const Outcome naive = backend.evaluate(task, naive_of(task), kTimed, 7);
    const std::string by_hand_source = files::read_file_or_empty((folder / (id + ".cu")).string());
    Outcome good;
    if (!by_hand_source.empty()) good = backend.evaluate(task, by_hand_source, kTimed, 7);
    const auto timed = [](const Outcome& outcome) {
      const auto found = std::find_if(outcome.cases.begin(), outcome.cases.end(),
                                      [](const auto& c) { return std::isfinite(c.time_ns); });
      return found == outcome.cases.end() ? nullptr : &*found;
    };
    const auto* const time = timed(naive);
    if (time == nullptr) {
      std::printf("| %s | %s |\n", id.c_str(), verdict_text(naive).c_str());
      continue;
    }
    const double least = naive.values.at("roofline") * time->time_ns;
    const auto reference = naive.values.find("reference_time");
    const double torch = reference == naive.values.end() ? NAN : reference->second;
    const auto* const by_hand = timed(good);
    const double hand = by_hand == nullptr ? NAN : by_hand->time_ns;
    std::string hands = duration(hand);
    if (by_hand == nullptr) hands = by_hand_source.empty() ? "none" : verdict_text(good);
    std::printf("| %s | %s | %s | %s | %s | %s | %.2f, %.2f, %.2f |\n", id.c_str(),
                time->label.c_str(), duration(time->time_ns).c_str(), duration(torch).c_str(),
                hands.c_str(), duration(least).c_str(), least / time->time_ns, least / torch,
                least / hand);
  }
}

// ---- throughput

struct Load {
  std::vector<double> latencies;
  std::map<std::string, int> verdicts;
  double seconds = 0;
};

Load evaluate_all(const BackendInstance& backend, const std::vector<Work>& works,
                  unsigned threads) {
  Load load;
  load.latencies.resize(works.size());
  std::vector<std::string> verdicts(works.size());
  std::atomic<std::size_t> next{0};
  const auto start = Clock::now();
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t) {
    pool.emplace_back([&] {
      for (std::size_t i; (i = next++) < works.size();) {
        const auto begin = Clock::now();
        const Outcome outcome = backend.evaluate(works[i].task, works[i].source, kTimed, 7);
        load.latencies[i] = seconds_since(begin);
        verdicts[i] = name_of(outcome.verdict);
        if (outcome.verdict != Verdict::kOk) {
          std::printf("%s: %s\n", works[i].task.id.c_str(), verdict_text(outcome).c_str());
        }
      }
    });
  }
  for (std::thread& thread : pool) thread.join();
  load.seconds = seconds_since(start);
  for (const std::string& verdict : verdicts) ++load.verdicts[verdict];
  return load;
}

void print(const char* name, const Load& load) {
  std::printf("%s: %.1f/s, latency median %.0f ms, 95 %% %.0f ms;", name,
              static_cast<double>(load.latencies.size()) / load.seconds,
              1e3 * quantile(load.latencies, 0.5), 1e3 * quantile(load.latencies, 0.95));
  for (const auto& [verdict, count] : load.verdicts) std::printf(" %d %s", count, verdict.c_str());
  std::printf("\n");
}

void throughput(std::size_t pairs, unsigned threads) {
  const auto folder = std::filesystem::temp_directory_path() / "kernelrl_gpu_bench";
  std::filesystem::remove_all(folder);
  const auto works = bench::generated_kernels(pairs);
  {
    const BackendInstance backend = gpu_backend(folder.string());
    std::vector<Work> tasks;  // their references are computed once for all candidates
    print("novel", evaluate_all(backend, works, threads));
    print("from memory", evaluate_all(backend, works, threads));
    auto again = works;
    for (Work& work : again) work.source += "\n";
    print("novel, the tasks known", evaluate_all(backend, again, threads));
  }
  const BackendInstance fresh = gpu_backend(folder.string());
  print("from disk", evaluate_all(fresh, works, threads));
  const std::vector<Work> few(
      works.begin(), works.begin() + static_cast<long>(std::min<std::size_t>(works.size(), 40)));
  auto alone = few;
  for (Work& work : alone) work.source += "\n\n";
  print("novel, one at a time", evaluate_all(fresh, alone, 1));
  std::filesystem::remove_all(folder);
}

// ---- recovery

struct Broken {
  const char *name, *source;
  std::vector<Verdict> verdicts;
};

const std::vector<Broken>& broken_kernels() {
  static const std::vector<Broken> kernels = {
      {"illegal address",
       R"(__global__ void k(const float* a, const float* b, float* c, int n) {
  c[(1ll << 40) + threadIdx.x] = 1;
})",
       {Verdict::kRuntimeFault}},
      {"misaligned",
       R"(__global__ void k(const float* a, const float* b, float* c, int n) {
  *(volatile double*)((char*)c + 1 + (n & 1)) = a[0];
})",
       {Verdict::kRuntimeFault}},
      {"trap",
       "__global__ void k(const float* a, const float* b, float* c, int n) { __trap(); }",
       {Verdict::kRuntimeFault, Verdict::kRejected}},
      {"device assert",
       R"(#include <cassert>
__global__ void k(const float* a, const float* b, float* c, int n) { assert(n < 0); })",
       {Verdict::kRuntimeFault, Verdict::kCompileError, Verdict::kRejected, Verdict::kWrongResult}},
      {"2^31 blocks",
       "// @launch k<<<2147483648, 32>>>(a, b, c, n)\n"
       "__global__ void k(const float* a, const float* b, float* c, int n) {}",
       {Verdict::kLaunchError}},
      {"too much shared memory",
       "// @launch k<<<1, 32, 300000>>>(a, b, c, n)\n"
       "__global__ void k(const float* a, const float* b, float* c, int n) {}",
       {Verdict::kLaunchError}},
      {"stack overflow",
       R"(__device__ int deep(int n, volatile int* at) {
  volatile int here[64];
  here[n & 63] = n;
  return n == -1 ? at[0] : deep(n + 1, here) + here[3];
}
__global__ void k(const float* a, const float* b, float* c, int n) {
  volatile int x = 0;
  c[0] = deep(n, &x);
})",
       {Verdict::kRuntimeFault}},
      {"endless loop",
       R"(__global__ void k(const float* a, const float* b, float* c, int n) {
  volatile float* v = c;
  while (v[0] != 12345.0f) {}
})",
       {Verdict::kTimeout}},
  };
  return kernels;
}

void recovery(int times) {
  const BackendInstance backend("nvrtc",
                                Table{{"cache", "off"}, {"sizes", sizes}, {"run_timeout", 2.0}});
  const TaskText& task = all_tasks().at("vector_add");
  const std::string good = naive_of(task);
  std::vector<const Broken*> order;
  for (const Broken& kernel : broken_kernels()) order.insert(order.end(), times, &kernel);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  std::vector<double> after_good, after_broken;
  std::map<std::string, std::vector<double>> broken_latencies;
  int wrong = 0, number = 0;
  const auto evaluate_good = [&](std::vector<double>* latencies) {
    const auto start = Clock::now();
    const Outcome outcome = backend.evaluate(task, good + "// " + std::to_string(++number) + "\n",
                                             KRL_STAGE_COMPILE | KRL_STAGE_CHECK, 7);
    latencies->push_back(seconds_since(start));
    if (outcome.verdict == Verdict::kOk) return;
    ++wrong;
    std::printf("good kernel: %s\n", verdict_text(outcome).c_str());
  };
  std::vector<double> ignored;
  evaluate_good(&ignored);
  for (const Broken* kernel : order) {
    evaluate_good(&after_good);
    const auto start = Clock::now();
    const Outcome outcome = backend.evaluate(
        task, std::string(kernel->source) + "\n// " + std::to_string(++number) + "\n",
        KRL_STAGE_COMPILE | KRL_STAGE_CHECK, 7);
    broken_latencies[kernel->name].push_back(seconds_since(start));
    const auto& expected = kernel->verdicts;
    if (std::find(expected.begin(), expected.end(), outcome.verdict) == expected.end()) {
      ++wrong;
      std::printf("%s: %s\n", kernel->name, verdict_text(outcome).c_str());
    }
    evaluate_good(&after_broken);
  }
  for (const auto& [name, latencies] : broken_latencies) {
    std::printf("%-24s median %.0f ms, worst %.0f ms\n", name.c_str(),
                1e3 * quantile(latencies, 0.5), 1e3 * quantile(latencies, 1));
  }
  std::printf(
      "recovery: %zu broken kernels, %d wrong verdicts; a good kernel takes %.1f ms after a good "
      "one and %.1f ms after a broken one at the median, %.1f and %.1f at 95 %%\n",
      order.size(), wrong, 1e3 * quantile(after_good, 0.5), 1e3 * quantile(after_broken, 0.5),
      1e3 * quantile(after_good, 0.95), 1e3 * quantile(after_broken, 0.95));
}

// ---- the cpu backend against the GPU

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) {
    double below = 0, equal = 0;
    for (const double other : values) {
      below += other < value ? 1 : 0;
      equal += other == value ? 1 : 0;
    }
    result.push_back(below + (equal + 1) / 2);
  }
  return result;
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  const double mx = mean(x), my = mean(y);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
  }
  return xy / std::sqrt(xx * yy);
}

void agreement(std::size_t pairs, const char* file) {
  const BackendInstance gpu = gpu_backend();
  const CpuInstance cpu(Table{{"cache", "off"}, {"gpu", "H200 SXM"}});
  const auto works = bench::corpus(pairs);
  std::FILE* csv = std::fopen(file, "w");
  std::vector<Outcome> measured(works.size()), estimated(works.size());
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    pool.emplace_back([&] {
      for (std::size_t i; (i = next++) < works.size();) {
        measured[i] = gpu.evaluate(works[i].task, works[i].source, kTimed, 7);
        estimated[i] = cpu.evaluate(works[i].task, works[i].source, kTimed, 7);
      }
    });
  }
  for (std::thread& thread : pool) thread.join();
  std::vector<double> gpu_speedups, cpu_speedups;
  int agree = 0;
  if (csv != nullptr)
    std::fprintf(csv, "task,case,measured_ns,estimated_ns,measured_speedup,estimated_speedup\n");
  for (std::size_t i = 0; i < works.size(); ++i) {
    agree += measured[i].verdict == estimated[i].verdict ? 1 : 0;
    if (measured[i].verdict != estimated[i].verdict) {
      std::printf("%s: cpu %s, gpu %s\n", works[i].task.id.c_str(),
                  verdict_text(estimated[i]).c_str(), verdict_text(measured[i]).c_str());
    }
    for (std::size_t c = 0; c < std::min(measured[i].cases.size(), estimated[i].cases.size());
         ++c) {
      const auto &m = measured[i].cases[c], &e = estimated[i].cases[c];
      if (!std::isfinite(m.speedup) || !std::isfinite(e.speedup)) continue;
      gpu_speedups.push_back(m.speedup);
      cpu_speedups.push_back(e.speedup);
      if (csv != nullptr) {
        std::fprintf(csv, "%s,%s,%.1f,%.1f,%.4f,%.4f\n", works[i].task.id.c_str(), m.label.c_str(),
                     m.time_ns, e.time_ns, m.speedup, e.speedup);
      }
    }
  }
  if (csv != nullptr) std::fclose(csv);
  std::printf("agreement: %d of %zu verdicts; Spearman's correlation of %zu speedups: %.3f\n",
              agree, works.size(), gpu_speedups.size(),
              correlation(ranks(gpu_speedups), ranks(cpu_speedups)));
}

}  // namespace

int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (count > 1 && std::string_view(words[1]) == "real") {
    sizes = "real";
    --count;
    ++words;
  }
  const std::string part = count > 1 ? words[1] : "";
  const auto number = [&](int index, int otherwise) {
    return count > index ? std::atoi(words[index]) : otherwise;
  };
  if (part == "honest") {
    honest();
  } else if (part == "slower") {
    slower();
  } else if (part == "throughput") {
    throughput(
        static_cast<std::size_t>(number(2, 400)),
        static_cast<unsigned>(number(3, static_cast<int>(std::thread::hardware_concurrency()))));
  } else if (part == "headroom") {
    sizes = "real";
    headroom(count > 2 ? words[2] : KERNELRL_SOURCE_DIR "/bench/kernels");
  } else if (part == "recovery") {
    recovery(number(2, 50));
  } else if (part == "kills") {
    return bench::survive_kills(number(2, 60), number(3, 100)) ? 0 : 1;
  } else if (part == "agreement") {
    agreement(static_cast<std::size_t>(number(2, 160)), count > 3 ? words[3] : "agreement.csv");
  } else if (part == "counters") {
    bench::print_counters(gpu_backend("off", "auto"));
  } else if (part == "export" && count > 2) {
    bench::export_kernels(bench::generated_kernels(static_cast<std::size_t>(number(3, 10))),
                          words[2]);
  } else if (part == "deep") {
    const auto with = [](const char* counters) {
      return [=] { return gpu_backend("off", counters); };
    };
    return bench::compare_counters(with("auto"), with("ncu")) ? 0 : 1;
  } else {
    std::fprintf(
        stderr,
        "usage: gpu_bench [real] "
        "honest|slower|throughput|headroom|recovery|kills|agreement|counters|deep|export\n");
    return 2;
  }
  return 0;
}
