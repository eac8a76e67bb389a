#include "plugins/policies/tokenizer/byte_level.hpp"

#include <array>

namespace krl::policies {
namespace {

constexpr int kFirstStandIn = 0x100;  // the characters of bytes that are not printable
constexpr int kStandIns = 68;

constexpr bool is_printable(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
}

struct Alphabet {
  std::array<int, 256> character;                           // indexed by byte
  std::array<int, kFirstStandIn + kStandIns> byte_of = {};  // indexed by character; -1: no byte
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet{};
  for (int& byte : alphabet.byte_of) byte = -1;
  int next = kFirstStandIn;
  for (int byte = 0; byte < 256; ++byte) {
    const int character = is_printable(byte) ? byte : next++;
    alphabet.character[static_cast<std::size_t>(byte)] = character;
    alphabet.byte_of[static_cast<std::size_t>(character)] = byte;
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::string spell_bytes(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const int character = kAlphabet.character[static_cast<unsigned char>(c)];
    if (character >= 0x80) text += static_cast<char>(0xC0 | character >> 6);
    text += static_cast<char>(character < 0x80 ? character : 0x80 | (character & 0x3F));
  }
  return text;
}

std::optional<std::string> spelled_bytes(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto character = static_cast<std::size_t>(static_cast<unsigned char>(text[i]));
    if (character >= 0x80) {
      // Two bytes of UTF-8 reach past the alphabet's end; three never belong to it.
      if (character >= 0xE0 || i + 1 == text.size()) return std::nullopt;
      character = (character & 0x1F) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3Fu);
    }
    if (character >= kAlphabet.byte_of.size() || kAlphabet.byte_of[character] < 0) {
      return std::nullopt;
    }
    bytes += static_cast<char>(kAlphabet.byte_of[character]);
  }
  return bytes;
}

}  // namespace krl::policies
