// What a reward in Python costs: turns of a usual size, one at a time and in batches of 128.
//   build/release/bench/python_reward_bench
#include <chrono>
#include <cstdio>
#include <kernelrl/testing.hpp>
#include <string>
#include <vector>

namespace {

using krl::testing::TurnBuilder;

// A turn with a prompt of 4 kB, an answer of 2 kB and 500 tokens, and nine cases.
TurnBuilder usual_turn() {
  TurnBuilder turn;
  turn.prompt(std::string(4096, 'p')).answer(std::string(2048, 'a')).source(std::string(1800, 's'));
  turn.tokens(500).kernel(32).value("dram_bytes", 1e6);
  for (int i = 0; i < 9; ++i) turn.speedup(2, 1.9, 2.1);
  return turn;
}

// Milliseconds a turn, over at least 2 s.
double cost(const krl::testing::RewardInstance& reward, std::size_t batch) {
  const std::vector<TurnBuilder> turns(batch, usual_turn());
  reward.scores(turns);
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::size_t scored = 0;
  double ms = 0;
  while (ms < 2000) {
    reward.scores(turns);
    scored += batch;
    ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }
  return ms / static_cast<double>(scored);
}

}  // namespace

int main() {
  const krl::testing::Plugin plugin(KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/python.krl.so");
  const auto reward = plugin.reward(
      "python", {{"file", KERNELRL_SOURCE_DIR "/sdk/templates/reward/python/new_component.py"},
                 {"object", "score"},
                 {"executable", ""},
                 {"options", krl::testing::Value::json("{}")}});
  for (const std::size_t batch : {1, 8, 128})
    std::printf("%3zu turns a call: %.3f ms a turn\n", batch, cost(reward, batch));
}
