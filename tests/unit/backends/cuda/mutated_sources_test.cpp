// Sources as broken models and fuzzers write them: real kernels with pieces changed, missing and
// mixed up. Whatever a compiler makes of them, and the machine of `cpu` that executes what it made,
// each gets a verdict, and nothing is left behind.
//
//   KERNELRL_MUTANTS   how many for `cpu` and NVRTC, and a quarter for nvcc; few without
//   KERNELRL_SEED      of the first; the others follow
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "plugins/backends/nvcc/nvcc_toolkit.hpp"
#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "tests/hostile/hostile_kernels.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"
#include "tests/until_available.hpp"

namespace krl::testing {
using namespace nvcc;
using namespace nvrtc;
namespace {

constexpr int kMutants = 40;
constexpr int kMostChanges = 4;  // of one source
constexpr std::size_t kMostBytes = 60;

// Pieces that mean something to a compiler.
constexpr const char* kPieces[] = {"{",           "}",
                                   ";",           "<<<1, 1>>>",
                                   "\"",          "/*",
                                   "\\\n",        "#if 1\n",
                                   "#include <",  "template <",
                                   "R\"(",        "__shared__ ",
                                   "asm(\"",      "u8'",
                                   "__global__ ", "operator",
                                   "0x1p-99999",  "999999999999999999999",
                                   "// @launch",  "// @scratch partial float[n]\n",
                                   "typename ",   "\xff\xfe",
                                   "sizeof...(",  "decltype",
                                   "[[",          "constexpr ",
                                   "namespace ",  "__launch_bounds__(-1)"};

struct Source {
  std::string task, text;
};

std::vector<Source> right_sources() {
  std::vector<Source> sources;
  for (const auto& [id, task] : all_tasks()) sources.push_back({id, naive_of(task)});
  for (const std::string& name : hostile_kernel_names()) {
    if (!name.starts_with("right/")) continue;
    const HostileKernel kernel = hostile_kernel(name);
    sources.push_back({kernel.task, kernel.source});
  }
  return sources;
}

class Mutator {
 public:
  Mutator(const std::vector<Source>& sources, std::uint64_t seed)
      : sources_(sources), random_(seed) {}

  Source next() {
    Source source = sources_[below(sources_.size())];
    for (std::size_t change = below(kMostChanges) + 1; change > 0; --change) mutate(&source.text);
    return source;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void mutate(std::string* text) {
    const std::size_t at = below(text->size()), length = below(kMostBytes);
    switch (below(8)) {
      case 0:
        (*text)[at] = static_cast<char>(random_());
        break;
      case 1:
        text->erase(at, length);
        break;
      case 2:
        text->insert(below(text->size()), text->substr(at, length));
        break;
      case 3:
        text->insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 4:
        text->resize(at);
        break;
      case 5:
        text->insert(at, length, static_cast<char>(random_()));
        break;
      case 6: {  // the end of another
        const std::string& other = sources_[below(sources_.size())].text;
        text->insert(at, other.substr(below(other.size())));
        break;
      }
      case 7:
        std::reverse(
            text->begin() + static_cast<std::ptrdiff_t>(at),
            text->begin() + static_cast<std::ptrdiff_t>(std::min(at + length, text->size())));
        break;
    }
    if (text->empty()) *text = " ";
  }

  const std::vector<Source>& sources_;
  std::mt19937_64 random_;
};

int number_from(const char* variable, int fallback) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? fallback : std::atoi(text);
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

class MutatedSources : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Cuda, MutatedSources, ::testing::Values("cpu", "nvrtc", "nvcc"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(MutatedSources, GetAVerdictAndLeaveNothing) {
  const std::string id = GetParam();
  try {
    find_nvrtc({}, KERNELRL_PYTHON_DEPS);
    if (id == "nvcc") find_nvcc({}, KERNELRL_PYTHON_DEPS);
  } catch (const Failure& failure) {
    GTEST_SKIP() << "skipped: " << failure.what();
  }
  const std::vector<Source> sources = right_sources();
  std::set<Verdict> expected = {Verdict::kOk,      Verdict::kRejected,    Verdict::kCompileError,
                                Verdict::kTimeout, Verdict::kLaunchError, Verdict::kResourceLimit};
  Table options{{"compile_timeout", 10.0}, {"cache", "off"}};
  if (id == "cpu") {
    options.emplace("work_limit", 10'000'000);
    expected.insert({Verdict::kWrongResult, Verdict::kRuntimeFault, Verdict::kNondeterministic,
                     Verdict::kFlagged});
  } else {
    options.emplace("execute", "off");
    options.emplace("arch", "sm_90");
  }
  {
    const TaskBackend warm(id.c_str(), options);
    warm.evaluate(all_tasks().at("vector_add"), sources.front().text);  // what is opened once
  }
  const std::ptrdiff_t descriptors = open_descriptors();
  std::optional<TaskBackend> backend(std::in_place, id.c_str(), options);

  const int mutants = number_from("KERNELRL_MUTANTS", kMutants) / (id == "nvcc" ? 4 : 1);
  const int first = number_from("KERNELRL_SEED", 0);
  std::atomic<int> next{first}, compiled{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      for (int seed; (seed = next++) < first + mutants;) {
        const Source source = Mutator(sources, static_cast<std::uint64_t>(seed)).next();
        try {
          const Outcome outcome = test::until_available(
              [&] { return backend->evaluate(all_tasks().at(source.task), source.text); });
          EXPECT_EQ(outcome.verdicts, 1) << "seed " << seed;
          EXPECT_EQ(expected.count(outcome.verdict), 1u)
              << "seed " << seed << ": " << name_of(outcome.verdict) << ": " << outcome.why;
          compiled += outcome.verdict == Verdict::kCompileError ? 0 : 1;
        } catch (const Failure& failure) {
          ADD_FAILURE() << "seed " << seed << ": " << failure.what() << "\n" << source.text;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_GT(compiled, 0) << "mutants that are all nonsense try little";
  EXPECT_LT(compiled, mutants);
  backend.reset();  // with the servers that it kept
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace krl::testing
