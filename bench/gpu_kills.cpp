#include "bench/gpu_kills.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/corpus.hpp"

namespace krl::bench {
namespace {

using namespace krl::testing;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Children of all threads of a process, and theirs.
std::vector<pid_t> descendants(pid_t process) {
  std::vector<pid_t> all;
  std::error_code gone;
  for (const auto& thread :
       fs::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child; children >> child;) {
      all.push_back(child);
      for (const pid_t further : descendants(child)) all.push_back(further);
    }
  }
  return all;
}

struct Counts {
  std::atomic<int> right{0}, wrong{0}, tried_again{0}, not_once{0}, kills{0};
};

// One kernel until it has a verdict: an infrastructure error is never one, so who asked asks again.
void evaluate(const BackendInstance& backend, const TaskText& task, bool good, int number,
              Counts& counts) {
  std::string source = naive_of(task) + "// " + std::to_string(number) + "\n";
  if (!good) {
    const auto sum = source.rfind(" + ");
    source.replace(sum, 3, " - ");
  }
  constexpr int kMostAttempts = 100;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    try {
      const Outcome outcome =
          backend.evaluate(task, source, KRL_STAGE_COMPILE | KRL_STAGE_CHECK, 7);
      if (outcome.verdicts != 1) ++counts.not_once;
      if (outcome.verdict == Verdict::kInfraError) {
        ++counts.tried_again;
        continue;
      }
      const bool right = outcome.verdict == (good ? Verdict::kOk : Verdict::kWrongResult);
      ++(right ? counts.right : counts.wrong);
      if (!right) std::printf("%s: %s\n", good ? "good" : "broken", outcome.why.c_str());
      return;
    } catch (const Failure&) {
      ++counts.tried_again;
    }
  }
  ++counts.wrong;
  std::printf("no evaluation after %d attempts\n", kMostAttempts);
}

}  // namespace

bool survive_kills(int seconds, int milliseconds) {
  Counts counts;
  auto backend =
      std::make_unique<BackendInstance>("nvrtc", Table{{"cache", "off"}, {"sizes", "small"}});
  const TaskText& task = all_tasks().at("vector_add");
  evaluate(*backend, task, true, 0, counts);

  const auto end = Clock::now() + std::chrono::seconds(seconds);
  std::atomic<int> number{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(2u, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      while (Clock::now() < end) {
        const int mine = ++number;
        evaluate(*backend, task, mine % 2 == 0, mine, counts);
      }
    });
  }
  std::mt19937 random(1);
  while (Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    const auto processes = descendants(::getpid());
    if (processes.empty()) continue;
    if (::kill(processes[random() % processes.size()], SIGKILL) == 0) ++counts.kills;
  }
  const int meanwhile = counts.right + counts.wrong;
  for (std::thread& thread : threads) thread.join();
  backend.reset();
  const std::size_t left = descendants(::getpid()).size();
  std::printf(
      "kills: %d in %d s; %d kernels evaluated, %d of them meanwhile; %d wrongly, %d more than "
      "once; asked again %d times; %zu processes left\n",
      counts.kills.load(), seconds, number.load() + 1, meanwhile, counts.wrong.load(),
      counts.not_once.load(), counts.tried_again.load(), left);
  return counts.wrong == 0 && counts.not_once == 0 && counts.right == number + 1 && left == 0;
}

}  // namespace krl::bench
