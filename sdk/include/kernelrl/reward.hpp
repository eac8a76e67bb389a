// A reward term: scores one turn.
#pragma once

#include <kernelrl/component.hpp>
#include <kernelrl/views.hpp>

namespace krl {

// Derive, override `score`, and name the signals that the term reads:
//   static constexpr std::uint32_t needs = KRL_SIGNAL_TIME;   // none if absent
struct Reward : Component {
  // Must be finite. Called only for turns that satisfy the term's `when`.
  virtual double score(const Turn& turn) = 0;
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
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Reward*>(self)->score(Turn(turns[i]));
  });
}

}  // namespace detail

template <class T>
const krl_component* reward(const char* id, const char* summary) {
  static const krl_reward_v table{sizeof(krl_reward_v), detail::NeedsOf<T>::value, detail::score};
  return detail::component<T, Reward>(KRL_REWARD, &table, id, summary);
}

}  // namespace krl
