#include "plugins/retrieval/wordpiece/tokenizer_files.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>

#include "plugins/policies/tokenizer/json_node.hpp"

namespace krl::retrieval {
namespace {

using policies::JsonNode;
using policies::kLargestId;

constexpr std::int64_t kLongestWord = 10'000;

// REQUIRES: `node` has a `type`.
void expect_type(const JsonNode& node, const std::string& type) {
  const JsonNode found = node.get("type");
  if (found.text() != type) found.refuse("'" + found.text() + "' is not supported, only " + type);
}

void expect_false(const JsonNode& node, const std::string& key) {
  if (node.boolean_or(key, false)) node.get(key).refuse("true is not supported");
}

TokenId id_of(const BertTokenizerDefinition& definition, const JsonNode& name) {
  const auto found = definition.vocabulary.find(name.text());
  if (found == definition.vocabulary.end())
    name.refuse("'" + name.text() + "' is not in the vocabulary");
  return found->second;
}

void read_model(const JsonNode& model, BertTokenizerDefinition& definition) {
  expect_type(model, "WordPiece");
  const JsonNode vocabulary = model.get("vocab");
  std::vector<bool> used;
  for (const auto& [text, value] : vocabulary.object()) {
    const JsonNode entry(value, vocabulary.path() + "['" + text + "']");
    const auto id = static_cast<std::size_t>(entry.integer(kLargestId));
    if (id >= used.size()) used.resize(id + 1);
    if (used[id]) entry.refuse("another token has this id");
    used[id] = true;
    definition.vocabulary.emplace(text, static_cast<TokenId>(id));
  }
  definition.unknown = id_of(definition, model.get("unk_token"));
  definition.prefix = model.get("continuing_subword_prefix").text();
  definition.longest_word =
      static_cast<std::size_t>(model.get("max_input_chars_per_word").integer(kLongestWord));
}

Normalisation read_normalizer(const JsonNode& node) {
  expect_type(node, "BertNormalizer");
  Normalisation steps;
  steps.clean = node.get("clean_text").boolean();
  steps.space_ideographs = node.get("handle_chinese_chars").boolean();
  steps.lower_case = node.get("lowercase").boolean();
  steps.strip_accents = node.boolean_or("strip_accents", steps.lower_case);
  return steps;
}

void read_added_tokens(const JsonNode& tokens, BertTokenizerDefinition& definition) {
  for (const JsonNode& token : tokens.elements()) {
    for (const char* key : {"single_word", "lstrip", "rstrip", "normalized"}) {
      expect_false(token, key);
    }
    const JsonNode content = token.get("content");
    if (content.text().empty()) content.refuse("must not be empty");
    const auto id = static_cast<TokenId>(token.get("id").integer(kLargestId));
    const auto known = definition.vocabulary.try_emplace(content.text(), id).first;
    if (known->second != id) token.refuse("the vocabulary has another id for this token");
    const auto same = [&](const auto& other) { return other.content == content.text(); };
    if (std::any_of(definition.added.begin(), definition.added.end(), same)) {
      content.refuse("'" + content.text() + "' is there twice");
    }
    definition.added.push_back({id, content.text(), token.boolean_or("special", false)});
  }
}

// ["[CLS]", 101] in BertProcessing.
TokenId read_named_id(const JsonNode& pair, const BertTokenizerDefinition& definition) {
  if (pair.size_of_array() != 2) pair.refuse("must be a token and its id");
  const TokenId id = id_of(definition, pair.element(0));
  if (pair.element(1).integer(kLargestId) != id) pair.refuse("the vocabulary has another id");
  return id;
}

void read_template(const JsonNode& parts, BertTokenizerDefinition& definition) {
  bool text_seen = false;
  for (const JsonNode& part : parts.elements()) {
    if (const auto token = part.find("SpecialToken")) {
      auto& side = text_seen ? definition.after : definition.before;
      side.push_back(id_of(definition, token->get("id")));
    } else if (text_seen || !part.find("Sequence")) {
      part.refuse("must be a special token, or once the text");
    } else {
      text_seen = true;
    }
  }
  if (!text_seen) parts.refuse("the text is missing");
}

void read_processor(const JsonNode& node, BertTokenizerDefinition& definition) {
  if (node.get("type").text() == "BertProcessing") {
    definition.before = {read_named_id(node.get("cls"), definition)};
    definition.after = {read_named_id(node.get("sep"), definition)};
  } else {
    expect_type(node, "TemplateProcessing");
    read_template(node.get("single"), definition);
  }
  if (definition.before.size() != 1 || definition.after.size() != 1) {
    node.refuse("a text must stand between two special tokens, one on each side");
  }
}

}  // namespace

BertTokenizerDefinition read_bert_tokenizer_json(const std::string& text,
                                                 const std::string& origin) {
  const nlohmann::json document = policies::parse_json(text, origin);
  const JsonNode root(document, origin);
  BertTokenizerDefinition definition;
  read_model(root.get("model"), definition);
  definition.normalisation = read_normalizer(root.get("normalizer"));
  expect_type(root.get("pre_tokenizer"), "BertPreTokenizer");
  if (const auto added = root.find("added_tokens")) read_added_tokens(*added, definition);
  read_processor(root.get("post_processor"), definition);
  return definition;
}

BertTokenizerDefinition read_bert_vocabulary(const std::string& text, const std::string& origin,
                                             const Normalisation& normalisation) {
  BertTokenizerDefinition definition;
  definition.normalisation = normalisation;
  TokenId id = 0;
  for (std::string_view rest = text; !rest.empty(); ++id) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view token = rest.substr(0, end);
    if (token.ends_with('\r')) token.remove_suffix(1);
    if (id > kLargestId) invalid_argument(origin + ": has too many tokens");
    definition.vocabulary.insert_or_assign(std::string(token), id);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto special = [&](const std::string& name) {
    const auto found = definition.vocabulary.find(name);
    if (found == definition.vocabulary.end()) invalid_argument(origin + ": has no " + name);
    definition.added.push_back({found->second, name, true});
    return found->second;
  };
  definition.unknown = special("[UNK]");
  definition.before = {special("[CLS]")};
  definition.after = {special("[SEP]")};
  for (const char* name : {"[PAD]", "[MASK]"}) {
    if (definition.vocabulary.contains(name)) special(name);
  }
  return definition;
}

}  // namespace krl::retrieval
