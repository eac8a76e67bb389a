#include "plugins/retrieval/encoder/text_encoder.hpp"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstring>
#include <kernelrl/values.hpp>
#include <numeric>

#include "plugins/retrieval/encoder/bert_model.hpp"

namespace krl::retrieval {
namespace {

// Tokens of a batch: enough to keep the processor busy, few enough for its caches.
constexpr std::size_t kCpuBatch = 2048;
constexpr std::size_t kCudaBatch = 65536;

at::Device device_of(const std::string& name) {
  try {
    const at::Device device(name);
    if (device.is_cpu()) return device;
    if (device.is_cuda()) {
      if (!at::globalContext().hasCUDA()) {
        throw Failure(KRL_FAILED_PRECONDITION,
                      "the encoder's device is '" + name + "', but there is no usable GPU");
      }
      return device;
    }
  } catch (const c10::Error&) {
    // said below
  }
  invalid_argument("the encoder's device '" + name + "' is neither cpu nor cuda nor cuda:N");
}

// As many threads for torch's loops as told, while it lives.
class TorchThreads {
 public:
  explicit TorchThreads(int threads) : before_(at::get_num_threads()) {
    if (threads != before_) at::set_num_threads(threads);
  }
  ~TorchThreads() {
    if (at::get_num_threads() != before_) at::set_num_threads(before_);
  }
  TorchThreads(const TorchThreads&) = delete;
  TorchThreads& operator=(const TorchThreads&) = delete;

 private:
  const int before_;
};

}  // namespace

struct TextEncoder::State {
  State(const SentenceModel& sentence_model, const EncoderOptions& options)
      : config(sentence_model.config),
        pooling(sentence_model.pooling),
        normalised(sentence_model.normalised),
        max_tokens(sentence_model.max_tokens),
        query_prompt(sentence_model.query_prompt),
        document_prompt(sentence_model.document_prompt),
        fingerprint(sentence_model.fingerprint),
        tokenizer(sentence_model.tokenizer),
        device(device_of(options.device)),
        threads(std::max(options.threads, 1)),
        bert(sentence_model.weights, config, device) {}

  std::vector<TokenId> tokens_of(std::string_view text, TextRole role) const {
    const std::string& prompt = role == TextRole::kQuery ? query_prompt : document_prompt;
    if (prompt.empty()) return tokenizer.encode(text, max_tokens);
    return tokenizer.encode(prompt + std::string(text), max_tokens);
  }

  // One vector for each text of the batch: texts × hidden, on the CPU.
  at::Tensor encode(const TokenBatch& batch) const {
    const at::Tensor all = bert.forward(batch);
    std::vector<at::Tensor> texts;
    std::int64_t begin = 0;
    for (const std::int64_t length : batch.lengths) {
      texts.push_back(pooling == Pooling::kMean ? all.slice(0, begin, begin + length).mean(0)
                                                : all[begin]);
      begin += length;
    }
    at::Tensor pooled = at::stack(texts);
    constexpr double kLeastNorm = 1e-12;  // as torch.nn.functional.normalize
    if (normalised) pooled = pooled / pooled.norm(2, 1, true).clamp_min(kLeastNorm);
    return pooled.to(at::kCPU).contiguous();
  }

  const BertConfig config;
  const Pooling pooling;
  const bool normalised;
  const std::size_t max_tokens;
  const std::string query_prompt, document_prompt;
  const std::string fingerprint;
  const BertTokenizer tokenizer;
  const at::Device device;
  const int threads;
  const BertModel bert;
};

TextEncoder::TextEncoder(const SentenceModel& model, const EncoderOptions& options) {
  const c10::InferenceMode inference;
  state_ = std::make_unique<State>(model, options);
}
TextEncoder::~TextEncoder() = default;
TextEncoder::TextEncoder(TextEncoder&&) noexcept = default;
TextEncoder& TextEncoder::operator=(TextEncoder&&) noexcept = default;

std::int64_t TextEncoder::dimension() const { return state_->config.hidden; }
const std::string& TextEncoder::fingerprint() const { return state_->fingerprint; }

std::vector<float> TextEncoder::encode(std::string_view text, TextRole role) const {
  return encode(std::span(&text, 1), role);
}

std::vector<float> TextEncoder::encode(std::span<const std::string_view> texts, TextRole role,
                                       const Progress& progress) const {
  const c10::InferenceMode inference;
  const TorchThreads threads(state_->threads);
  const auto hidden = static_cast<std::size_t>(dimension());
  const std::size_t most = state_->device.is_cuda() ? kCudaBatch : kCpuBatch;
  std::vector<std::vector<TokenId>> tokens(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) tokens[i] = state_->tokens_of(texts[i], role);
  // Texts of equal length, which the model computes as one, are next to one another.
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tokens[a].size() < tokens[b].size();
  });
  std::vector<float> vectors(texts.size() * hidden);
  for (std::size_t begin = 0; begin < order.size();) {
    TokenBatch batch;
    std::size_t end = begin;
    while (end < order.size() &&
           (end == begin || batch.tokens.size() + tokens[order[end]].size() <= most)) {
      const std::vector<TokenId>& ids = tokens[order[end++]];
      batch.tokens.insert(batch.tokens.end(), ids.begin(), ids.end());
      batch.lengths.push_back(static_cast<std::int64_t>(ids.size()));
    }
    const at::Tensor encoded = state_->encode(batch);
    for (std::size_t i = begin; i < end; ++i) {
      std::memcpy(vectors.data() + order[i] * hidden,
                  encoded.const_data_ptr<float>() + (i - begin) * hidden, hidden * sizeof(float));
    }
    begin = end;
    if (progress) progress(end);
  }
  return vectors;
}

}  // namespace krl::retrieval
