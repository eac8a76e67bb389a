#include "plugins/policies/tokenizer/chat_tokenizer.hpp"

#include <algorithm>

#include "plugins/files/file.hpp"
#include "plugins/policies/tokenizer/json_node.hpp"
#include "plugins/policies/tokenizer/tokenizer_definition.hpp"

namespace krl::policies {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenizerJson = "tokenizer.json";
constexpr const char* kTokenizerConfig = "tokenizer_config.json";
constexpr const char* kChatTemplate = "chat_template.jinja";
constexpr const char* kGenerationConfig = "generation_config.json";

constexpr std::uintmax_t kLargestFile = 256 << 20;  // bytes; the largest tokenizer.json has 20 MB

std::string read_limited(const fs::path& path) {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(path, failed);
  if (!failed && size > kLargestFile) {
    invalid_argument(path.string() + ": " + std::to_string(size) + " bytes; the limit is " +
                     std::to_string(kLargestFile));
  }
  return files::read_file(path);
}

std::optional<std::string> read_if_there(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  return read_limited(path);
}

// A token in tokenizer_config.json: "name", or an object with the name as its content.
std::string token_name(const JsonNode& token) {
  return token.value().is_object() ? token.get("content").text() : token.text();
}

// tokenizer_config.json has one template, or several with names.
std::optional<std::string> template_in_config(const JsonNode& config) {
  const auto node = config.find("chat_template");
  if (!node) return std::nullopt;
  if (!node->value().is_array()) return node->text();
  for (const JsonNode& named : node->elements()) {
    if (named.get("name").text() == "default") return named.get("template").text();
  }
  return std::nullopt;
}

ChatFamily recognised(const fs::path& directory, const std::optional<std::string>& config,
                      const std::optional<std::string>& jinja) {
  constexpr const char* kChoose =
      "; choose one by name with the option chat_template of the model in the plan: chatml, "
      "smollm2, qwen2, qwen2.5, qwen3, qwen3-instruct, llama3 or llama3.1";
  std::optional<std::string> text = jinja;
  std::string where = (directory / kChatTemplate).string();
  if (!text && config) {
    where = (directory / kTokenizerConfig).string();
    const nlohmann::json document = parse_json(*config, where);
    text = template_in_config(JsonNode(document, where));
    where += ".chat_template";
  }
  if (!text) invalid_argument(directory.string() + ": no chat template" + kChoose);
  const auto family = chat_family_of_template(*text);
  if (family) return *family;
  invalid_argument(where + ": a chat template that is not known (SHA-256 " +
                   chat_template_digest(*text) + ")" + kChoose);
}

}  // namespace

ChatTokenizer ChatTokenizer::from_directory(const fs::path& directory, const ChatChoice& choice) {
  const fs::path json_path = directory / kTokenizerJson;
  Tokenizer tokenizer = Tokenizer::from_json(read_limited(json_path), json_path.string());
  std::vector<TokenizerFile> files = {{kTokenizerJson, tokenizer.json()}};
  const auto config = read_if_there(directory / kTokenizerConfig);
  const auto jinja = read_if_there(directory / kChatTemplate);
  const auto generation = read_if_there(directory / kGenerationConfig);
  if (config) files.push_back({kTokenizerConfig, *config});
  if (jinja) files.push_back({kChatTemplate, *jinja});
  if (generation) files.push_back({kGenerationConfig, *generation});
  const ChatFamily family = choice.family.empty() ? recognised(directory, config, jinja)
                                                  : chat_family_by_name(choice.family);
  try {
    return {std::move(tokenizer), family, choice.options, std::move(files)};
  } catch (const Failure& failure) {
    throw Failure(failure.code(), directory.string() + ": " + failure.what());
  }
}

ChatTokenizer::ChatTokenizer(Tokenizer tokenizer, ChatFamily family, ChatOptions options,
                             std::vector<TokenizerFile> files)
    : tokenizer_(std::move(tokenizer)),
      family_(family),
      options_(std::move(options)),
      files_(std::move(files)) {
  for (const std::string_view name : control_tokens(family)) control_token(name);
  stop_tokens_.push_back(control_token(end_of_answer(family)));
  for (const TokenizerFile& file : files_) {
    if (file.name == kTokenizerConfig) read_tokenizer_config(file.contents);
    if (file.name == kGenerationConfig) read_generation_config(file.contents);
  }
  std::sort(stop_tokens_.begin(), stop_tokens_.end());
  stop_tokens_.erase(std::unique(stop_tokens_.begin(), stop_tokens_.end()), stop_tokens_.end());
}

std::vector<TokenId> ChatTokenizer::prompt(const Messages& messages) const {
  std::vector<TokenId> tokens;
  for (const ChatPart& part : render_chat(family_, options_, messages)) {
    if (part.control) {
      tokens.push_back(control_token(part.text));
    } else {
      const std::vector<TokenId> encoded = tokenizer_.encode(part.text);
      tokens.insert(tokens.end(), encoded.begin(), encoded.end());
    }
  }
  return tokens;
}

std::vector<TokenId> ChatTokenizer::answer(std::string_view text) const {
  std::vector<TokenId> tokens = tokenizer_.encode(text);
  tokens.push_back(control_token(end_of_answer(family_)));
  return tokens;
}

TokenId ChatTokenizer::control_token(std::string_view name) const {
  const auto token = tokenizer_.find(name);
  if (!token || !token->special) {
    invalid_argument("tokenizer.json: the chat template '" +
                     std::string(chat_family_name(family_)) + "' needs the special token '" +
                     std::string(name) + "', which " + (token ? "is not special" : "is not there"));
  }
  return token->id;
}

void ChatTokenizer::read_tokenizer_config(const std::string& json) {
  const nlohmann::json document = parse_json(json, kTokenizerConfig);
  const JsonNode config(document, kTokenizerConfig);
  const auto named = [&](const char* key) -> std::optional<TokenId> {
    const auto node = config.find(key);
    if (!node) return std::nullopt;
    const auto token = tokenizer_.find(token_name(*node));
    if (!token) node->refuse("tokenizer.json has no token '" + token_name(*node) + "'");
    return token->id;
  };
  if (const auto end = named("eos_token")) stop_tokens_.push_back(*end);
  begin_token_ = named("bos_token");
}

void ChatTokenizer::read_generation_config(const std::string& json) {
  const nlohmann::json document = parse_json(json, kGenerationConfig);
  const auto ends = JsonNode(document, kGenerationConfig).find("eos_token_id");
  if (!ends) return;
  if (!ends->value().is_array()) {
    stop_tokens_.push_back(static_cast<TokenId>(ends->integer(kLargestId)));
    return;
  }
  for (const JsonNode& end : ends->elements())
    stop_tokens_.push_back(static_cast<TokenId>(end.integer(kLargestId)));
}

}  // namespace krl::policies
