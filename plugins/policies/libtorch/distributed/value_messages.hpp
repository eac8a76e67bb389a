// Values of the boundary in messages between ranks, field by field as their lists have them.
#pragma once

#include <kernelrl/policy_values.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "plugins/policies/libtorch/distributed/message.hpp"

namespace krl::libtorch {

template <class V>
void write_value(MessageWriter& message, const V& value) {
  if constexpr (std::is_arithmetic_v<V>) {
    message.number(value);
  } else if constexpr (std::is_same_v<V, std::string>) {
    message.text(value);
  } else {
    V::each_field([&](auto field, auto...) { write_value(message, value.*field); });
  }
}

template <class Item>
void write_value(MessageWriter& message, const std::vector<Item>& items) {
  if constexpr (std::is_arithmetic_v<Item>) {
    message.array(Span<Item>(items));
  } else {
    message.number(static_cast<std::uint64_t>(items.size()));
    for (const Item& item : items) write_value(message, item);
  }
}

// Throws as MessageReader does.
template <class V>
V read_value(MessageReader& message);

namespace detail {

template <class V>
struct ValueReader {
  static V read(MessageReader& message) {
    if constexpr (std::is_arithmetic_v<V>) {
      return message.number<V>();
    } else if constexpr (std::is_same_v<V, std::string>) {
      return message.text();
    } else {
      V value;
      V::each_field([&](auto field, auto...) {
        using Field = std::remove_reference_t<decltype(value.*field)>;
        value.*field = ValueReader<Field>::read(message);
      });
      return value;
    }
  }
};

template <class Item>
struct ValueReader<std::vector<Item>> {
  static std::vector<Item> read(MessageReader& message) {
    if constexpr (std::is_arithmetic_v<Item>) {
      return message.array<Item>();
    } else {
      std::vector<Item> items;
      for (std::size_t n = message.count(1); n > 0; --n)
        items.push_back(ValueReader<Item>::read(message));
      return items;
    }
  }
};

}  // namespace detail

template <class V>
V read_value(MessageReader& message) {
  return detail::ValueReader<V>::read(message);
}

}  // namespace krl::libtorch
