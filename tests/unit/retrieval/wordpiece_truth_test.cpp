// Our ids against those of the `tokenizers` library, which wordpiece_reference.py asks: code,
// prose, every character of the planes in use, long words, accents, control characters, names of
// special tokens and bytes that are no UTF-8. Skipped where that Python package is missing;
// scripts/setup.sh --tests installs it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "plugins/retrieval/wordpiece/bert_tokenizer.hpp"
#include "tests/unit/policies/temporary_directory.hpp"
#include "tests/unit/policies/tokenizer/library_ids.hpp"

namespace krl::retrieval {
namespace {

namespace files_of = std::filesystem;

constexpr std::size_t kAll = 1 << 30;

void compare_wordpiece(const std::string& kind, const Normalisation& steps,
                       const std::string& file = "") {
  constexpr int kNoPackage = 77;
  constexpr std::size_t kLeastTexts = 300'000, kLeastShortTexts = 30'000;
  const krl::test::TemporaryDirectory directory;
  const files_of::path& out = directory.path();
  const std::string command = "PYTHONPATH='" KERNELRL_SOURCE_DIR
                              "/.deps/python' python3 '" KERNELRL_SOURCE_DIR
                              "/tests/unit/retrieval/wordpiece_reference.py' " +
                              kind + " '" KERNELRL_SOURCE_DIR "' '" + out.string() + "' " + file;
  const int status = std::system(command.c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoPackage) {
    GTEST_SKIP() << "no Python package `tokenizers`; scripts/setup.sh --tests installs it";
  }
  ASSERT_EQ(status, 0) << command;

  const auto tokenizer =
      BertTokenizer::from_json(krl::test::contents(out / "tokenizer.json"), "tokenizer.json");
  krl::test::expect_same_ids(out / "text.bin", kLeastTexts,
                             [&](std::string_view text) { return tokenizer.encode(text, kAll); });
  const auto by_vocabulary =
      BertTokenizer::from_vocabulary(krl::test::contents(out / "vocab.txt"), "vocab.txt", steps);
  krl::test::expect_same_ids(out / "short.bin", kLeastShortTexts,
                             [&](std::string_view text) { return by_vocabulary.encode(text, 16); });
}

TEST(WordPieceTruth, Uncased) { compare_wordpiece("uncased", {}); }

TEST(WordPieceTruth, Cased) {
  Normalisation steps;
  steps.lower_case = steps.strip_accents = false;
  compare_wordpiece("cased", steps);
}

TEST(WordPieceTruth, MiniLM) {
  const char* named = std::getenv("KERNELRL_MINILM");
  const files_of::path model = named != nullptr ? named : KERNELRL_DEPS "/models/minilm";
  if (!files_of::exists(model / "tokenizer.json")) {
    GTEST_SKIP() << "no model in " << model << "; make one by scripts/get_minilm.sh, or name it "
                 << "in KERNELRL_MINILM";
  }
  compare_wordpiece("file", {}, "'" + (model / "tokenizer.json").string() + "'");
}

}  // namespace
}  // namespace krl::retrieval
