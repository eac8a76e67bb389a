// Small tokenizer.json documents for tests: a byte-level encoding with merges for code and blank
// lines, split as Qwen's is, with special tokens of any names.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"

namespace krl::test {

inline constexpr const char* kQwenSplit =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

inline nlohmann::json split_step(const std::string& pattern) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", pattern}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

inline nlohmann::json byte_level_step(bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", use_regex}};
}

inline nlohmann::json added_token(policies::TokenId id, const std::string& content, bool special) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

// Ids as scratch_tokenizer() gives them; `special` follow them, `added` are not special.
inline nlohmann::json tokenizer_document(const std::vector<std::string>& special,
                                         const std::vector<std::string>& added = {}) {
  constexpr std::string_view kTexts[] = {
      "assistant\n\nint i = 0;\n\n", "user\n\nfloat x = 1.0f;\n\n", "assistant\n\nint i = 0;\n\n",
      "user\n\nhello hello\n",       "system\nimage |> |>\n",       "<think>\n\n</think>\n\n"};
  auto document = nlohmann::json::parse(
      policies::scratch_tokenizer(policies::learn_merges(kTexts, 320)).json());
  document["pre_tokenizer"]["pretokenizers"] = {split_step(kQwenSplit), byte_level_step(false)};
  auto id = static_cast<policies::TokenId>(document["model"]["vocab"].size());
  for (const std::string& name : special) {
    document["added_tokens"].push_back(added_token(id++, name, true));
  }
  for (const std::string& name : added) {
    document["added_tokens"].push_back(added_token(id++, name, false));
  }
  return document;
}

}  // namespace krl::test
