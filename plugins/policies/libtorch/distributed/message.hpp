// The bytes of messages between ranks: numbers, texts and arrays one after the other, in native
// byte order (all ranks run the same program). Not thread-safe.
#pragma once

#include <cstdint>
#include <cstring>
#include <kernelrl/values.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace krl::libtorch {

class MessageWriter {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    append(&value, sizeof value);
  }
  void text(std::string_view text) {
    number(static_cast<std::uint64_t>(text.size()));
    append(text.data(), text.size());
  }
  template <class T>
  void array(Span<T> values) {
    static_assert(std::is_arithmetic_v<T>);
    number(static_cast<std::uint64_t>(values.size()));
    append(values.data(), values.size() * sizeof(T));
  }

  std::string take() && { return std::move(bytes_); }

 private:
  void append(const void* data, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
  }

  std::string bytes_;
};

// Reads a writer's values, in the same order. Throws krl::Failure (KRL_INTERNAL) when the message
// ends too early or is not at its end where it should be.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(count(1))); }
  template <class T>
  std::vector<T> array() {
    static_assert(std::is_arithmetic_v<T>);
    const std::string_view bytes = take(count(sizeof(T)) * sizeof(T));
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  // Reads how many items of at least `least_bytes` each follow.
  std::size_t count(std::size_t least_bytes) {
    const auto n = number<std::uint64_t>();
    if (n > rest_.size() / least_bytes) cut_short();
    return static_cast<std::size_t>(n);
  }

  void expect_end() const {
    if (!rest_.empty()) {
      throw Failure(KRL_INTERNAL, "a message of another rank has " + std::to_string(rest_.size()) +
                                      " bytes too many; do all ranks run the same version?");
    }
  }

 private:
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) cut_short();
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  [[noreturn]] static void cut_short() {
    throw Failure(KRL_INTERNAL,
                  "a message of another rank is cut short; do all ranks run the same version?");
  }

  std::string_view rest_;
};

}  // namespace krl::libtorch
