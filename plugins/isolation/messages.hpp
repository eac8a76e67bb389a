// Values of the boundary in messages between kernelrl and kernelrl-component, which are of one
// build: a value is the array of its fields in the order of each_field. Pure.
#pragma once

#include <kernelrl/evaluation_json.hpp>
#include <kernelrl/policy_values.hpp>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "plugins/isolation/values.hpp"

namespace krl::isolation {

// The number of the listening socket in kernelrl-component.
inline constexpr int kListener = 3;

template <class V>
nlohmann::json encode(const V& value);
template <class V>
V decode(const nlohmann::json& message);

namespace detail {

template <class V>
struct Encode {
  const V& value;
  nlohmann::json& message;

  void operator()(bool V::*field, std::uint32_t) const { message.push_back(value.*field); }
  template <class F, class CF>
  void operator()(F V::*field, CF V::C::*) const {
    if constexpr (std::is_pointer_v<CF>) {
      message.push_back(encode(value.*field));
    } else {
      message.push_back(value.*field);
    }
  }
  template <class Item, class CF, class N>
  void operator()(std::vector<Item> V::*field, CF V::C::*, N V::C::*) const {
    nlohmann::json items = nlohmann::json::array();
    for (const Item& item : value.*field) {
      if constexpr (std::is_same_v<Item, std::string>) {
        items.push_back(item);
      } else {
        items.push_back(encode(item));
      }
    }
    message.push_back(std::move(items));
  }
};

template <class V>
struct Decode {
  V& value;
  const nlohmann::json& message;
  std::size_t& at;

  void operator()(bool V::*field, std::uint32_t) const { message.at(at++).get_to(value.*field); }
  template <class F, class CF>
  void operator()(F V::*field, CF V::C::*) const {
    if constexpr (std::is_pointer_v<CF>) {
      value.*field = decode<F>(message.at(at++));
    } else {
      message.at(at++).get_to(value.*field);
    }
  }
  template <class Item, class CF, class N>
  void operator()(std::vector<Item> V::*field, CF V::C::*, N V::C::*) const {
    for (const nlohmann::json& item : message.at(at++)) {
      if constexpr (std::is_same_v<Item, std::string>) {
        (value.*field).push_back(item.get<std::string>());
      } else {
        (value.*field).push_back(decode<Item>(item));
      }
    }
  }
};

}  // namespace detail

template <class V>
nlohmann::json encode(const V& value) {
  nlohmann::json message = nlohmann::json::array();
  V::each_field(detail::Encode<V>{value, message});
  return message;
}

// Throws a std::exception if the message is not that of a V.
template <class V>
V decode(const nlohmann::json& message) {
  V value;
  std::size_t at = 0;
  V::each_field(detail::Decode<V>{value, message, at});
  return value;
}

inline nlohmann::json encode(const TurnValue& turn) {
  return nlohmann::json::array({encode(turn.texts), nlohmann::json(turn.evaluation),
                                turn.previous ? encode(*turn.previous) : nlohmann::json()});
}
template <>
inline TurnValue decode(const nlohmann::json& message) {
  TurnValue turn{decode<TurnTexts>(message.at(0)), message.at(1).get<Evaluation>(), nullptr};
  if (!message.at(2).is_null())
    turn.previous = std::make_unique<TurnValue>(decode<TurnValue>(message.at(2)));
  return turn;
}

// The message of what a struct of abi.h borrows.
template <class V>
nlohmann::json encode_c(const typename V::C& c) {
  return encode(value_of<V>(c));
}
inline nlohmann::json encode_c(const krl_turn& turn) {
  return nlohmann::json::array(
      {encode_c<TurnTexts>(turn), nlohmann::json(from_c(*turn.evaluation)),
       turn.previous != nullptr ? encode_c(*turn.previous) : nlohmann::json()});
}

template <class V>
std::vector<V> decode_all(const nlohmann::json& messages) {
  std::vector<V> values;
  for (const nlohmann::json& message : messages) values.push_back(decode<V>(message));
  return values;
}

}  // namespace krl::isolation
