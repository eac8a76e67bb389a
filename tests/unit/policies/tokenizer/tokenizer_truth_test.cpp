// Our token ids against those of the `tokenizers` library, which tokenizer_reference.py asks:
// code, prose, every character of the planes in use, emoji, control characters and bytes that are
// no UTF-8. Skipped where that Python package is missing; scripts/setup.sh --tests installs it.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "plugins/policies/tokenizer/tokenizer.hpp"
#include "plugins/policies/tokenizer/utf8.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::policies {
namespace {

namespace fs = std::filesystem;
using Tokens = std::vector<TokenId>;

constexpr int kPackageMissing = 77;
constexpr std::size_t kLeastLines = 200'000;
constexpr std::size_t kLeastLinesWithNames = 20'000;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Reads what tokenizer_reference.py wrote.
class Records {
 public:
  explicit Records(const fs::path& path) : data_(contents(path)) {}

  bool done() const { return at_ == data_.size(); }

  std::uint32_t number() {
    std::uint32_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view bytes() { return take(number()); }

  Tokens tokens() {
    Tokens ids(number());
    for (TokenId& id : ids) id = static_cast<TokenId>(number());
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

std::string readable(std::string_view bytes) {
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
void expect_same_ids(const fs::path& expected, std::size_t least, Encode&& encode) {
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

void expect_same_texts(const fs::path& expected, const Tokenizer& tokenizer) {
  Records records(expected);
  while (!records.done()) {
    const std::string_view text = records.bytes();
    const Tokens ids = records.tokens();
    EXPECT_EQ(to_utf8(tokenizer.decode(ids)), text) << ::testing::PrintToString(ids);
  }
}

void compare_with_library(const std::string& kind, const std::string& file = "") {
  const krl::test::TemporaryDirectory directory;
  const fs::path& out = directory.path();
  const std::string command = "PYTHONPATH='" KERNELRL_SOURCE_DIR
                              "/.deps/python' python3 '" KERNELRL_SOURCE_DIR
                              "/tests/unit/policies/tokenizer/tokenizer_reference.py' " +
                              kind + " '" KERNELRL_SOURCE_DIR "' '" + out.string() + "' " + file;
  const int status = std::system(command.c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == kPackageMissing) {
    GTEST_SKIP() << "no Python package `tokenizers`; scripts/setup.sh --tests installs it";
  }
  ASSERT_EQ(status, 0) << command;

  const auto tokenizer =
      Tokenizer::from_json(contents(out / "tokenizer.json"), kind + "/tokenizer.json");
  expect_same_ids(out / "text.bin", kLeastLines,
                  [&](std::string_view line) { return tokenizer.encode(line); });
  expect_same_ids(out / "tokens.bin", kLeastLinesWithNames, [&](std::string_view line) {
    return tokenizer.with_special_tokens(tokenizer.encode(line, SpecialNames::kTokens));
  });
  expect_same_texts(out / "decoded.bin", tokenizer);
}

TEST(TokenizerTruth, Llama3) { compare_with_library("llama3"); }

TEST(TokenizerTruth, Qwen) { compare_with_library("qwen"); }

TEST(TokenizerTruth, SmolLM2) {
  const char* named = std::getenv("KERNELRL_SMOLLM2");
  const fs::path model = named != nullptr ? named : KERNELRL_SOURCE_DIR "/.deps/models/smollm2";
  if (!fs::exists(model / "tokenizer.json")) {
    GTEST_SKIP() << "no model in " << model << "; make one by scripts/get_smollm2.sh, or name it "
                 << "in KERNELRL_SMOLLM2";
  }
  compare_with_library("file", "'" + (model / "tokenizer.json").string() + "'");
}

}  // namespace
}  // namespace krl::policies
