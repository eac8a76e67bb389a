// Our token ids against those of the `tokenizers` library, which tokenizer_reference.py asks:
// code, prose, every character of the planes in use, emoji, control characters and bytes that are
// no UTF-8. Skipped where that Python package is missing; scripts/setup.sh --tests installs it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "plugins/policies/tokenizer/tokenizer.hpp"
#include "plugins/policies/tokenizer/utf8.hpp"
#include "tests/unit/policies/temporary_directory.hpp"
#include "tests/unit/policies/tokenizer/library_ids.hpp"

namespace krl::policies {
namespace {

namespace fs = std::filesystem;
using krl::test::contents;
using krl::test::expect_same_ids;
using krl::test::Records;
using Tokens = std::vector<TokenId>;

constexpr int kPackageMissing = 77;
constexpr std::size_t kLeastLines = 200'000;
constexpr std::size_t kLeastLinesWithNames = 20'000;

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
