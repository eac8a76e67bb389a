#include <fmt/format.h>

#include <array>
#include <future>
#include <kernelrl/testing/turn_builder.hpp>
#include <vector>

#include "core/plugin/reward.hpp"
#include "service/plugins/contract.hpp"

namespace krl::service {
namespace reward_contract {
namespace {

using testing::TurnBuilder;
using Scores = std::vector<double>;

TurnBuilder measured(TurnBuilder turn) {
  return turn.speedup(2, 1.9, 2.1)
      .kernel(32, 1024, 0.5)
      .value("shuffles", 5)
      .value("dram_bytes", 1e6);
}

// Turns of every verdict and form, with figures and without, first ones and second ones.
std::vector<TurnBuilder> all_turns() {
  std::vector<TurnBuilder> turns;
  for (std::uint32_t v = KRL_VERDICT_OK; v <= KRL_VERDICT_FLAGGED; ++v) {
    TurnBuilder turn;
    turn.verdict(static_cast<Verdict>(v)).prompt("p").answer("a").source("s").tokens(7);
    turns.push_back(turn);
    turns.push_back(measured(turn));
    turns.push_back(TurnBuilder(turn).previous(measured(TurnBuilder())));
  }
  for (std::uint32_t format = KRL_FORMAT_EXACT; format <= KRL_FORMAT_TRUNCATED; ++format)
    turns.push_back(TurnBuilder().verdict(Verdict::kFormatError).format(format));
  turns.push_back(TurnBuilder().answer(std::string(1 << 20, 'x')).tokens(1 << 16));
  turns.push_back(TurnBuilder().stop_reason(KRL_STOP_LENGTH).answer(std::string("\0\xff", 2)));
  turns.push_back(TurnBuilder().holdout_case(Verdict::kWrongResult).fresh_case(Verdict::kOk));
  return turns;
}

Result<Scores> scores_of(const Reward& reward, const std::vector<TurnBuilder>& turns) {
  std::vector<const krl_turn*> views;
  for (const TurnBuilder& turn : turns) views.push_back(turn.c());
  return reward.score(views);
}

Status scores(const Subject& subject) {
  KRL_ASSIGN(const Reward reward, subject.components.create<Reward>(subject.settings));
  for (const TurnBuilder& turn : all_turns()) KRL_TRY(scores_of(reward, {turn}));
  KRL_TRY(scores_of(reward, {}));
  return {};
}

Status starts(const Subject& subject) {
  KRL_ASSIGN(const Reward one, subject.components.create<Reward>(subject.settings));
  KRL_ASSIGN(const Reward other, subject.components.create<Reward>(subject.settings));
  return {};
}

// Compares with scores of the same turns.
Status equal(const Scores& first, const Scores& then, const char* how) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] != then[i])
      return broken(fmt::format("turn {} scored {} and, {}, {}", i, first[i], how, then[i]));
  }
  return {};
}

Status repeats(const Subject& subject) {
  KRL_ASSIGN(const Reward reward, subject.components.create<Reward>(subject.settings));
  std::vector<TurnBuilder> turns = all_turns();
  KRL_ASSIGN(const Scores together, scores_of(reward, turns));
  for (std::size_t i = turns.size(); i-- > 0;) {
    KRL_ASSIGN(const Scores alone, scores_of(reward, {turns[i]}));
    KRL_TRY(equal({together[i]}, alone, "on its own"));
  }
  return {};
}

Status overlaps(const Subject& subject) {
  KRL_ASSIGN(const Reward reward, subject.components.create<Reward>(subject.settings));
  KRL_ASSIGN(const Scores before, scores_of(reward, all_turns()));
  std::vector<std::future<Result<Scores>>> calls;
  for (int thread = 0; thread < 4; ++thread) {
    calls.push_back(std::async(std::launch::async, [&] {
      for (int again = 0; again < 50; ++again) {
        if (auto scores = scores_of(reward, all_turns()); !scores) return scores;
      }
      return scores_of(reward, all_turns());
    }));
  }
  for (auto& call : calls) {
    KRL_ASSIGN(const Scores beside, call.get());
    if (subject.declares(KRL_DETERMINISTIC)) KRL_TRY(equal(before, beside, "beside other calls"));
  }
  return {};
}

constexpr std::array kRules = {
    Rule{"starts", "instances are made, two at a time, and destroyed", starts},
    Rule{"scores", "every turn gets a finite score from -1e9 to 1e9, whatever is unknown of it",
         scores},
    Rule{"repeats", "a turn's score depends on nothing but the turn", repeats,
         unless_deterministic},
    Rule{"overlaps", "calls on one instance may overlap", overlaps, unless_thread_safe},
};

}  // namespace
}  // namespace reward_contract

std::span<const Rule> reward_rules() { return reward_contract::kRules; }

}  // namespace krl::service
