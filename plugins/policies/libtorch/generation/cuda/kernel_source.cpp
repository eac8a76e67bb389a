#include "plugins/policies/libtorch/generation/cuda/kernel_source.hpp"

#include <algorithm>

#include "generation_attention_source.hpp"
#include "generation_base_source.hpp"
#include "generation_sampling_source.hpp"
#include "generation_tensor_attention_source.hpp"
#include "plugins/policies/libtorch/model/cuda/model_defines.hpp"

namespace krl::libtorch {
namespace {

int element_bytes(Precision precision) { return precision == Precision::kBFloat16 ? 2 : 4; }

std::int64_t rounded_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

}  // namespace

bool uses_tensor_attention(const ModelConfig& config, Precision precision) {
  return precision == Precision::kBFloat16 && config.head_size() % 32 == 0 &&
         config.head_size() <= 128 && config.heads / config.kv_heads <= 8;
}

std::string generation_kernels(const ModelConfig& config, Precision precision) {
  std::string source = generation_base_source;
  source += uses_tensor_attention(config, precision) ? generation_tensor_attention_source
                                                     : generation_attention_source;
  return source + generation_sampling_source;
}

KernelShape kernel_shape(const ModelConfig& config, Precision precision) {
  constexpr std::int64_t kMostThreads = 1024, kLeastChunk = 4096;
  const std::int64_t vector = row_vector(config, element_bytes(precision));
  const std::int64_t row_threads = rounded_up(config.hidden / vector, 32);
  const std::int64_t gated_by_block = vector * kGenerationGateThreads;
  const std::int64_t chunk =
      rounded_up(kLeastChunk, kSampleThreads * logit_vector(config, element_bytes(precision)));
  return {.row_threads = static_cast<int>(std::min(row_threads, kMostThreads)),
          .gate_blocks = static_cast<int>(rounded_up(config.ffn, gated_by_block) / gated_by_block),
          .logit_chunk = static_cast<int>(chunk),
          .logit_chunks = static_cast<int>(rounded_up(config.vocabulary, chunk) / chunk)};
}

std::vector<Define> generation_defines(const ModelConfig& config, Precision precision) {
  // Tiles of keys and values take 64 registers of each kind at heads of 128: one is all that fits.
  const bool small_heads = config.head_size() <= 64;
  const KernelShape shape = kernel_shape(config, precision);
  std::vector<Define> defines = model_defines(config, element_bytes(precision));
  defines.insert(defines.end(), {{"ROW_THREADS", shape.row_threads},
                                 {"LOGIT_CHUNK", shape.logit_chunk},
                                 {"GATE_THREADS", kGenerationGateThreads},
                                 {"PREPARE_THREADS", kPrepareThreads},
                                 {"ATTEND_THREADS", kAttendThreads},
                                 {"SAMPLE_THREADS", kSampleThreads},
                                 {"TENSOR_WARPS", kTensorAttentionThreads / 32},
                                 {"TENSOR_TILES", small_heads ? 2 : 1},
                                 {"TENSOR_BLOCKS", small_heads ? 4 : 3}});
  return defines;
}

}  // namespace krl::libtorch
