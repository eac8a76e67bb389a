#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"

#include <nlohmann/json.hpp>

#include "plugins/policies/tokenizer/byte_level.hpp"

namespace krl::policies {
namespace {

using Json = nlohmann::ordered_json;

Json special_tokens() {
  Json tokens = Json::array();
  for (TokenId id = 0; id < kSpecialCount; ++id) {
    tokens.push_back({{"id", id},
                      {"content", kSpecialTokens[id]},
                      {"single_word", false},
                      {"lstrip", false},
                      {"rstrip", false},
                      {"normalized", false},
                      {"special", true}});
  }
  return tokens;
}

// Everything but vocabulary and merges, which is the same for all.
Json frame() {
  const Json byte_level = {{"type", "ByteLevel"},
                           {"add_prefix_space", false},
                           {"trim_offsets", true},
                           {"use_regex", false}};
  const Json lines = {{"type", "Split"},
                      {"pattern", {{"Regex", "[^\\n]*\\n"}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", special_tokens()},
          {"normalizer", nullptr},
          {"pre_tokenizer",
           {{"type", "Sequence"}, {"pretokenizers", Json::array({lines, byte_level})}}},
          {"post_processor", nullptr},
          {"decoder", byte_level},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"ignore_merges", false}}}};
}

// Returns the file's spelling of each token, by id.
std::vector<std::string> spellings(std::span<const Merge> merges) {
  std::vector<std::string> spelled(std::begin(kSpecialTokens), std::end(kSpecialTokens));
  for (int byte = 0; byte < kByteCount; ++byte) {
    spelled.push_back(spell_bytes(std::string(1, static_cast<char>(byte))));
  }
  for (const Merge& merge : merges) {
    spelled.push_back(spelled[static_cast<std::size_t>(merge.left)] +
                      spelled[static_cast<std::size_t>(merge.right)]);
  }
  return spelled;
}

std::string tokenizer_json(std::span<const Merge> merges) {
  const std::vector<std::string> spelled = spellings(merges);
  Json::object_t vocabulary;
  for (std::size_t id = 0; id < spelled.size(); ++id) {
    // Appends without a search: no two keys are the same, and the map would look through all of
    // them each time.
    vocabulary.Json::object_t::Container::emplace_back(spelled[id], id);
  }
  Json pairs = Json::array();
  for (const Merge& merge : merges) {
    pairs.push_back({spelled[static_cast<std::size_t>(merge.left)],
                     spelled[static_cast<std::size_t>(merge.right)]});
  }
  Json document = frame();
  document["model"]["vocab"] = std::move(vocabulary);
  document["model"]["merges"] = std::move(pairs);
  return document.dump(1) + "\n";
}

std::string tokenizer_config_json(std::int64_t context) {
  const Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                       {"model_max_length", context},
                       {"clean_up_tokenization_spaces", false},
                       {"bos_token", kSpecialTokens[kBeginToken]},
                       {"eos_token", kSpecialTokens[kEndToken]},
                       {"pad_token", kSpecialTokens[kPadToken]},
                       {"chat_template", kScratchTemplate}};
  return config.dump(2) + "\n";
}

std::string generation_config_json() {
  const Json config = {
      {"bos_token_id", kBeginToken}, {"eos_token_id", kEndToken}, {"pad_token_id", kPadToken}};
  return config.dump(2) + "\n";
}

}  // namespace

Tokenizer scratch_tokenizer(std::span<const Merge> merges) {
  return Tokenizer::from_json(tokenizer_json(merges), "the tokenizer of a model from scratch");
}

ChatTokenizer scratch_chat_tokenizer(Tokenizer tokenizer, std::int64_t context) {
  std::vector<TokenizerFile> files = {{"tokenizer.json", tokenizer.json()},
                                      {"tokenizer_config.json", tokenizer_config_json(context)},
                                      {"generation_config.json", generation_config_json()}};
  return {std::move(tokenizer), ChatFamily::kScratch, {}, std::move(files)};
}

}  // namespace krl::policies
