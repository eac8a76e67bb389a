#include "plugins/retrieval/encoder/sentence_model.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>
#include <optional>

#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"
#include "plugins/policies/storage/mapped_file.hpp"
#include "plugins/policies/tokenizer/json_node.hpp"

namespace krl::retrieval {
namespace {

namespace fs = std::filesystem;
using policies::JsonNode;

// A JSON file and its contents.
class JsonFile {
 public:
  explicit JsonFile(const fs::path& path)
      : document_(policies::parse_json(files::read_file(path), path.string())),
        path_(path.string()) {}

  static std::optional<JsonFile> if_there(const fs::path& path) {
    return fs::exists(path) ? std::optional<JsonFile>(path) : std::nullopt;
  }

  JsonNode root() const { return {document_, path_}; }

 private:
  nlohmann::json document_;
  std::string path_;
};

// The contents of modules.json: the order of the encoder's parts.
struct Modules {
  fs::path pooling;  // empty: none is named
  bool normalised = false;
};

// "sentence_transformers.models.Pooling" -> "Pooling"
std::string class_name(const std::string& type) { return type.substr(type.rfind('.') + 1); }

Modules read_modules(const fs::path& folder) {
  const auto file = JsonFile::if_there(folder / "modules.json");
  if (!file) return {};
  Modules modules;
  const JsonNode list = file->root();
  for (std::size_t i = 0; i < list.size_of_array(); ++i) {
    const JsonNode module = list.element(i), type = module.get("type"), path = module.get("path");
    const std::string name = class_name(type.text());
    if (name == "Transformer" && i == 0) {
      if (!path.text().empty()) path.refuse("the encoder must be in the folder itself");
    } else if (name == "Pooling" && i == 1) {
      const fs::path inside(path.text());
      const bool leaves = std::find(inside.begin(), inside.end(), "..") != inside.end();
      if (inside.is_absolute() || leaves) path.refuse("must be a folder inside this one");
      modules.pooling = folder / inside;
    } else if (name == "Normalize" && i == 2) {
      modules.normalised = true;
    } else {
      type.refuse("module " + std::to_string(i) + " must not be '" + type.text() +
                  "'; supported are Transformer, Pooling and Normalize, in this order");
    }
  }
  if (modules.pooling.empty()) list.refuse("the pooling is missing");
  return modules;
}

Pooling read_pooling(const fs::path& path) {
  const JsonFile file(path);
  const JsonNode root = file.root();
  if (const auto mode = root.find("pooling_mode")) {
    if (mode->text() == "mean") return Pooling::kMean;
    if (mode->text() == "cls") return Pooling::kFirst;
    mode->refuse("'" + mode->text() + "' is not supported, only mean and cls");
  }
  for (const auto& [key, value] : root.object()) {
    const bool known = key == "pooling_mode_mean_tokens" || key == "pooling_mode_cls_token";
    if (key.starts_with("pooling_mode_") && !known && root.get(key).boolean()) {
      root.get(key).refuse("true is not supported, only mean and cls");
    }
  }
  const bool mean = root.boolean_or("pooling_mode_mean_tokens", false);
  if (mean == root.boolean_or("pooling_mode_cls_token", false)) {
    root.refuse("must have one pooling, mean or cls");
  }
  return mean ? Pooling::kMean : Pooling::kFirst;
}

// The steps that a vocab.txt goes with.
Normalisation read_normalisation(const fs::path& folder) {
  Normalisation steps;
  const auto file = JsonFile::if_there(folder / "tokenizer_config.json");
  if (!file) return steps;
  const JsonNode root = file->root();
  steps.lower_case = root.boolean_or("do_lower_case", true);
  steps.strip_accents = root.boolean_or("strip_accents", steps.lower_case);
  steps.space_ideographs = root.boolean_or("tokenize_chinese_chars", true);
  return steps;
}

BertTokenizer read_tokenizer(const fs::path& folder, files::Digest& digest) {
  const fs::path json = folder / "tokenizer.json", vocabulary = folder / "vocab.txt";
  if (fs::exists(json)) {
    const std::string text = files::read_file(json);
    digest.add(text);
    return BertTokenizer::from_json(text, json.string());
  }
  if (!fs::exists(vocabulary)) {
    throw Failure(KRL_NOT_FOUND, folder.string() +
                                     ": has neither tokenizer.json nor vocab.txt; name the folder "
                                     "of a BERT encoder for sentence-transformers");
  }
  const std::string text = files::read_file(vocabulary);
  const Normalisation steps = read_normalisation(folder);
  digest.add(text).add(steps.lower_case).add(steps.strip_accents).add(steps.space_ideographs);
  return BertTokenizer::from_vocabulary(text, vocabulary.string(), steps);
}

std::size_t read_max_tokens(const fs::path& folder, std::int64_t positions, bool lower_case) {
  constexpr std::int64_t kLeast = 3;  // [CLS], a token, [SEP]
  std::int64_t most = positions;
  if (const auto tokenizer = JsonFile::if_there(folder / "tokenizer_config.json")) {
    const auto length = tokenizer->root().find("model_max_length");  // 1e30 means none
    if (length && length->number() < static_cast<double>(most)) most = length->integer(positions);
  }
  if (const auto file = JsonFile::if_there(folder / "sentence_bert_config.json")) {
    const JsonNode root = file->root();
    if (const auto length = root.find("max_seq_length")) most = length->integer(positions);
    if (root.boolean_or("do_lower_case", false) && !lower_case) {
      root.get("do_lower_case").refuse("true is not supported with a tokenizer that keeps case");
    }
  }
  if (most < kLeast) {
    invalid_argument(folder.string() + ": max_seq_length is " + std::to_string(most) +
                     ", which leaves no room for text");
  }
  return static_cast<std::size_t>(most);
}

void read_prompts(const fs::path& folder, SentenceModel& model) {
  const auto file = JsonFile::if_there(folder / "config_sentence_transformers.json");
  const auto prompts = file ? file->root().find("prompts") : std::nullopt;
  if (!prompts) return;
  const auto prompt = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names) {
      if (const auto found = prompts->find(name)) return found->text();
    }
    const auto general = file->root().find("default_prompt_name");
    return general ? prompts->get(general->text()).text() : "";
  };
  model.query_prompt = prompt({"query"});
  model.document_prompt = prompt({"document", "passage", "corpus"});
}

void add(const BertConfig& config, files::Digest& digest) {
  for (const std::int64_t size : {config.layers, config.hidden, config.heads, config.intermediate,
                                  config.positions, config.token_types, config.vocabulary}) {
    digest.add(static_cast<std::uint64_t>(size));
  }
  digest.add(std::to_string(config.norm_epsilon * 1e15));
}

}  // namespace

SentenceModel read_sentence_model(const fs::path& folder) {
  const fs::path config_file = folder / "config.json", weights_file = folder / "model.safetensors";
  files::Digest digest;
  const BertConfig config = read_bert_config(files::read_file(config_file), config_file.string());
  SentenceModel model{folder, config, {}, {}, {}, {}, {}, read_tokenizer(folder, digest), {}, {}};
  const Modules modules = read_modules(folder);
  if (!modules.pooling.empty()) model.pooling = read_pooling(modules.pooling / "config.json");
  model.normalised = modules.normalised;
  if (model.tokenizer.vocabulary() > config.vocabulary) {
    invalid_argument(
        folder.string() + ": the tokenizer has " + std::to_string(model.tokenizer.vocabulary()) +
        " tokens, but config.json says that vocab_size is " + std::to_string(config.vocabulary));
  }
  model.max_tokens = read_max_tokens(folder, config.positions, model.tokenizer.lower_case());
  read_prompts(folder, model);
  model.weights = policies::Safetensors::read(weights_file);
  add(config, digest);
  digest.add(static_cast<std::uint64_t>(model.pooling)).add(std::uint64_t{model.normalised});
  digest.add(std::uint64_t{model.max_tokens}).add(model.query_prompt).add(model.document_prompt);
  digest.add(policies::MappedFile(weights_file).bytes());
  model.fingerprint = digest.hex();
  return model;
}

}  // namespace krl::retrieval
