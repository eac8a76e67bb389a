#include "plugins/policies/tokenizer/tokenizer_definition.hpp"

#include <kernelrl/values.hpp>
#include <set>

#include "plugins/policies/tokenizer/byte_level.hpp"
#include "plugins/policies/tokenizer/json_node.hpp"
#include "plugins/policies/tokenizer/split_pattern.hpp"

namespace krl::policies {
namespace {

constexpr std::size_t kLongestAddedToken = 1024;  // bytes
constexpr std::size_t kLongestPattern = 4096;     // bytes

// The split of ByteLevel with use_regex: that of GPT-2.
constexpr std::string_view kGpt2Split =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

class Reader {
 public:
  TokenizerDefinition read(const JsonNode& file) {
    file.only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
               "post_processor", "decoder", "model"});
    for (const char* key : {"truncation", "padding"}) {
      if (const auto node = file.find(key)) node->refuse("is not supported; set it to null");
    }
    const JsonNode model = file.get("model");
    read_vocabulary(model.get("vocab"));
    if (const auto added = file.find("added_tokens")) read_added_tokens(*added);
    read_model(model);
    read_normalizer(file.find("normalizer"));
    read_pre_tokenizer(file.get("pre_tokenizer"));
    if (const auto processor = file.find("post_processor")) read_post_processor(*processor);
    read_decoder(file.get("decoder"));
    return std::move(definition_);
  }

 private:
  void read_vocabulary(const JsonNode& vocabulary) {
    if (vocabulary.object().empty()) vocabulary.refuse("is empty");
    for (const auto& [text, value] : vocabulary.object()) {
      const TokenId id =
          static_cast<TokenId>(JsonNode(value, vocabulary.path() + "." + text).integer(kLargestId));
      if (!ids_.emplace(text, id).second || !take_id(id)) {
        vocabulary.refuse("two tokens have the id " + std::to_string(id));
      }
      const auto spelled = spelled_bytes(text);
      if (spelled) definition_.pieces.emplace(*spelled, id);
      set_bytes(id, spelled.value_or(text));
    }
  }

  void read_added_tokens(const JsonNode& added) {
    for (const JsonNode& token : added.elements()) {
      token.only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
      for (const char* key : {"single_word", "lstrip", "rstrip", "normalized"}) {
        if (token.get(key).boolean()) token.get(key).refuse("is not supported");
      }
      read_added_token(token);
    }
  }

  void read_added_token(const JsonNode& token) {
    const auto id = static_cast<TokenId>(token.get("id").integer(kLargestId));
    const std::string& content = token.get("content").text();
    if (content.empty() || content.size() > kLongestAddedToken) {
      token.get("content").refuse("must have 1 to " + std::to_string(kLongestAddedToken) +
                                  " bytes");
    }
    if (!added_.insert(content).second) token.refuse("'" + content + "' is a duplicate");
    const auto known = ids_.find(content);
    if (known != ids_.end() && known->second != id) {
      token.get("id").refuse("the vocabulary has another id for '" + content + "'");
    }
    if (known == ids_.end() && !take_id(id))
      token.get("id").refuse("is already used by another token");
    const bool special = token.get("special").boolean();
    const auto spelled = spelled_bytes(content);
    // Then only the added token itself produces it.
    if (special && spelled) definition_.pieces.erase(*spelled);
    set_bytes(id, special ? "" : spelled.value_or(content));
    ids_[content] = id;
    definition_.added.push_back({id, content, special});
  }

  void read_model(const JsonNode& model) {
    model.only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
    if (model.get("type").text() != "BPE") {
      model.get("type").refuse("'" + model.get("type").text() + "' is not supported; BPE is");
    }
    if (const auto dropout = model.find("dropout"); dropout && dropout->value() != 0) {
      dropout->refuse("is not supported");
    }
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (const auto node = model.find(key); node && !node->text().empty()) {
        node->refuse("is not supported");
      }
    }
    if (model.boolean_or("byte_fallback", false))
      model.get("byte_fallback").refuse("is not supported");
    definition_.whole_pieces = model.boolean_or("ignore_merges", false);
    read_bytes(model);
    read_merges(model.get("merges"));
  }

  void read_bytes(const JsonNode& model) {
    bool complete = true;
    for (int byte = 0; byte < 256; ++byte) {
      const auto found = definition_.pieces.find(std::string(1, static_cast<char>(byte)));
      const bool known = found != definition_.pieces.end();
      definition_.byte_tokens[static_cast<std::size_t>(byte)] = known ? found->second : -1;
      complete = complete && known;
    }
    // If all bytes are in the vocabulary, nothing is unknown, and the token is never used.
    if (const auto unknown = model.find("unk_token"); unknown && !complete) {
      unknown->refuse("is not supported where the vocabulary lacks bytes");
    }
  }

  void read_merges(const JsonNode& merges) {
    std::set<std::pair<TokenId, TokenId>> pairs;
    const std::size_t count = merges.size_of_array();
    definition_.merges.reserve(count);
    for (std::size_t rank = 0; rank < count; ++rank) {
      const JsonNode merge = merges.element(rank);
      const auto [left, right] = merge_texts(merge);
      const TokenId left_id = piece(left, merge), right_id = piece(right, merge);
      if (!pairs.emplace(left_id, right_id).second) merge.refuse("is a duplicate");
      definition_.merges.push_back({left_id, right_id, piece(left + right, merge)});
    }
  }

  // A merge is written ["a", "b"] or "a b".
  static std::pair<std::string, std::string> merge_texts(const JsonNode& merge) {
    if (merge.value().is_array()) {
      if (merge.size_of_array() != 2) merge.refuse("must be two texts");
      return {merge.element(0).text(), merge.element(1).text()};
    }
    const std::string& text = merge.text();
    const std::size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
      merge.refuse("must be two texts with a space between");
    }
    return {text.substr(0, space), text.substr(space + 1)};
  }

  // The id of a token that a merge names.
  TokenId piece(const std::string& text, const JsonNode& merge) const {
    const auto spelled = spelled_bytes(text);
    const auto found = spelled ? definition_.pieces.find(*spelled) : definition_.pieces.end();
    if (found == definition_.pieces.end()) {
      merge.refuse("'" + text + "' is not a token of the vocabulary that texts can produce");
    }
    return found->second;
  }

  void read_normalizer(const std::optional<JsonNode>& normalizer) {
    if (!normalizer) return;
    const std::string& type = normalizer->get("type").text();
    if (type != "NFC") normalizer->refuse("'" + type + "' is not supported; NFC is");
    normalizer->only({"type"});
    definition_.nfc = true;
  }

  void read_pre_tokenizer(const JsonNode& pre_tokenizer) {
    if (pre_tokenizer.get("type").text() != "Sequence") return read_byte_level(pre_tokenizer);
    pre_tokenizer.only({"type", "pretokenizers"});
    const JsonNode steps = pre_tokenizer.get("pretokenizers");
    const std::size_t count = steps.size_of_array();
    if (count == 0) steps.refuse("is empty; ByteLevel must be the last");
    constexpr std::size_t kMostSteps = 16;  // each is a level of recursion
    if (count > kMostSteps) steps.refuse("has more than " + std::to_string(kMostSteps) + " steps");
    for (std::size_t i = 0; i + 1 < count; ++i) read_split(steps.element(i));
    read_byte_level(steps.element(count - 1));
  }

  void read_byte_level(const JsonNode& step) {
    const std::string& type = step.get("type").text();
    if (type != "ByteLevel") step.refuse("'" + type + "' is not supported here; ByteLevel is");
    step.only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    if (step.get("add_prefix_space").boolean())
      step.get("add_prefix_space").refuse("is not supported");
    if (step.boolean_or("use_regex", true)) {
      definition_.splits.push_back(translate_pattern(kGpt2Split));
    }
  }

  void read_split(const JsonNode& step) {
    const std::string& type = step.get("type").text();
    if (type == "Digits") {
      step.only({"type", "individual_digits"});
      const bool each = step.get("individual_digits").boolean();
      definition_.splits.push_back(digit_class() + (each ? "" : "+"));
      return;
    }
    if (type != "Split") step.refuse("'" + type + "' is not supported; Split and Digits are");
    step.only({"type", "pattern", "behavior", "invert"});
    if (step.get("invert").boolean()) step.get("invert").refuse("is not supported");
    if (step.get("behavior").text() != "Isolated") {
      step.get("behavior").refuse("'" + step.get("behavior").text() + "' is not supported");
    }
    step.get("pattern").only({"Regex"});
    definition_.splits.push_back(pattern(step.get("pattern").get("Regex")));
  }

  static std::string pattern(const JsonNode& regex) {
    if (regex.text().size() > kLongestPattern) {
      regex.refuse("has more than " + std::to_string(kLongestPattern) + " bytes");
    }
    try {
      std::string translated = translate_pattern(regex.text());
      SplitPattern compiled(
          translated);  // refuses patterns that do not compile, here where the key is known
      return translated;
    } catch (const Failure& failure) {
      regex.refuse(failure.what());
    }
  }

  void read_post_processor(const JsonNode& processor) {
    if (processor.get("type").text() != "Sequence") return read_post_step(processor);
    const JsonNode steps = processor.get("processors");
    for (const JsonNode& step : steps.elements()) read_post_step(step);
  }

  void read_post_step(const JsonNode& step) {
    const std::string& type = step.get("type").text();
    if (type == "TemplateProcessing") return read_template(step);
    if (type == "ByteLevel") return;  // it only moves offsets
    step.refuse("'" + type + "' is not supported here; ByteLevel and TemplateProcessing are");
  }

  void read_template(const JsonNode& processor) {
    if (!definition_.prefix.empty() || !definition_.suffix.empty()) {
      processor.refuse("is the second of its kind, which is not supported");
    }
    const JsonNode steps = processor.get("single");
    bool text_seen = false;
    for (const JsonNode& step : steps.elements()) {
      step.only({"SpecialToken", "Sequence"});
      if (step.find("Sequence")) {
        if (text_seen) step.refuse("is the second text, which is not supported");
        text_seen = true;
        continue;
      }
      const JsonNode name = step.get("SpecialToken").get("id");
      auto& side = text_seen ? definition_.suffix : definition_.prefix;
      const JsonNode ids = processor.get("special_tokens").get(name.text()).get("ids");
      for (const JsonNode& number : ids.elements()) {
        const auto id = static_cast<TokenId>(number.integer(kLargestId));
        if (!taken_.contains(id)) number.refuse("is not a token id");
        side.push_back(id);
      }
    }
    if (!text_seen) steps.refuse("has no place for the text");
  }

  void read_decoder(const JsonNode& decoder) {
    const std::string& type = decoder.get("type").text();
    if (type != "ByteLevel") decoder.refuse("'" + type + "' is not supported; ByteLevel is");
  }

  bool take_id(TokenId id) { return taken_.insert(id).second; }

  void set_bytes(TokenId id, std::string bytes) {
    const auto index = static_cast<std::size_t>(id);
    if (definition_.bytes.size() <= index) definition_.bytes.resize(index + 1);
    definition_.bytes[index] = std::move(bytes);
  }

  TokenizerDefinition definition_;
  std::unordered_map<std::string, TokenId> ids_;  // keyed by the file's spelling of the token
  std::set<TokenId> taken_;
  std::set<std::string> added_;
};

}  // namespace

TokenizerDefinition read_tokenizer_json(const std::string& text, const std::string& origin) {
  const nlohmann::json document = parse_json(text, origin);
  return Reader().read(JsonNode(document, origin));
}

}  // namespace krl::policies
