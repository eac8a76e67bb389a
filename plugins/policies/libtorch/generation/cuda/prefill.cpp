#include "plugins/policies/libtorch/generation/cuda/prefill.hpp"

#include <cmath>

#include "plugins/policies/libtorch/generation/cuda/upload.hpp"
#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {
namespace {

// Tokens of one pass: enough for products at full speed, and activations of some hundred megabytes.
constexpr std::int64_t kMostTokens = 8192;

std::int64_t computed_tokens(const StartBatch::Prefill& prompt) {
  return static_cast<std::int64_t>(prompt.prompt->size()) - 1;
}

}  // namespace

// Prompts one after the other. Rows from `tokens` on only fill up `rows`.
struct Prefill::Packed {
  std::int64_t tokens = 0, rows = 0, longest = 0;
  at::Tensor memory;  // holds everything below
  PromptRows on_device{};
  at::Tensor starts;  // [prompts + 1] int32: the first row of each prompt, and `tokens`
};

Prefill::Prefill(const DeviceModel& model, const GenerationKernels& kernels,
                 std::int64_t fixed_rows)
    : model_(model), kernels_(kernels), fixed_rows_(fixed_rows) {}

void Prefill::run(std::span<const StartBatch::Prefill> prompts, const SlotCache& cache) const {
  while (!prompts.empty()) {
    std::size_t count = 1;
    std::int64_t tokens = computed_tokens(prompts[0]);
    while (count < prompts.size() && tokens + computed_tokens(prompts[count]) <= kMostTokens) {
      tokens += computed_tokens(prompts[count++]);
    }
    run_packed(prompts.first(count), cache);
    prompts = prompts.subspan(count);
  }
}

Prefill::Packed Prefill::pack(std::span<const StartBatch::Prefill> prompts) const {
  Packed packed;
  std::vector<int> tokens, positions, prompt_of, first_copy = {0}, copies, starts = {0};
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    const std::int64_t length = computed_tokens(prompts[p]);
    for (std::int64_t i = 0; i < length; ++i) {
      tokens.push_back((*prompts[p].prompt)[static_cast<std::size_t>(i)]);
      positions.push_back(static_cast<int>(i));
      prompt_of.push_back(static_cast<int>(p));
    }
    copies.insert(copies.end(), prompts[p].slots.begin(), prompts[p].slots.end());
    first_copy.push_back(static_cast<int>(copies.size()));
    starts.push_back(static_cast<int>(tokens.size()));
    packed.longest = std::max(packed.longest, length);
  }
  packed.tokens = static_cast<std::int64_t>(tokens.size());
  packed.rows = fixed_rows_ == 0 ? packed.tokens
                                 : (packed.tokens + fixed_rows_ - 1) / fixed_rows_ * fixed_rows_;
  const auto rows = static_cast<std::size_t>(packed.rows);
  tokens.resize(rows, 0);
  positions.resize(rows, 0);
  prompt_of.resize(rows, -1);

  std::vector<int> all;
  std::vector<std::size_t> begins;
  for (const auto* part : {&tokens, &positions, &prompt_of, &first_copy, &copies, &starts}) {
    begins.push_back(all.size());
    all.insert(all.end(), part->begin(), part->end());
  }
  packed.memory = upload(all, model_.device()).view(at::kInt);
  const int* at = packed.memory.const_data_ptr<int>();
  packed.on_device = {at + begins[0], at + begins[1], at + begins[2], at + begins[3],
                      at + begins[4]};
  packed.starts = packed.memory.narrow(0, static_cast<std::int64_t>(begins[5]),
                                       static_cast<std::int64_t>(starts.size()));
  return packed;
}

void Prefill::run_packed(std::span<const StartBatch::Prefill> prompts,
                         const SlotCache& cache) const {
  const ModelConfig& config = model_.config;
  const Packed packed = pack(prompts);
  const Rows rows{packed.rows};
  const auto rows_of = [&](std::int64_t width) { return model_.empty({packed.rows, width}); };
  const at::Tensor x = rows_of(config.hidden), normed = rows_of(config.hidden),
                   qkv = rows_of(config.qkv_width()), delta = rows_of(config.hidden),
                   gate_up = rows_of(2 * config.ffn), gated = rows_of(config.ffn),
                   narrowed = rows_of(model_.narrowed_width());
  const auto project = [&](const Projection& projection, const at::Tensor& in,
                           const at::Tensor& out) {
    const std::int64_t piece = fixed_rows_ == 0 ? packed.rows : fixed_rows_;
    for (std::int64_t row = 0; row < packed.rows; row += piece)
      project_into(projection, in.narrow(0, row, piece), out.narrow(0, row, piece), narrowed);
  };
  kernels_.embed_prompts(packed.on_device, x, normed);
  for (std::size_t i = 0; i < model_.layers.size(); ++i) {
    const DeviceModel::Layer& layer = model_.layers[i];
    const LayerCache layer_cache = cache.layer(static_cast<std::int64_t>(i));
    project(layer.qkv, normed, qkv);
    kernels_.prepare_prompts(packed.on_device, qkv, layer.heads, layer_cache);
    if (i + 1 == model_.layers.size()) break;  // only its keys and values are needed
    project(layer.attention_out, attend(packed, qkv, layer_cache), delta);
    kernels_.add_and_norm(rows, delta, layer.ffn_norm, x, normed);
    project(layer.gate_up, normed, gate_up);
    kernels_.gate(rows, gate_up, gated);
    project(layer.down, gated, delta);
    kernels_.add_and_norm(rows, delta, model_.norm_after(i), x, normed);
  }
}

at::Tensor Prefill::attend(const Packed& packed, const at::Tensor& qkv,
                           const LayerCache& cache) const {
  const ModelConfig& config = model_.config;
  if (!kernels_.uses_tensor_attention()) {
    const at::Tensor out = model_.empty({packed.rows, config.attention_width()}).zero_();
    kernels_.attend_prompts(packed.on_device, qkv, cache, out);
    return out;
  }
  const at::Tensor heads =
      qkv.narrow(0, 0, packed.tokens)
          .view({packed.tokens, config.heads + 2 * config.kv_heads, config.head_size()});
  const at::Tensor out = std::get<0>(at::_flash_attention_forward(
      heads.narrow(1, 0, config.heads), heads.narrow(1, config.heads, config.kv_heads),
      heads.narrow(1, config.heads + config.kv_heads, config.kv_heads), packed.starts,
      packed.starts, packed.longest, packed.longest, /*dropout_p=*/0.0, /*is_causal=*/true,
      /*return_debug_mask=*/false,
      /*scale=*/1 / std::sqrt(static_cast<double>(config.head_size()))));
  const at::Tensor flat = out.reshape({packed.tokens, config.attention_width()});
  if (packed.rows == packed.tokens) return flat;
  return at::constant_pad_nd(flat, {0, 0, 0, packed.rows - packed.tokens});
}

}  // namespace krl::libtorch
