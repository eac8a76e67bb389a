#include "tokenizer/tokenizer_json.hpp"

#include <array>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>

#include "tokenizer/chat_format.hpp"

namespace krl::libtorch {
namespace {

using Json = nlohmann::ordered_json;

// GPT-2 writes bytes as printable characters: those that are printable in Latin-1 as themselves,
// the others, in order, as U+0100 and up.
const std::array<std::string, kByteCount>& byte_characters() {
  static const auto characters = [] {
    std::array<std::string, kByteCount> table;
    int next = 0x100;
    for (int byte = 0; byte < kByteCount; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
      const int code = printable ? byte : next++;
      table[static_cast<std::size_t>(byte)] =
          code < 0x80 ? std::string{static_cast<char>(code)}
                      : std::string{static_cast<char>(0xC0 | code >> 6),
                                    static_cast<char>(0x80 | (code & 0x3F))};
    }
    return table;
  }();
  return characters;
}

std::string token_text(const BytePairEncoding& encoding, TokenId token) {
  if (token < kSpecialCount) return std::string(kSpecialTokens[token]);
  std::string text;
  for (const char c : encoding.bytes(token))
    text += byte_characters()[static_cast<unsigned char>(c)];
  return text;
}

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

// Everything but vocabulary and merges, which is the same for every encoding of this kind.
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

[[noreturn]] void refuse(const std::string& origin, const std::string& why) {
  throw Failure(KRL_INVALID_ARGUMENT, origin + ": " + why);
}

// The document must agree with frame() in all that frame() has.
void check_frame(const Json& document, const std::string& origin) {
  const Json expected = frame();
  for (const auto& [key, value] : expected.items()) {
    if (key == "model") continue;
    if (!document.contains(key) || document[key] != value) {
      refuse(origin, "'" + key +
                         "' is not that of a byte-level encoding by lines, the only kind "
                         "that the from-scratch model knows");
    }
  }
  if (!document.contains("model") || !document["model"].is_object()) refuse(origin, "no 'model'");
  for (const auto& [key, value] : expected["model"].items()) {
    const Json& model = document["model"];
    if (!model.contains(key) || model[key] != value) refuse(origin, "unsupported model." + key);
  }
}

std::vector<BytePairEncoding::Merge> parse_merges(const Json& model, const std::string& origin) {
  std::unordered_map<std::string, TokenId> ids;
  const BytePairEncoding bytes({});
  for (TokenId id = kSpecialCount; id < kFirstMerge; ++id) ids[token_text(bytes, id)] = id;
  const auto merges = model.find("merges");
  if (merges == model.end() || !merges->is_array()) refuse(origin, "model.merges is missing");
  std::vector<BytePairEncoding::Merge> parsed;
  for (const Json& merge : *merges) {
    const std::string where = "merge " + std::to_string(parsed.size());
    if (!merge.is_array() || merge.size() != 2 || !merge[0].is_string() || !merge[1].is_string()) {
      refuse(origin, where + " is no pair of texts");
    }
    const std::string left = merge[0], right = merge[1];
    if (!ids.contains(left) || !ids.contains(right)) {
      refuse(origin, where + " joins a token that no earlier merge made");
    }
    const auto id = static_cast<TokenId>(kFirstMerge + parsed.size());
    if (!ids.emplace(left + right, id).second) refuse(origin, where + " makes a token twice");
    parsed.emplace_back(ids[left], ids[right]);
  }
  return parsed;
}

Json vocabulary_of(const BytePairEncoding& encoding) {
  Json vocabulary = Json::object();
  for (TokenId id = 0; id < encoding.vocabulary(); ++id) {
    vocabulary.push_back({token_text(encoding, id), id});
  }
  return vocabulary;
}

}  // namespace

std::string tokenizer_to_json(const BytePairEncoding& encoding) {
  Json document = frame();
  document["model"]["vocab"] = vocabulary_of(encoding);
  Json merges = Json::array();
  for (const auto& [left, right] : encoding.merges()) {
    merges.push_back({token_text(encoding, left), token_text(encoding, right)});
  }
  document["model"]["merges"] = std::move(merges);
  return document.dump(1) + "\n";
}

BytePairEncoding tokenizer_from_json(const std::string& text, const std::string& origin) {
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) refuse(origin, "not a JSON object");
  check_frame(document, origin);
  BytePairEncoding encoding(parse_merges(document["model"], origin));
  if (!document["model"].contains("vocab") ||
      document["model"]["vocab"] != vocabulary_of(encoding)) {
    refuse(origin, "model.vocab does not follow from model.merges");
  }
  return encoding;
}

std::string tokenizer_config_json(std::int64_t context) {
  const Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                       {"model_max_length", context},
                       {"clean_up_tokenization_spaces", false},
                       {"bos_token", kSpecialTokens[kBeginToken]},
                       {"eos_token", kSpecialTokens[kEndToken]},
                       {"pad_token", kSpecialTokens[kPadToken]},
                       {"chat_template", kChatTemplate}};
  return config.dump(2) + "\n";
}

}  // namespace krl::libtorch
