#include "engine/checkpoint.hpp"

#include <cstring>
#include <nlohmann/json.hpp>

#include "storage/file.hpp"
#include "storage/safetensors.hpp"
#include "tokenizer/tokenizer_json.hpp"

namespace krl::libtorch {
namespace {

constexpr int kFormat = 1;
constexpr const char* kFirstMoment = "first_moment.";
constexpr const char* kSecondMoment = "second_moment.";

const char* safetensors_type(at::ScalarType type) { return type == at::kDouble ? "F64" : "F32"; }
const char* dtype_name(at::ScalarType type) { return type == at::kDouble ? "float64" : "float32"; }

// Adds the parameters of `flat` as views, each name after `prefix`.
void add_views(const ParameterLayout& layout, const at::Tensor& flat, const std::string& prefix,
               std::map<std::string, TensorView>& views) {
  const auto* bytes = static_cast<const char*>(flat.const_data_ptr());
  const auto element = static_cast<std::int64_t>(flat.element_size());
  for (const ParameterSlot& slot : layout.slots) {
    views[prefix + slot.name] = {
        safetensors_type(flat.scalar_type()),
        slot.shape,
        {bytes + slot.offset * element, static_cast<std::size_t>(slot.size * element)}};
  }
}

void write_flat(const std::filesystem::path& path, const ParameterLayout& layout,
                const at::Tensor& flat) {
  std::map<std::string, TensorView> views;
  add_views(layout, flat, "", views);
  write_safetensors(path, views);
}

at::Tensor read_flat(const Safetensors& file, const ParameterLayout& layout, at::ScalarType type,
                     const std::string& prefix) {
  const auto flat = at::empty({layout.total}, type);
  auto* bytes = static_cast<char*>(flat.mutable_data_ptr());
  const auto element = static_cast<std::int64_t>(flat.element_size());
  for (const ParameterSlot& slot : layout.slots) {
    const TensorView& view = file.get(prefix + slot.name, safetensors_type(type), slot.shape);
    std::memcpy(bytes + slot.offset * element, view.bytes.data(), view.bytes.size());
  }
  return flat;
}

at::Tensor read_snapshot(const std::filesystem::path& path, const ParameterLayout& layout,
                         at::ScalarType type) {
  if (!std::filesystem::exists(path)) return {};
  return read_flat(Safetensors::read(path), layout, type, "");
}

void write_state(const std::filesystem::path& directory, const nlohmann::ordered_json& state) {
  write_file(directory / "state.json", {state.dump(2), "\n"});
  sync_directory(directory);
}

nlohmann::json read_state(const std::filesystem::path& path) {
  const auto state = nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  const bool valid = state.is_object() && state.value("format", 0) == kFormat &&
                     state.contains("fitted") && state["fitted"].is_boolean();
  const bool complete = valid && (!state["fitted"].get<bool>() ||
                                  (state.contains("steps") && state["steps"].is_number_unsigned() &&
                                   state.contains("dtype") && state["dtype"].is_string()));
  if (!complete) {
    invalid_argument(path.string() + ": not the state of a policy of this version (format " +
                     std::to_string(kFormat) + ")");
  }
  return state;
}

void check_fits(const std::filesystem::path& directory, ModelConfig wanted,
                const ModelConfig& found, const std::string& dtype, at::ScalarType type) {
  if (found.vocabulary <= wanted.vocabulary) wanted.vocabulary = found.vocabulary;
  std::vector<std::string> differences = shape_differences(wanted, found);
  if (dtype != dtype_name(type)) {
    differences.push_back("dtype is " + dtype + ", not " + dtype_name(type));
  }
  if (differences.empty()) return;
  std::string message = directory.string() + " holds another model than the plan asks for:";
  for (const std::string& difference : differences) message += " " + difference + ";";
  throw Failure(KRL_FAILED_PRECONDITION, message + " change [policy] back, or start a new run");
}

}  // namespace

void save_checkpoint(const std::filesystem::path& directory, const Trainer& trainer,
                     const BytePairEncoding& encoding) {
  if (trainer.has_gradient()) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "a gradient waits for its optimizer_step; saving now would lose it");
  }
  const ParameterLayout& layout = trainer.layout();
  const TrainerState& state = trainer.state();
  write_flat(directory / "model.safetensors", layout, state.weights);
  std::map<std::string, TensorView> moments;
  add_views(layout, state.first_moment, kFirstMoment, moments);
  add_views(layout, state.second_moment, kSecondMoment, moments);
  write_safetensors(directory / "optimizer.safetensors", moments);
  if (state.reference.defined()) {
    write_flat(directory / "reference.safetensors", layout, state.reference);
  }
  if (state.behaviour.defined()) {
    write_flat(directory / "behaviour.safetensors", layout, state.behaviour);
  }
  write_file(directory / "tokenizer.json", {tokenizer_to_json(encoding)});
  write_file(directory / "config.json", {config_to_json(layout.config)});
  write_state(directory, {{"format", kFormat},
                          {"fitted", true},
                          {"dtype", dtype_name(trainer.type())},
                          {"steps", state.steps}});
}

void save_unfitted_checkpoint(const std::filesystem::path& directory) {
  write_state(directory, {{"format", kFormat}, {"fitted", false}});
}

std::optional<Checkpoint> load_checkpoint(const std::filesystem::path& directory,
                                          const ModelConfig& wanted, at::ScalarType type) {
  const auto state = read_state(directory / "state.json");
  if (!state["fitted"].get<bool>()) return std::nullopt;
  const auto config_path = directory / "config.json", tokenizer_path = directory / "tokenizer.json";
  const ModelConfig config = config_from_json(read_file(config_path), config_path.string());
  check_fits(directory, wanted, config, state["dtype"].get<std::string>(), type);

  Checkpoint checkpoint{
      config, tokenizer_from_json(read_file(tokenizer_path), tokenizer_path.string()), {}};
  if (checkpoint.encoding.vocabulary() != config.vocabulary) {
    invalid_argument(tokenizer_path.string() + " has " +
                     std::to_string(checkpoint.encoding.vocabulary()) + " tokens and config.json " +
                     std::to_string(config.vocabulary));
  }
  const ParameterLayout layout(config);
  checkpoint.state.weights =
      read_flat(Safetensors::read(directory / "model.safetensors"), layout, type, "");
  const auto moments = Safetensors::read(directory / "optimizer.safetensors");
  checkpoint.state.first_moment = read_flat(moments, layout, type, kFirstMoment);
  checkpoint.state.second_moment = read_flat(moments, layout, type, kSecondMoment);
  checkpoint.state.reference = read_snapshot(directory / "reference.safetensors", layout, type);
  checkpoint.state.behaviour = read_snapshot(directory / "behaviour.safetensors", layout, type);
  checkpoint.state.steps = state["steps"].get<std::int64_t>();
  return checkpoint;
}

}  // namespace krl::libtorch
