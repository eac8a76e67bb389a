// A reward term: scores turns.
#pragma once

#include <kernelrl/component.hpp>
#include <kernelrl/views.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace krl {

using Turns = Views<Turn, krl_turn>;

// Derive, override one of the two, and name the signals that the term reads:
//   static constexpr std::uint32_t needs = KRL_SIGNAL_TIME;   // none if absent
// Scores must be finite. Called only for turns that satisfy the term's `when`.
struct Reward : Component {
  virtual double score(const Turn&) {
    throw Failure(KRL_UNIMPLEMENTED, "this reward overrides neither score nor score_all");
  }
  // Returns one score for each turn. Override it for work that takes long or that several turns
  // share, such as a request to a server.
  virtual std::vector<double> score_all(const Turns& turns, const Context&) {
    std::vector<double> scores;
    for (const Turn turn : turns) scores.push_back(score(turn));
    return scores;
  }
};

namespace detail {

template <class T, class = void>
struct NeedsOf {
  static constexpr std::uint32_t value = 0;
};
template <class T>
struct NeedsOf<T, std::void_t<decltype(T::needs)>> {
  static constexpr std::uint32_t value = T::needs;
};

inline krl_status score(void* self, const krl_call* context, const krl_turn* const* turns,
                        std::size_t n, double* out) noexcept {
  return guard(context, [&] {
    const auto scores = static_cast<Reward*>(self)->score_all(Turns(turns, n), Context(context));
    if (scores.size() != n) {
      throw Failure(KRL_INTERNAL, "score_all gave " + std::to_string(scores.size()) +
                                      " scores for " + std::to_string(n) + " turns");
    }
    std::copy(scores.begin(), scores.end(), out);
  });
}

}  // namespace detail

template <class T>
const krl_component* reward(const char* id, const char* summary) {
  static const krl_reward_v table{sizeof(krl_reward_v), detail::NeedsOf<T>::value, detail::score};
  return detail::component<T, Reward>(KRL_REWARD, &table, id, summary);
}

}  // namespace krl
