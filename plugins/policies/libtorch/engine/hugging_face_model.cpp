#include "plugins/policies/libtorch/engine/hugging_face_model.hpp"

#include <kernelrl/values.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "plugins/files/file.hpp"
#include "plugins/policies/libtorch/model/hugging_face_names.hpp"
#include "plugins/policies/storage/safetensors.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

namespace fs = std::filesystem;

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Failure(KRL_INVALID_ARGUMENT, path.string() + ": " + why);
}

// The files to read, each a name in the directory and nothing else.
std::set<std::string> shards_of(const fs::path& directory) {
  const fs::path index = directory / kIndexFile;
  std::error_code ignored;
  if (!fs::exists(index, ignored)) return {kSingleFile};
  const auto json =
      nlohmann::json::parse(files::read_file(index), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object()) {
    refuse(index, "there is no object 'weight_map'");
  }
  std::set<std::string> shards;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || fs::path(name).filename() != name || name == "." || name == "..") {
      refuse(index, "'weight_map' places tensor '" + tensor + "' in no file of this directory");
    }
    shards.insert(name);
  }
  if (shards.empty()) refuse(index, "'weight_map' is empty");
  return shards;
}

// Before memory is taken for what config.json asks for.
void check_sizes(const fs::path& directory, const std::set<std::string>& shards,
                 std::int64_t parameters) {
  std::uintmax_t bytes = 0;
  for (const std::string& shard : shards) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(directory / shard, error);
    if (error) {
      throw Failure(KRL_NOT_FOUND, (directory / shard).string() + ": " + error.message());
    }
    bytes += size;
  }
  constexpr std::uintmax_t kSmallest = 2;  // bytes of a parameter
  if (bytes / kSmallest >= static_cast<std::uintmax_t>(parameters)) return;
  refuse(directory, "config.json is of a model of " + std::to_string(parameters) +
                        " parameters, and the files of its weights have " + std::to_string(bytes) +
                        " bytes, which are fewer");
}

StoredType stored_type(const fs::path& path, const NamedRows& rows, const std::string& type) {
  if (type == "F32") return StoredType::kFloat32;
  if (type == "BF16") return StoredType::kBFloat16;
  if (type == "F16") return StoredType::kFloat16;
  refuse(path,
         "tensor '" + rows.name + "' is of type " + type + "; this policy reads F32, BF16 and F16");
}

// Finds the tensors of one file after the other.
class WeightFinder {
 public:
  explicit WeightFinder(const ParameterLayout& layout) : tied_(layout.config.tied) {
    for (NamedRows& rows : hugging_face_names(layout)) missing_.emplace(rows.name, rows);
  }

  void find_in(const Safetensors& file) {
    for (const auto& [name, view] : file.tensors()) {
      const auto found = missing_.find(name);
      if (found == missing_.end()) {
        if (!is_known_extra(name)) {
          refuse(file.path(), "tensor '" + name + "' is not part of this model, or a duplicate");
        }
        continue;
      }
      const NamedRows& rows = found->second;
      pieces_.push_back({rows.offset, rows.size, stored_type(file.path(), rows, view.type),
                         file.get(name, view.type, rows.shape).bytes});
      missing_.erase(found);
    }
    files_.push_back(file);
  }

  StoredWeights finish(const fs::path& directory) {
    if (!missing_.empty()) {
      refuse(directory, "the model has no tensor '" + missing_.begin()->first + "'" +
                            (missing_.size() == 1
                                 ? std::string()
                                 : " and " + std::to_string(missing_.size() - 1) + " others"));
    }
    return {std::move(pieces_),
            std::make_shared<const std::vector<Safetensors>>(std::move(files_))};
  }

 private:
  // True for tensors that some writers add and the model does not need: a copy of a tied matrix,
  // and the table of the rotary embedding.
  bool is_known_extra(const std::string& name) const {
    return (tied_ && name == "lm_head.weight") || name.ends_with(".rotary_emb.inv_freq");
  }

  bool tied_;
  std::vector<Safetensors> files_;
  std::vector<StoredPiece> pieces_;
  std::map<std::string, NamedRows> missing_;
};

}  // namespace

HuggingFaceModel load_hugging_face_model(const fs::path& directory) {
  const fs::path config_path = directory / "config.json";
  HuggingFaceModel model;
  model.config_json = files::read_file(config_path);
  model.config = config_from_json(model.config_json, config_path.string());
  const std::set<std::string> shards = shards_of(directory);
  check_sizes(directory, shards, model.config.parameters());
  WeightFinder finder{ParameterLayout(model.config)};
  for (const std::string& shard : shards) finder.find_in(Safetensors::read(directory / shard));
  model.weights = finder.finish(directory);
  return model;
}

}  // namespace krl::libtorch
