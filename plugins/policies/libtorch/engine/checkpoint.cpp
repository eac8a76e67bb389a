#include "plugins/policies/libtorch/engine/checkpoint.hpp"

#include <cstring>
#include <nlohmann/json.hpp>

#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"
#include "plugins/policies/libtorch/torch.hpp"
#include "plugins/policies/storage/safetensors.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

constexpr int kFormat = 3;
constexpr const char* kFirstMoment = "first_moment.";
constexpr const char* kSecondMoment = "second_moment.";

const char* safetensors_type(at::ScalarType type) {
  if (type == at::kDouble) return "F64";
  return type == at::kBFloat16 ? "BF16" : "F32";
}

const char* dtype_name(at::ScalarType type) {
  if (type == at::kDouble) return "float64";
  return type == at::kBFloat16 ? "bfloat16" : "float32";
}

using Slots = std::vector<ParameterSlot>;

// Adds the parts of `flat`, on the CPU, as views, each name after `prefix`.
void add_views(const Slots& slots, const at::Tensor& flat, const std::string& prefix,
               std::map<std::string, TensorView>& views) {
  const auto* bytes = static_cast<const char*>(flat.const_data_ptr());
  const auto element = static_cast<std::int64_t>(flat.element_size());
  for (const ParameterSlot& slot : slots) {
    views[prefix + slot.name] = {
        safetensors_type(flat.scalar_type()),
        slot.shape,
        {bytes + slot.offset * element, static_cast<std::size_t>(slot.size * element)}};
  }
}

void write_flat(const std::filesystem::path& path, const Slots& slots, const at::Tensor& flat) {
  const at::Tensor here = flat.to(at::kCPU);
  std::map<std::string, TensorView> views;
  add_views(slots, here, "", views);
  write_safetensors(path, views);
}

at::Tensor read_flat(const Safetensors& file, const Slots& slots, at::ScalarType type,
                     const std::string& prefix) {
  const std::int64_t total = slots.back().offset + slots.back().size;
  const auto flat = at::empty({total}, type);
  auto* bytes = static_cast<char*>(flat.mutable_data_ptr());
  const auto element = static_cast<std::int64_t>(flat.element_size());
  for (const ParameterSlot& slot : slots) {
    const TensorView& view = file.get(prefix + slot.name, safetensors_type(type), slot.shape);
    std::memcpy(bytes + slot.offset * element, view.bytes.data(), view.bytes.size());
  }
  return flat;
}

at::Tensor read_snapshot(const std::filesystem::path& path, const Slots& slots,
                         at::ScalarType type) {
  if (!std::filesystem::exists(path)) return {};
  return read_flat(Safetensors::read(path), slots, type, "");
}

// Describes the adapters, since other adapters could not continue from this checkpoint; null
// without adapters.
nlohmann::ordered_json adapters_json(const LoraLayout* lora, const std::string& base) {
  if (lora == nullptr) return nullptr;
  return {{"rank", lora->options.rank},
          {"alpha", lora->options.alpha},
          {"targets", lora->options.targets},
          {"base", base}};
}

void write_state(const std::filesystem::path& directory, const nlohmann::ordered_json& state) {
  files::write_file(directory / "state.json", {state.dump(2), "\n"});
  files::sync_directory(directory);
}

nlohmann::json read_state(const std::filesystem::path& path) {
  const auto state =
      nlohmann::json::parse(files::read_file(path), nullptr, /*allow_exceptions=*/false);
  const bool valid = state.is_object() && state.value("format", 0) == kFormat &&
                     state.contains("fitted") && state["fitted"].is_boolean();
  const bool complete = valid && (!state["fitted"].get<bool>() ||
                                  (state.contains("steps") && state["steps"].is_number_unsigned() &&
                                   state.contains("dtype") && state["dtype"].is_string() &&
                                   state.contains("chat_family") &&
                                   state["chat_family"].is_string() && state.contains("adapters")));
  if (!complete) {
    invalid_argument(path.string() + ": not the state of a policy of this version (format " +
                     std::to_string(kFormat) + ")");
  }
  return state;
}

void check_fits(const std::filesystem::path& directory, ModelConfig wanted,
                const ModelConfig& found, const std::string& dtype,
                const std::string& found_dtype) {
  if (found.vocabulary <= wanted.vocabulary) wanted.vocabulary = found.vocabulary;
  std::vector<std::string> differences = model_differences(wanted, found);
  if (dtype != found_dtype) {
    differences.push_back("dtype is " + found_dtype + ", not " + dtype);
  }
  if (differences.empty()) return;
  std::string message = directory.string() + " contains a different model from the plan's:";
  for (const std::string& difference : differences) message += " " + difference + ";";
  throw Failure(KRL_FAILED_PRECONDITION, message + " change [policy] back, or start a new run");
}

}  // namespace

void save_checkpoint(const std::filesystem::path& directory, const Trainer& trainer,
                     const TrainerState& state, const ChatTokenizer& chat,
                     const std::string& base) {
  const Slots& slots = trainer.slots();
  write_flat(directory / "model.safetensors", slots, state.weights);
  const at::Tensor first = state.first_moment.to(at::kCPU),
                   second = state.second_moment.to(at::kCPU);
  std::map<std::string, TensorView> moments;
  add_views(slots, first, kFirstMoment, moments);
  add_views(slots, second, kSecondMoment, moments);
  write_safetensors(directory / "optimizer.safetensors", moments);
  if (state.reference.defined()) {
    write_flat(directory / "reference.safetensors", slots, state.reference);
  }
  if (state.behaviour.defined()) {
    write_flat(directory / "behaviour.safetensors", slots, state.behaviour);
  }
  for (const TokenizerFile& file : chat.files()) {
    files::write_file(directory / file.name, {file.contents});
  }
  files::write_file(directory / "config.json", {config_to_json(trainer.layout().config)});
  write_state(directory, {{"format", kFormat},
                          {"fitted", true},
                          {"dtype", dtype_name(trainer.type())},
                          {"chat_family", chat_family_name(chat.family())},
                          {"adapters", adapters_json(trainer.lora(), base)},
                          {"steps", state.steps}});
}

std::string fingerprint(const at::Tensor& weights) {
  constexpr std::int64_t kMost = 65536;
  const std::int64_t step = std::max<std::int64_t>(1, weights.numel() / kMost);
  const at::Tensor some = weights.slice(0, 0, weights.numel(), step).to(at::kCPU, at::kFloat);
  return files::sha256_hex({static_cast<const char*>(some.contiguous().const_data_ptr()),
                            static_cast<std::size_t>(some.numel()) * sizeof(float)});
}

void save_unfitted_checkpoint(const std::filesystem::path& directory) {
  write_state(directory, {{"format", kFormat}, {"fitted", false}});
}

std::optional<CheckpointModel> load_checkpoint_model(const std::filesystem::path& directory,
                                                     const ModelConfig& wanted,
                                                     const std::string& dtype) {
  const auto state = read_state(directory / "state.json");
  if (!state["fitted"].get<bool>()) return std::nullopt;
  const auto path = directory / "config.json";
  const ModelConfig config = config_from_json(files::read_file(path), path.string());
  check_fits(directory, wanted, config, dtype, state["dtype"].get<std::string>());
  return CheckpointModel{config, state["chat_family"].get<std::string>()};
}

TrainerState load_checkpoint_state(const std::filesystem::path& directory, const Trainer& trainer,
                                   const std::string& base) {
  const auto json = read_state(directory / "state.json");
  const nlohmann::ordered_json adapters = adapters_json(trainer.lora(), base);
  if (json["adapters"] != adapters) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  directory.string() +
                      " contains different adapters, or adapters for different weights (" +
                      json["adapters"].dump() + "), than the plan (" + adapters.dump() +
                      "): change [policy] back, or start a new run");
  }
  const Slots& slots = trainer.slots();
  const at::ScalarType master = trainer.state().weights.scalar_type(), compute = trainer.type();
  TrainerState state;
  state.weights = read_flat(Safetensors::read(directory / "model.safetensors"), slots, master, "");
  const auto moments = Safetensors::read(directory / "optimizer.safetensors");
  state.first_moment = read_flat(moments, slots, master, kFirstMoment);
  state.second_moment = read_flat(moments, slots, master, kSecondMoment);
  state.reference = read_snapshot(directory / "reference.safetensors", slots, compute);
  state.behaviour = read_snapshot(directory / "behaviour.safetensors", slots, compute);
  state.steps = json["steps"].get<std::int64_t>();
  return state;
}

}  // namespace krl::libtorch
