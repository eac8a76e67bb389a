// The plugin `libtorch`: its options, and a policy that passes every call on to the engine, which
// is opened only when a policy is created.
#include <kernelrl/option_lists.hpp>
#include <kernelrl/sdk.hpp>
#include <nlohmann/json.hpp>

#include "plugins/policies/libtorch/engine_loader.hpp"
#include "plugins/policies/losses/loss.hpp"
#include "plugins/policies/tokenizer/chat_options.hpp"

namespace krl::libtorch {

struct LibtorchPolicy final : TrainablePolicy {
  static constexpr bool streams = true;
  static constexpr ModelConfig kModel{};
  static constexpr std::int64_t kContext = kModel.context;  // context of a model from scratch
  std::string directory, chat_template, date = ChatOptions{}.date;
  bool thinking = true;
  std::int64_t layers = kModel.layers, hidden = kModel.hidden, heads = kModel.heads, kv_heads = 0,
               ffn = 0, context = 0, vocabulary = kModel.vocabulary;
  std::string device = "cpu", dtype = "float32";
  std::int64_t gpu = 0, threads = 0, slots = 512, micro_batch_tokens = 2048;
  bool deterministic = false, recompute = false, critic = false;
  std::int64_t lora_rank = 0;
  double lora_alpha = 32, lora_dropout = 0;
  bool critic_detach = CriticOptions{}.detach;
  double critic_lr = CriticOptions{}.lr;
  double ranks_start_timeout_s = EngineOptions{}.ranks_start_timeout_s,
         ranks_timeout_s = EngineOptions{}.ranks_timeout_s;

  static constexpr auto config = krl::config(
      opt("model.directory", &LibtorchPolicy::directory,
          "a Hugging Face directory of the Llama, Qwen2 or Qwen3 family; empty = a model from "
          "scratch with the sizes below")
          .path(),
      opt("model.chat_template", &LibtorchPolicy::chat_template, policies::kChatTemplateMeaning),
      opt("model.thinking", &LibtorchPolicy::thinking, policies::kThinkingMeaning),
      opt("model.date", &LibtorchPolicy::date, policies::kDateMeaning),
      opt("model.layers", &LibtorchPolicy::layers, "transformer blocks").range(1, 256),
      opt("model.hidden", &LibtorchPolicy::hidden,
          "width of the residual stream; a multiple of 2 * model.heads")
          .range(8, 65536),
      opt("model.heads", &LibtorchPolicy::heads, "attention heads").range(1, 1024),
      opt("model.kv_heads", &LibtorchPolicy::kv_heads,
          "key and value heads, a divisor of model.heads; 0 = as many as model.heads")
          .range(0, 1024),
      opt("model.ffn", &LibtorchPolicy::ffn,
          "width of the gated feed-forward layer; 0 = 8/3 of model.hidden")
          .range(0, 1 << 20),
      opt("model.context", &LibtorchPolicy::context,
          "maximum number of tokens of a prompt plus its answer; 0 = 512 from scratch, or the context of the directory's model")
          .range(0, 1 << 20),
      opt("model.vocabulary", &LibtorchPolicy::vocabulary,
          "maximum size of the vocabulary learned from the warm-start texts")
          .range(261, 1 << 18),
      opt("device", &LibtorchPolicy::device, "the compute device").one_of("cpu|cuda"),
      opt("gpu", &LibtorchPolicy::gpu, "index of the GPU among those visible to the process")
          .range(0, 1023),
      opt("dtype", &LibtorchPolicy::dtype,
          "compute dtype; bfloat16 (GPU only) keeps float32 master weights")
          .one_of("float32|float64|bfloat16"),
      opt("threads", &LibtorchPolicy::threads, "CPU worker threads; 0 = one per core")
          .range(0, 1024),
      opt("slots", &LibtorchPolicy::slots,
          "maximum number of answers generated concurrently on a GPU")
          .range(1, 1 << 14),
      opt("micro_batch_tokens", &LibtorchPolicy::micro_batch_tokens,
          "tokens that a GPU or a CPU thread trains on at once; affects memory, not results")
          .range(16, 1 << 24),
      opt("deterministic", &LibtorchPolicy::deterministic,
          "on a GPU: bitwise reproducible gradients (the CPU's always are); slows down attention in bfloat16"),
      opt("recompute", &LibtorchPolicy::recompute,
          "recompute activations in the backward pass instead of storing them: uses less memory, and is a third slower"),
      opt("critic", &LibtorchPolicy::critic,
          "also learn a critic, which predicts values from the policy's last hidden states; required by advantage = \"gae\""),
      opt("critic_detach", &LibtorchPolicy::critic_detach,
          "the critic's loss trains only the critic, not the model whose hidden states are its input"),
      opt("critic_lr", &LibtorchPolicy::critic_lr, "the critic's constant learning rate")
          .range(0, 1),
      opt("lora.rank", &LibtorchPolicy::lora_rank,
          "train adapters of this rank on top of the frozen model of model.directory; 0 = "
          "train all weights")
          .range(0, 4096),
      opt("lora.alpha", &LibtorchPolicy::lora_alpha,
          "adapters are scaled by alpha / rank; greater than 0")
          .at_least(0),
      opt("lora.dropout", &LibtorchPolicy::lora_dropout,
          "probability of dropping an adapter's input in supervised learning (sft); not applied in reinforcement learning or sampling")
          .range(0, 0.99),
      free_opt("lora.targets", KRL_ARRAY,
               "projections with adapters: [\"q_proj\", \"k_proj\", \"v_proj\", \"o_proj\", "
               "\"gate_proj\", \"up_proj\", \"down_proj\"], which is the default"),
      opt("ranks.start_timeout_s", &LibtorchPolicy::ranks_start_timeout_s,
          "with several processes: seconds within which all of them must connect")
          .range(1, 86400),
      opt("ranks.timeout_s", &LibtorchPolicy::ranks_timeout_s,
          "with several processes: if one sends no heartbeat for this many seconds, the others exit")
          .range(1, 86400));

  static bool follows() { return rank_environment().rank > 0; }

  void start(const Config& config, const Context&) override {
    EngineOptions options;
    options.directory = directory;
    options.chat_template = chat_template;
    options.thinking = thinking;
    options.date = date;
    options.model = directory.empty() ? model_from_scratch() : model_of_directory();
    options.device = device;
    options.gpu = static_cast<int>(gpu);
    options.dtype = dtype;
    options.threads = static_cast<int>(threads);
    options.slots = slots;
    options.micro_batch_tokens = micro_batch_tokens;
    options.deterministic = deterministic;
    options.recompute = recompute;
    if (critic) options.critic = CriticOptions{critic_detach, critic_lr};
    options.lora = lora_options(config);
    options.ranks = rank_environment();
    options.ranks_start_timeout_s = ranks_start_timeout_s;
    options.ranks_timeout_s = ranks_timeout_s;
    engine_.reset(load_engine(device)(options));
  }

  PolicyInfo describe() override {
    PolicyInfo info = engine_->describe();
    info.exports = exports();
    return info;
  }
  PolicyInfo preview() override {
    PolicyInfo info;
    // For a model from scratch, this throws if the sizes do not fit together.
    info.context_tokens = directory.empty() ? model_from_scratch().context : context;
    info.needs_corpus = directory.empty();
    info.has_critic = critic;
    info.takes_tokens = info.continues = true;
    info.exports = exports();
    return info;
  }
  void check_loss(const Loss& loss) override { policies::parse_loss(loss); }
  void sample(const Requests& requests, const SampleSink& sink, const Context& c) override {
    engine_->sample(requests, sink, c);
  }
  void sample_stream(const RequestSource& source, const SampleSink& sink,
                     const Context& c) override {
    engine_->sample_stream(source, sink, c);
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
  void values(const Examples& examples, const CriticSink& sink, const Context& c) override {
    engine_->values(examples, sink, c);
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
  void follow(const Context& c) override { engine_->follow(c); }

 private:
  std::uint32_t exports() const { return KRL_WEIGHTS_HF | (lora_rank > 0 ? KRL_WEIGHTS_PEFT : 0u); }

  ModelConfig model_from_scratch() const {
    if (!chat_template.empty()) invalid_argument("model.chat_template needs model.directory");
    ModelConfig model;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.kv_heads = kv_heads > 0 ? kv_heads : heads;
    model.ffn = ffn > 0 ? ffn : default_ffn(hidden);
    model.context = context > 0 ? context : kContext;
    model.vocabulary = vocabulary;
    check_config(model);
    return model;
  }

  // The directory determines the sizes; a plan with other sizes would not get them.
  ModelConfig model_of_directory() const {
    const bool has_sizes = layers != kModel.layers || hidden != kModel.hidden ||
                           heads != kModel.heads || kv_heads != 0 || ffn != 0 ||
                           vocabulary != kModel.vocabulary;
    if (has_sizes) {
      invalid_argument(
          "the sizes of the model come from model.directory; remove model.layers, hidden, heads, kv_heads, ffn and vocabulary");
    }
    ModelConfig model;
    model.context = context;
    return model;
  }

  std::optional<LoraOptions> lora_options(const Config& config) const {
    const auto plan = nlohmann::json::parse(config.json(), nullptr, /*allow_exceptions=*/false);
    const auto table = plan.value("lora", nlohmann::json::object());
    if (!table.empty() && !table.contains("rank")) {
      invalid_argument(
          "lora." + table.begin().key() +
          " is set without lora.rank, so all weights would be trained; set lora.rank (to 0 if that is intended)");
    }
    if (lora_rank == 0) return std::nullopt;
    if (directory.empty()) invalid_argument("lora.rank needs a model to adapt: model.directory");
    LoraOptions lora;
    lora.rank = lora_rank;
    lora.alpha = lora_alpha;
    lora.dropout = lora_dropout;
    if (table.contains("targets")) lora.targets = list_option<std::string>(config, "lora.targets");
    return lora;
  }

  std::unique_ptr<TrainablePolicy> engine_;
};

}  // namespace krl::libtorch

KRL_PLUGIN("libtorch", "0.1.0",
           krl::policy<krl::libtorch::LibtorchPolicy>(
               "libtorch",
               "A language model trained and sampled in this process, on the CPU or a GPU"))
