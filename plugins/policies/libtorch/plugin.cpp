// The plugin `libtorch`: its options, and a policy that passes every call on to the engine, which
// is opened only when a policy is created.
#include <kernelrl/sdk.hpp>

#include "engine_loader.hpp"

namespace krl::libtorch {

struct LibtorchPolicy final : TrainablePolicy {
  static constexpr ModelConfig kModel{};
  std::int64_t layers = kModel.layers, hidden = kModel.hidden, heads = kModel.heads, kv_heads = 0,
               ffn = 0, context = kModel.context, vocabulary = kModel.vocabulary;
  std::int64_t threads = 0, micro_batch_tokens = EngineOptions{}.micro_batch_tokens;
  std::string dtype = "float32";

  static constexpr auto config = krl::config(
      opt("model.layers", &LibtorchPolicy::layers, "transformer blocks").range(1, 256),
      opt("model.hidden", &LibtorchPolicy::hidden,
          "width of the residual stream; a multiple of 2 * model.heads")
          .range(8, 65536),
      opt("model.heads", &LibtorchPolicy::heads, "attention heads").range(1, 1024),
      opt("model.kv_heads", &LibtorchPolicy::kv_heads,
          "heads of keys and values, a divisor of model.heads; 0 = as many as model.heads")
          .range(0, 1024),
      opt("model.ffn", &LibtorchPolicy::ffn,
          "width of the gated feed-forward layer; 0 = 8/3 of model.hidden")
          .range(0, 1 << 20),
      opt("model.context", &LibtorchPolicy::context,
          "most tokens of a prompt and its answer together")
          .range(16, 1 << 20),
      opt("model.vocabulary", &LibtorchPolicy::vocabulary,
          "most tokens of the vocabulary that is learned from the warm-start texts")
          .range(261, 1 << 18),
      opt("threads", &LibtorchPolicy::threads, "worker threads; 0 = one per core").range(0, 1024),
      opt("micro_batch_tokens", &LibtorchPolicy::micro_batch_tokens,
          "tokens that a thread trains on at once: bounds the memory, not the result")
          .range(16, 1 << 24),
      opt("dtype", &LibtorchPolicy::dtype, "type of the weights and of training")
          .one_of("float32|float64"));

  void start(const Config&, const Context&) override {
    EngineOptions options;
    options.model.layers = layers;
    options.model.hidden = hidden;
    options.model.heads = heads;
    options.model.kv_heads = kv_heads > 0 ? kv_heads : heads;
    options.model.ffn = ffn > 0 ? ffn : default_ffn(hidden);
    options.model.context = context;
    options.model.vocabulary = vocabulary;
    check_config(options.model);
    options.threads = static_cast<int>(threads);
    options.micro_batch_tokens = micro_batch_tokens;
    options.dtype = dtype;
    engine_.reset(load_engine()(options));
  }

  PolicyInfo describe() override { return engine_->describe(); }
  void sample(const Requests& requests, const SampleSink& sink, const Context& c) override {
    engine_->sample(requests, sink, c);
  }
  void tokenize(const Messages& messages, std::string_view answer, const SampleSink& sink,
                const Context& c) override {
    engine_->tokenize(messages, answer, sink, c);
  }
  void fit(Span<krl_str> texts, std::uint64_t seed, const Context& c) override {
    engine_->fit(texts, seed, c);
  }
  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context& c) override {
    engine_->logprobs(temperature, examples, sink, c);
  }
  void forward_backward(const Loss& loss, const Examples& examples, const Context& c) override {
    engine_->forward_backward(loss, examples, c);
  }
  void optimizer_step(const krl_optimizer& optimizer, const Context& c) override {
    engine_->optimizer_step(optimizer, c);
  }
  void save(std::string_view directory, const Context& c) override { engine_->save(directory, c); }
  void load(std::string_view directory, const Context& c) override { engine_->load(directory, c); }
  void export_weights(std::string_view directory, std::string_view format,
                      const Context& c) override {
    engine_->export_weights(directory, format, c);
  }

 private:
  std::unique_ptr<TrainablePolicy> engine_;
};

}  // namespace krl::libtorch

KRL_PLUGIN("libtorch", "0.1.0",
           krl::policy<krl::libtorch::LibtorchPolicy>(
               "libtorch", "A small decoder that is trained and sampled in this process"))
