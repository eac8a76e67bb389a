#include "engine/hugging_face_model.hpp"

#include <cstring>
#include <kernelrl/values.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "model/hugging_face_names.hpp"
#include "storage/file.hpp"
#include "storage/safetensors.hpp"

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
  const auto json = nlohmann::json::parse(read_file(index), nullptr, /*allow_exceptions=*/false);
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

float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float from_bfloat16(std::uint16_t bits) { return from_bits(std::uint32_t{bits} << 16); }

// IEEE 754 binary16.
float from_float16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} >> 15 << 31;
  const std::uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  constexpr std::uint32_t kBias = 127 - 15;
  if (exponent == 31) return from_bits(sign | 0x7f800000u | fraction << 13);
  if (exponent > 0) return from_bits(sign | (exponent + kBias) << 23 | fraction << 13);
  const float value = static_cast<float>(fraction) * 0x1p-24f;  // subnormal
  return sign != 0 ? -value : value;
}

template <class Convert>
void convert_halves(std::string_view bytes, Convert convert, float* to) {
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    std::uint16_t bits;
    std::memcpy(&bits, bytes.data() + i, sizeof bits);
    *to++ = convert(bits);
  }
}

// Takes the tensors of one file after the other to their places.
class WeightReader {
 public:
  explicit WeightReader(const ParameterLayout& layout)
      : tied_(layout.config.tied), weights_(static_cast<std::size_t>(layout.total)) {
    for (NamedRows& rows : hugging_face_names(layout)) missing_.emplace(rows.name, rows);
  }

  void read(const Safetensors& file) {
    for (const auto& [name, view] : file.tensors()) {
      const auto found = missing_.find(name);
      if (found == missing_.end()) {
        if (!is_known_extra(name)) {
          refuse(file.path(),
                 "tensor '" + name + "' belongs to no part of this model, or comes a second time");
        }
        continue;
      }
      const NamedRows& rows = found->second;
      take(file.get(name, view.type, rows.shape), file.path(), rows);
      missing_.erase(found);
    }
  }

  std::vector<float> finish(const fs::path& directory) {
    if (!missing_.empty()) {
      refuse(directory, "the model has no tensor '" + missing_.begin()->first + "'" +
                            (missing_.size() == 1
                                 ? std::string()
                                 : " and " + std::to_string(missing_.size() - 1) + " others"));
    }
    return std::move(weights_);
  }

 private:
  // What some writers add and the model follows without: a copy of a tied matrix, and the table of
  // the rotary embedding.
  bool is_known_extra(const std::string& name) const {
    return (tied_ && name == "lm_head.weight") || name.ends_with(".rotary_emb.inv_freq");
  }

  void take(const TensorView& view, const fs::path& path, const NamedRows& rows) {
    float* to = weights_.data() + rows.offset;
    if (view.type == "F32") {
      std::memcpy(to, view.bytes.data(), view.bytes.size());
    } else if (view.type == "BF16") {
      convert_halves(view.bytes, from_bfloat16, to);
    } else if (view.type == "F16") {
      convert_halves(view.bytes, from_float16, to);
    } else {
      refuse(path, "tensor '" + rows.name + "' is of type " + view.type +
                       "; this policy reads F32, BF16 and F16");
    }
  }

  bool tied_;
  std::vector<float> weights_;
  std::map<std::string, NamedRows> missing_;
};

}  // namespace

HuggingFaceModel load_hugging_face_model(const fs::path& directory) {
  const fs::path config_path = directory / "config.json";
  HuggingFaceModel model;
  model.config_json = read_file(config_path);
  model.config = config_from_json(model.config_json, config_path.string());
  const std::set<std::string> shards = shards_of(directory);
  check_sizes(directory, shards, model.config.parameters());
  WeightReader reader{ParameterLayout(model.config)};
  for (const std::string& shard : shards) {
    reader.read(Safetensors::read(directory / shard));
  }
  model.weights = reader.finish(directory);
  return model;
}

}  // namespace krl::libtorch
