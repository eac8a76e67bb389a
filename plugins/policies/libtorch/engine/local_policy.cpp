#include "engine/local_policy.hpp"

#include <cmath>
#include <cstdio>
#include <optional>

#include "engine/checkpoint.hpp"
#include "engine/hugging_face_export.hpp"
#include "generation/generator.hpp"
#include "model/parameters.hpp"
#include "tokenizer/byte_pair_encoding.hpp"
#include "tokenizer/chat_format.hpp"
#include "training/trainer.hpp"

namespace krl::libtorch {
namespace {

at::ScalarType scalar_type(const std::string& name) {
  if (name == "float32") return at::kFloat;
  if (name == "float64") return at::kDouble;
  invalid_argument("dtype is '" + name + "'; it must be float32 or float64");
}

GenerationRequest to_generation(const Request& request, const BytePairEncoding& encoding) {
  GenerationRequest generation;
  generation.prompt = render_prompt(encoding, request.messages());
  generation.samples = request.n_samples();
  generation.max_tokens = request.max_tokens();
  generation.options = {request.temperature(), request.top_p(), request.top_k()};
  generation.seed = request.seed();
  for (const std::string_view stop : request.stop()) {
    if (stop.empty()) invalid_argument("a stop text is empty");
    generation.stop.emplace_back(stop);
  }
  return generation;
}

}  // namespace

// What there is once the vocabulary is known.
struct LocalPolicy::Fitted {
  Fitted(const ModelConfig& config, BytePairEncoding learned, const std::vector<float>& weights,
         const EngineOptions& options, WorkerThreads& threads)
      : encoding(std::move(learned)),
        trainer(ParameterLayout(config), weights, make_cpu_operations(config),
                {.compute = scalar_type(options.dtype),
                 .micro_batch_tokens = options.micro_batch_tokens},
                threads),
        threads_(threads) {}

  // Generation with the weights of now.
  Generator& generator() {
    if (packed_version_ != trainer.state().steps) {
      pack_weights(trainer.layout(), trainer.weights(), packed_);
      packed_version_ = trainer.state().steps;
    }
    if (!generator_) generator_.emplace(packed_, encoding, threads_);
    return *generator_;
  }

  BytePairEncoding encoding;
  Trainer trainer;

 private:
  WorkerThreads& threads_;
  DecoderWeights packed_;
  std::int64_t packed_version_ = -1;
  std::optional<Generator> generator_;
};

// Each worker is a core's worth of work by itself: torch's own threads would only get in the way.
LocalPolicy::LocalPolicy(const EngineOptions& options)
    : options_(options), threads_(options.threads, [] { at::set_num_threads(1); }) {
  scalar_type(options.dtype);
  at::set_num_threads(1);
}

LocalPolicy::~LocalPolicy() = default;

LocalPolicy::Fitted& LocalPolicy::fitted() {
  if (fitted_) return *fitted_;
  throw Failure(
      KRL_FAILED_PRECONDITION,
      "the policy 'libtorch' has no vocabulary yet: a model from scratch learns it from the "
      "warm-start texts. Put a stage of kind \"sft\" with a dataset of role \"warmup\" "
      "first, or resume from a checkpoint");
}

PolicyInfo LocalPolicy::describe() {
  PolicyInfo info;
  const ModelConfig& config = fitted_ ? fitted_->trainer.layout().config : options_.model;
  info.needs_corpus = !fitted_;
  info.context_tokens = config.context;
  info.vocabulary = fitted_ ? config.vocabulary : 0;
  info.parameters = config.parameters();
  info.version = fitted_ ? static_cast<std::uint64_t>(fitted_->trainer.state().steps) : 0;
  char text[128];
  std::snprintf(text, sizeof text, "llama %lldx%lld, %.2f M parameters, cpu, %d thread%s",
                static_cast<long long>(config.layers), static_cast<long long>(config.hidden),
                static_cast<double>(config.parameters()) * 1e-6, threads_.size(),
                threads_.size() == 1 ? "" : "s");
  info.description = text;
  return info;
}

void LocalPolicy::fit(Span<krl_str> texts, std::uint64_t seed, const Context& context) {
  if (fitted_) {
    throw Failure(KRL_FAILED_PRECONDITION, "the policy 'libtorch' has a vocabulary already");
  }
  std::vector<std::string_view> corpus;
  for (const krl_str text : texts) corpus.push_back(view(text));
  BytePairEncoding encoding = train_byte_pair_encoding(corpus, options_.model.vocabulary);
  if (encoding.merges().empty()) {
    invalid_argument("the warm-start texts (" + std::to_string(corpus.size()) +
                     ") are too few to learn a vocabulary from: no two bytes occur twice side by "
                     "side");
  }
  ModelConfig config = options_.model;
  config.vocabulary = encoding.vocabulary();
  config.embedding_scale = std::sqrt(static_cast<double>(config.hidden));
  const auto weights = initial_weights(ParameterLayout(config), seed);
  fitted_ = std::make_unique<Fitted>(config, std::move(encoding), weights, options_, threads_);
  context.info("vocabulary of " + std::to_string(config.vocabulary) + " tokens from " +
               std::to_string(corpus.size()) + " texts; " + describe().description);
}

void LocalPolicy::sample(const Requests& requests, const SampleSink& sink, const Context& context) {
  Fitted& model = fitted();
  std::vector<GenerationRequest> generation;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    generation.push_back(to_generation(requests[i], model.encoding));
    check_request(generation.back(), i, options_.model.context);
  }
  Generator& generator = model.generator();
  model.trainer.note_sampling();
  const auto version = static_cast<std::uint64_t>(model.trainer.state().steps);
  generator.run(
      generation,
      [&](const GeneratedSample& sample) {
        krl_sample out{};
        out.stop_reason = sample.stop_reason;
        out.request = static_cast<std::uint32_t>(sample.request);
        out.index = sample.index;
        out.text = to_c(sample.text);
        out.prompt_tokens = i32s(generation[sample.request].prompt);
        out.tokens = i32s(sample.tokens);
        out.logprobs = f32s(sample.logprobs);
        out.policy_version = version;
        sink.put(out);
      },
      [&] { context.throw_if_cancelled(); });
}

void LocalPolicy::tokenize(const Messages& messages, std::string_view answer,
                           const SampleSink& sink, const Context&) {
  const BytePairEncoding& encoding = fitted().encoding;
  const auto prompt = render_prompt(encoding, messages);
  const auto tokens = render_answer(encoding, answer);
  krl_sample out{};
  out.stop_reason = KRL_STOP_END;
  out.text = to_c(answer);
  out.prompt_tokens = i32s(prompt);
  out.tokens = i32s(tokens);
  out.policy_version = static_cast<std::uint64_t>(fitted().trainer.state().steps);
  sink.put(out);
}

void LocalPolicy::logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                           const Context& context) {
  fitted().trainer.logprobs(temperature, examples, sink, context);
}

void LocalPolicy::forward_backward(const Loss& loss, const Examples& examples,
                                   const Context& context) {
  const LossOptions options = parse_loss(loss);
  const LossMetrics metrics = fitted().trainer.forward_backward(options, examples, context);
  context.metric("loss", metrics.loss);
  context.metric("entropy", metrics.entropy);
  if (options.kind == LossKind::kCrossEntropy) return;
  context.metric("clip_fraction", metrics.clip_fraction);
  context.metric("ppo_kl", metrics.ppo_kl);
  context.metric("logprob_diff_mean", metrics.logprob_diff_mean);
  context.metric("logprob_diff_max", metrics.logprob_diff_max);
}

void LocalPolicy::optimizer_step(const krl_optimizer& optimizer, const Context& context) {
  context.metric("grad_norm", fitted().trainer.optimizer_step(optimizer));
}

void LocalPolicy::save(std::string_view directory, const Context&) {
  if (!fitted_) return save_unfitted_checkpoint(directory);
  save_checkpoint(directory, fitted_->trainer, fitted_->encoding);
}

void LocalPolicy::load(std::string_view directory, const Context&) {
  std::optional<Checkpoint> checkpoint =
      load_checkpoint(directory, options_.model, scalar_type(options_.dtype));
  if (!checkpoint) {
    fitted_.reset();
    return;
  }
  const std::vector<float> none(
      static_cast<std::size_t>(ParameterLayout(checkpoint->config).total));
  auto loaded = std::make_unique<Fitted>(checkpoint->config, std::move(checkpoint->encoding), none,
                                         options_, threads_);
  loaded->trainer.restore(std::move(checkpoint->state));
  fitted_ = std::move(loaded);
}

void LocalPolicy::export_weights(std::string_view directory, std::string_view format,
                                 const Context&) {
  if (format != "hf") {
    throw Failure(KRL_UNIMPLEMENTED, "the policy 'libtorch' exports the format 'hf' only, not '" +
                                         std::string(format) + "'");
  }
  export_hugging_face(directory, fitted().trainer.layout(), fitted().trainer.weights(),
                      fitted().encoding);
}

}  // namespace krl::libtorch
