// A file descriptor with an owner, and complete reads and writes of one. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace krl::files {

// Closes its descriptor when it dies. A moved-from object owns nothing.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void reset();
  // Gives it up without closing it.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

// Reads up to the end, or up to an error.
std::string read_all(int descriptor);

// False if not all could be written; errno says why.
bool write_all(int descriptor, std::string_view bytes);

}  // namespace krl::files
