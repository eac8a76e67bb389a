// The small values of the boundary in C++: texts, spans, the error that a plugin throws.
#pragma once

#include <kernelrl/abi.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace krl {

inline constexpr krl_str to_c(std::string_view text) noexcept { return {text.data(), text.size()}; }
inline constexpr std::string_view view(krl_str text) noexcept {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}
inline std::string copy(krl_str text) { return std::string(view(text)); }

// A borrowed array; replaces std::span in C++17.
template <class T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(const T* data, std::size_t size) : data_(data), size_(size) {}
  template <class Container>  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Span(const Container& c) : data_(c.data()), size_(c.size()) {}

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

inline Span<std::int32_t> span(krl_i32s s) { return {s.data, s.size}; }
inline Span<float> span(krl_f32s s) { return {s.data, s.size}; }
inline Span<double> span(krl_f64s s) { return {s.data, s.size}; }
inline krl_i32s i32s(Span<std::int32_t> s) { return {s.data(), s.size()}; }
inline krl_f32s f32s(Span<float> s) { return {s.data(), s.size()}; }
inline krl_f64s f64s(Span<double> s) { return {s.data(), s.size()}; }

// An array of pointers to C structs, seen as an array of `View`s: `View` is constructed from the
// pointer.
template <class View, class C>
class Views {
 public:
  class Iterator {
   public:
    explicit Iterator(const C* const* at) : at_(at) {}
    View operator*() const { return View(*at_); }
    Iterator& operator++() { return ++at_, *this; }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const C* const* at_;
  };

  Views(const C* const* data, std::size_t size) : data_(data), size_(size) {}
  Iterator begin() const { return Iterator(data_); }
  Iterator end() const { return Iterator(data_ + size_); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  View operator[](std::size_t i) const { return View(data_[i]); }

 private:
  const C* const* data_;
  std::size_t size_;
};

// The other way: structs, and the array of pointers to them that the boundary's functions take.
// Movable, not copyable: the pointers lead to the structs.
template <class C>
class Rows {
 public:
  Rows() = default;
  // One struct for each of `values`, made by `view_of_one`; it usually borrows from the value.
  template <class Values, class View>
  Rows(const Values& values, const View& view_of_one) {
    rows_.reserve(values.size());
    for (const auto& value : values) rows_.push_back(view_of_one(value));
    for (const C& row : rows_) pointers_.push_back(&row);
  }
  Rows(Rows&&) noexcept = default;
  Rows& operator=(Rows&&) noexcept = default;

  const C* const* data() const { return pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

 private:
  std::vector<C> rows_;
  std::vector<const C*> pointers_;
};

// The exception with which a plugin fails a call; the host gets the code and the message. Any other
// exception becomes KRL_INTERNAL.
class Failure : public std::runtime_error {
 public:
  Failure(krl_status code, const std::string& message) : std::runtime_error(message), code_(code) {}
  krl_status code() const noexcept { return code_; }

 private:
  krl_status code_;
};

[[noreturn]] inline void invalid_argument(const std::string& message) {
  throw Failure(KRL_INVALID_ARGUMENT, message);
}

// Passes on the status of a sink or of the host.
inline void check(krl_status status) {
  if (status != KRL_OK)
    throw Failure(status, status == KRL_CANCELLED ? "cancelled" : "the host refused a result");
}

}  // namespace krl
