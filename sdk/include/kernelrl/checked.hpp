// A value, or where and why reading it from text failed. Used by the SDK's readers of small
// languages (expressions, launch directives, task definitions), which never throw on bad input.
// Header-only, C++17, no dependencies.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace krl {

// An error in a one-line text, and its 0-based byte offset.
struct TextError {
  std::size_t offset = 0;
  std::string message;
};

// A T, or an E that explains why there is none. Reading the absent side throws
// std::bad_variant_access.
template <class T, class E = TextError>
class [[nodiscard]] Checked {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  Checked(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Checked(E error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }

  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  const T* operator->() const { return &std::get<0>(state_); }

  const E& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, E> state_;
};

}  // namespace krl
