// Weights on their way from where they are stored to where they are computed with.
#include "plugins/policies/libtorch/model/stored_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "plugins/policies/libtorch/engine/hugging_face_export.hpp"
#include "plugins/policies/libtorch/engine/hugging_face_model.hpp"
#include "plugins/policies/libtorch/torch.hpp"
#include "plugins/policies/libtorch/training/learned_model.hpp"
#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"
#include "tests/unit/policies/temporary_directory.hpp"
#include "tests/unit/policies/tiny_model.hpp"

namespace krl::libtorch {
namespace {

using namespace policies;  // tokenizer

// What bfloat16 holds exactly.
std::vector<float> rounded_weights(const ParameterLayout& layout) {
  std::vector<float> weights = initial_weights(layout, 3);
  for (float& weight : weights) weight = static_cast<float>(c10::BFloat16(weight));
  return weights;
}

HuggingFaceModel stored(const std::filesystem::path& folder, const ParameterLayout& layout,
                        const std::vector<float>& weights, ExportType type) {
  const ChatTokenizer chat = scratch_chat_tokenizer(scratch_tokenizer({}), layout.config.context);
  export_hugging_face(folder, layout, weights, chat, type, "");
  return load_hugging_face_model(folder);
}

ModelConfig config_without_scale() {
  ModelConfig config = smallest_config();
  config.embedding_scale = 1;
  return config;
}

TEST(StoredWeights, OfAFileAreItsOwnBytes) {
  const test::TemporaryDirectory folder;
  const ParameterLayout layout(config_without_scale());
  const auto weights = rounded_weights(layout);
  const HuggingFaceModel model = stored(folder.path(), layout, weights, ExportType::kBf16);
  std::int64_t total = 0;
  for (const StoredPiece& piece : model.weights.pieces()) {
    EXPECT_EQ(piece.type, StoredType::kBFloat16);
    EXPECT_EQ(piece.bytes.size(), static_cast<std::size_t>(2 * piece.size)) << "no wider copy";
    total += piece.size;
  }
  EXPECT_EQ(total, layout.total);
  EXPECT_EQ(model.weights.floats(), weights);
}

// With adapters the model is computed with in the type that it is stored in, bit for bit.
TEST(StoredWeights, AreTakenOverInTheTypeThatIsComputedWith) {
  const test::TemporaryDirectory folder;
  const ParameterLayout layout(config_without_scale());
  const auto weights = rounded_weights(layout);
  const auto operations = make_cpu_operations(layout.config);
  const at::Tensor expected = at::tensor(weights);
  for (const ExportType type : {ExportType::kBf16, ExportType::kF32}) {
    const HuggingFaceModel model = stored(folder.path(), layout, weights, type);
    for (const at::ScalarType compute : {at::kBFloat16, at::kFloat, at::kDouble}) {
      const LearnedModel learned(layout, model.weights, LoraOptions{.rank = 2}, std::nullopt,
                                 *operations, compute);
      EXPECT_EQ(learned.weights().scalar_type(), compute);
      EXPECT_TRUE(at::equal(learned.weights().to(at::kFloat), expected));
    }
  }
}

TEST(StoredWeights, MayLieAtAnyAddress) {
  const ParameterLayout layout(smallest_config());
  const auto weights = initial_weights(layout, 3);
  std::string bytes(1 + weights.size() * sizeof(float), '\0');
  std::memcpy(bytes.data() + 1, weights.data(), bytes.size() - 1);
  const StoredPiece piece{0, layout.total, StoredType::kFloat32, std::string_view(bytes).substr(1)};
  const StoredWeights shifted({piece}, nullptr);
  const auto operations = make_cpu_operations(layout.config);
  const LearnedModel learned(layout, shifted, std::nullopt, std::nullopt, *operations, at::kFloat);
  EXPECT_TRUE(at::equal(learned.start(shifted), at::tensor(weights)));
  EXPECT_EQ(shifted.floats(), weights);
}

}  // namespace
}  // namespace krl::libtorch
