// What is exported against what transformers and peft themselves save: the same tensors under the
// same names, and configs that say the same. And adapters on a model against what peft computes
// (data/make_adapter_fixtures.py).
#include <gtest/gtest.h>

#include <set>

#include "plugins/files/file.hpp"
#include "plugins/policies/libtorch/engine/hugging_face_export.hpp"
#include "plugins/policies/libtorch/engine/peft_export.hpp"
#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"
#include "tests/unit/policies/model_truth.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json read_json(const fs::path& path) { return json::parse(files::read_file(path)); }

void expect_same_tensors(const fs::path& exported, const fs::path& saved) {
  const auto ours = Safetensors::read(exported), theirs = Safetensors::read(saved);
  ASSERT_EQ(ours.tensors().size(), theirs.tensors().size());
  for (const auto& [name, expected] : theirs.tensors()) {
    const TensorView& view = ours.get(name, expected.type, expected.shape);
    EXPECT_EQ(view.bytes, expected.bytes) << name;
  }
}

class ModelExport : public ::testing::TestWithParam<const char*> {
 protected:
  // The model as it is read from `folder`, exported again.
  void export_again(const fs::path& folder, ExportType type) {
    const HuggingFaceModel model = load_hugging_face_model(folder);
    const ParameterLayout layout(model.config);
    const auto chat = scratch_chat_tokenizer(scratch_tokenizer({}), model.config.context);
    export_hugging_face(directory_.path(), layout, model.weights.floats(), chat, type,
                        model.config_json);
  }

  test::TemporaryDirectory directory_;
};

TEST_P(ModelExport, IsWhatTransformersSaves) {
  const fs::path saved = truth_folder() / GetParam();
  export_again(saved, ExportType::kF32);
  expect_same_tensors(directory_.path() / "model.safetensors", saved / "model.safetensors");
  EXPECT_EQ(read_json(directory_.path() / "config.json"), read_json(saved / "config.json"));
}

TEST_P(ModelExport, SaysTheTypeThatItsWeightsHave) {
  export_again(truth_folder() / GetParam(), ExportType::kBf16);
  const auto file = Safetensors::read(directory_.path() / "model.safetensors");
  for (const auto& [name, view] : file.tensors()) EXPECT_EQ(view.type, "BF16") << name;
  EXPECT_EQ(read_json(directory_.path() / "config.json")["dtype"], "bfloat16");
}

INSTANTIATE_TEST_SUITE_P(Families, ModelExport, ::testing::ValuesIn(kTruthModels),
                         [](const auto& info) { return std::string(info.param); });

struct AdapterCase {
  const char* model;
  LoraOptions options;
};
std::ostream& operator<<(std::ostream& out, const AdapterCase& c) { return out << c.model; }

// As in make_adapter_fixtures.py.
const AdapterCase kAdapters[] = {
    {"llama3_untied", {.rank = 4, .alpha = 8}},
    {"qwen2", {.rank = 3, .alpha = 7.5, .targets = {"q_proj", "v_proj"}}},
    {"qwen3",
     {.rank = 2, .alpha = 16, .dropout = 0.25, .targets = {"o_proj", "gate_proj", "down_proj"}}}};

// A model with adapters that peft has saved, and the logits that peft gives with them.
class AdapterExport : public ::testing::TestWithParam<AdapterCase> {
 protected:
  AdapterExport()
      : saved_(truth_folder().parent_path() / "adapters" / GetParam().model),
        model_(load_hugging_face_model(truth_folder() / GetParam().model)),
        layout_(model_.config),
        threads_(1, [] { at::set_num_threads(1); }),
        trainer_(layout_, model_.weights, make_cpu_operations(model_.config),
                 {.lora = GetParam().options}, threads_) {
    TrainerState state = trainer_.state();
    state.weights = read_adapters();
    trainer_.restore(state);
    const auto truth = Safetensors::read(saved_ / "truth.safetensors");
    const std::string_view tokens = truth.tensors().at("tokens").bytes;
    tokens_.resize(tokens.size() / sizeof(std::int32_t));
    std::memcpy(tokens_.data(), tokens.data(), tokens.size());
    const auto length = static_cast<std::int64_t>(tokens_.size());
    logits_ = at::empty({length, model_.config.vocabulary}, at::kFloat);
    const TensorView& logits = truth.get("logits", "F32", {length, model_.config.vocabulary});
    std::memcpy(logits_.mutable_data_ptr(), logits.bytes.data(), logits.bytes.size());
  }

  at::Tensor read_adapters() const {
    const auto file = Safetensors::read(saved_ / "adapter_model.safetensors");
    const at::Tensor flat = at::empty({trainer_.lora()->total}, at::kFloat);
    for (const ParameterSlot& slot : trainer_.lora()->slots) {
      const TensorView& view = file.get(slot.name, "F32", slot.shape);
      std::memcpy(flat.mutable_data_ptr<float>() + slot.offset, view.bytes.data(),
                  view.bytes.size());
    }
    return flat;
  }

  fs::path saved_;
  HuggingFaceModel model_;
  ParameterLayout layout_;
  WorkerThreads threads_;
  Trainer trainer_;
  std::vector<std::int32_t> tokens_;
  at::Tensor logits_;  // [tokens, vocabulary]
};

TEST_P(AdapterExport, IsWhatPeftSaves) {
  const test::TemporaryDirectory directory;
  const at::Tensor adapters = trainer_.state().weights;
  const std::string base = "models/" + std::string(GetParam().model);
  export_peft(directory.path(), *trainer_.lora(), base,
              {adapters.const_data_ptr<float>(), static_cast<std::size_t>(adapters.numel())});
  expect_same_tensors(directory.path() / "adapter_model.safetensors",
                      saved_ / "adapter_model.safetensors");
  json ours = read_json(directory.path() / "adapter_config.json");
  json theirs = read_json(saved_ / "adapter_config.json");
  for (json* config : {&ours, &theirs}) {
    auto& targets = (*config)["target_modules"];
    std::sort(targets.begin(), targets.end());  // a set
  }
  // What peft says beyond are defaults, which it takes where a key is not there.
  for (const auto& [key, value] : ours.items()) EXPECT_EQ(value, theirs[key]) << key;
  for (const char* key : {"peft_type", "task_type", "r", "lora_alpha", "target_modules"}) {
    EXPECT_TRUE(ours.contains(key)) << key;
  }
}

TEST_P(AdapterExport, AddedInTheyGiveTheLogitsOfPeft) {
  const auto operations = make_cpu_operations(model_.config);
  const auto logits = logits_of(layout_, trainer_.weights(), tokens_, *operations, at::kFloat);
  EXPECT_LT((logits - logits_).abs().max().item<double>(), 1e-4);
}

TEST_P(AdapterExport, BesideTheModelTheyGiveTheLogprobsOfPeft) {
  test::ExampleList examples;
  examples.add({{tokens_[0]}, {tokens_.begin() + 1, tokens_.end()}});
  test::LogprobCollector collector;
  test::RecordingContext context;
  trainer_.logprobs(1, examples, collector, context);
  const at::Tensor expected = at::log_softmax(logits_, 1);
  ASSERT_EQ(collector.logprobs[0].size(), tokens_.size() - 1);
  for (std::size_t t = 1; t < tokens_.size(); ++t) {
    const auto row = static_cast<std::int64_t>(t - 1);
    EXPECT_NEAR(collector.logprobs[0][t - 1], expected[row][tokens_[t]].item<float>(), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, AdapterExport, ::testing::ValuesIn(kAdapters),
                         [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace krl::libtorch
