// What tokenizer_reference.py and its like write: texts with their ids by the `tokenizers` library,
// and comparing ours with them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/policies/tokenizer/merge_table.hpp"

namespace krl::test {

using Tokens = std::vector<policies::TokenId>;

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Reads such a file.
class Records {
 public:
  explicit Records(const std::filesystem::path& path) : data_(contents(path)) {}

  bool done() const { return at_ == data_.size(); }

  std::uint32_t number() {
    std::uint32_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view bytes() { return take(number()); }

  Tokens tokens() {
    Tokens ids(number());
    for (policies::TokenId& id : ids) id = static_cast<policies::TokenId>(number());
    return ids;
  }

 private:
  std::string_view take(std::size_t size) {
    const auto part = std::string_view(data_).substr(at_, size);
    if (part.size() != size) throw std::runtime_error("a record is cut off");
    at_ += size;
    return part;
  }

  std::string data_;
  std::size_t at_ = 0;
};

inline std::string readable(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes.substr(0, 300)) {
    char code[8];
    std::snprintf(code, sizeof code, "\\x%02X", static_cast<unsigned char>(c));
    text += c >= ' ' && c < 0x7F ? std::string(1, c) : code;
  }
  return text + "\"";
}

// Compares `encode` of each line with its ids in the file; at least `least` lines.
template <class Encode>
void expect_same_ids(const std::filesystem::path& expected, std::size_t least, Encode&& encode) {
  Records records(expected);
  std::size_t compared = 0, different = 0;
  while (!records.done()) {
    const std::string_view line = records.bytes();
    const Tokens wanted = records.tokens(), got = encode(line);
    ++compared;
    if (got == wanted) continue;
    ++different;
    if (different <= 10) {
      ADD_FAILURE() << readable(line) << "\n  ours    " << ::testing::PrintToString(got)
                    << "\n  library " << ::testing::PrintToString(wanted);
    }
  }
  EXPECT_EQ(different, 0u);
  EXPECT_GE(compared, least);
  std::printf("%s: %zu lines compared, %zu different\n", expected.filename().c_str(), compared,
              different);
}

}  // namespace krl::test
