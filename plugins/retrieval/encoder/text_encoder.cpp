#include "plugins/retrieval/encoder/text_encoder.hpp"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <kernelrl/values.hpp>
#include <numeric>

#include "plugins/retrieval/encoder/bert_model.hpp"

namespace krl::retrieval {
namespace {

// Tokens of a batch: enough to keep the processor busy, few enough for its caches.
constexpr std::size_t kCpuBatch = 512;
constexpr std::size_t kCudaBatch = 65536;

// Only a GPU needs libtorch's CUDA half, which needs much more than the rest.
void require_cuda(const std::string& device) {
  const char* why = nullptr;
  if (!at::globalContext().hasCUDA() &&
      ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr)
    why = ::dlerror();
  if (at::globalContext().hasCUDA()) return;
  throw Failure(KRL_FAILED_PRECONDITION,
                "the encoder's device is '" + device + "', but there is no usable GPU" +
                    (why == nullptr ? std::string()
                                    : std::string(": ") + why +
                                          "; scripts/setup.sh --gpu installs libtorch with CUDA"));
}

at::Device device_of(const std::string& name) {
  try {
    const at::Device device(name);
    if (device.is_cpu()) return device;
    if (device.is_cuda()) {
      require_cuda(name);
      return device;
    }
  } catch (const c10::Error&) {
    // said below
  }
  invalid_argument("the encoder's device '" + name + "' is neither cpu nor cuda nor cuda:N");
}

// Torch's loops stay on the thread that calls them, while it lives: threads that wait for one
// another at the end of every loop take many times as long where the processor has other work.
class OneTorchThread {
 public:
  OneTorchThread() : before_(at::get_num_threads()) {
    if (before_ != 1) at::set_num_threads(1);
  }
  ~OneTorchThread() {
    if (before_ != 1) at::set_num_threads(before_);
  }
  OneTorchThread(const OneTorchThread&) = delete;
  OneTorchThread& operator=(const OneTorchThread&) = delete;

 private:
  const int before_;
};

struct Batch {
  std::vector<std::size_t> texts;  // their numbers
  TokenBatch tokens;
};

// Texts of equal length, which the model computes as one, are next to one another.
std::vector<Batch> batches_of(const std::vector<std::vector<TokenId>>& tokens, std::size_t most) {
  std::vector<std::size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tokens[a].size() < tokens[b].size();
  });
  std::vector<Batch> batches;
  for (const std::size_t text : order) {
    const std::vector<TokenId>& ids = tokens[text];
    if (batches.empty() || batches.back().tokens.tokens.size() + ids.size() > most) {
      batches.emplace_back();
    }
    Batch& batch = batches.back();
    batch.texts.push_back(text);
    batch.tokens.tokens.insert(batch.tokens.tokens.end(), ids.begin(), ids.end());
    batch.tokens.lengths.push_back(static_cast<std::int64_t>(ids.size()));
  }
  return batches;
}

using EncodeBatch = std::function<void(const Batch&)>;

void encode_in_turn(const std::vector<Batch>& batches, const EncodeBatch& encode,
                    const TextEncoder::Progress& progress) {
  const OneTorchThread guard;
  std::size_t done = 0;
  for (const Batch& batch : batches) {
    encode(batch);
    done += batch.texts.size();
    if (progress) progress(done);
  }
}

// A batch on each thread, which need not wait for one another; the calling thread reports.
void encode_side_by_side(const std::vector<Batch>& batches, int threads, const EncodeBatch& encode,
                         const TextEncoder::Progress& progress) {
  constexpr std::chrono::milliseconds kMoment(10);
  std::atomic<std::size_t> next{0}, done{0};
  const auto work = [&] {
    const OneTorchThread guard;
    try {
      for (std::size_t i = next++; i < batches.size(); i = next++) {
        encode(batches[i]);
        done += batches[i].texts.size();
      }
    } catch (...) {
      next = batches.size();
      throw;
    }
  };
  std::vector<std::future<void>> workers;
  for (int i = 0; i < threads; ++i) workers.push_back(std::async(std::launch::async, work));
  std::size_t reported = 0;
  try {
    for (std::future<void>& worker : workers) {
      while (worker.wait_for(kMoment) != std::future_status::ready) {
        if (progress && done > reported) progress(reported = done);
      }
      worker.get();
    }
  } catch (...) {
    next = batches.size();  // the others end with their batches
    throw;
  }
  if (progress && done > reported) progress(done);
}

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
    constexpr double kLeastNorm = 1e-12;  // the value of torch.nn.functional.normalize
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
  std::vector<std::vector<TokenId>> tokens(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) tokens[i] = state_->tokens_of(texts[i], role);
  const auto hidden = static_cast<std::size_t>(dimension());
  std::vector<float> vectors(texts.size() * hidden);
  const std::vector<Batch> batches =
      batches_of(tokens, state_->device.is_cuda() ? kCudaBatch : kCpuBatch);
  const EncodeBatch encode = [&](const Batch& batch) {
    const c10::InferenceMode inference;
    const at::Tensor encoded = state_->encode(batch.tokens);
    for (std::size_t i = 0; i < batch.texts.size(); ++i) {
      std::memcpy(vectors.data() + batch.texts[i] * hidden,
                  encoded.const_data_ptr<float>() + i * hidden, hidden * sizeof(float));
    }
  };
  const int threads = std::min(state_->threads, static_cast<int>(batches.size()));
  if (threads <= 1 || state_->device.is_cuda()) {
    encode_in_turn(batches, encode, progress);
  } else {
    encode_side_by_side(batches, threads, encode, progress);
  }
  return vectors;
}

}  // namespace krl::retrieval
