// SHA-256 over a sequence of texts. Each is preceded by its length, so that different sequences
// never give the same digest. Used by one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace krl::files {

class Digest {
 public:
  static constexpr std::size_t kBytes = 32;

  Digest();
  Digest& add(std::string_view text);
  Digest& add(std::uint64_t number);
  // Ends it: 64 hexadecimal digits.
  std::string hex();
  std::array<unsigned char, kBytes> bytes();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

// The digest of one text alone, without its length; as 64 hexadecimal digits.
std::array<unsigned char, Digest::kBytes> sha256(std::string_view text);
std::string sha256_hex(std::string_view text);

}  // namespace krl::files
