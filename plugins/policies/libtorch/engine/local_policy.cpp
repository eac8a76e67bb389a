#include "plugins/policies/libtorch/engine/local_policy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "plugins/policies/libtorch/engine/checkpoint.hpp"
#include "plugins/policies/libtorch/engine/hugging_face_export.hpp"
#include "plugins/policies/libtorch/engine/hugging_face_model.hpp"
#include "plugins/policies/libtorch/engine/peft_export.hpp"
#include "plugins/policies/libtorch/engine/sampling_call.hpp"
#include "plugins/policies/libtorch/model/parameters.hpp"
#include "plugins/policies/libtorch/torch.hpp"
#include "plugins/policies/libtorch/training/trainer.hpp"
#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage, losses

namespace {

std::string shape_text(const ModelConfig& config) {
  char text[128];
  std::snprintf(text, sizeof text, "%s %lldx%lld, %.2f M parameters", family_name(config.family),
                static_cast<long long>(config.layers), static_cast<long long>(config.hidden),
                static_cast<double>(config.parameters()) * 1e-6);
  return text;
}

Failure too_little_memory(const c10::OutOfMemoryError& error) {
  return Failure(KRL_RESOURCE_EXHAUSTED,
                 "the GPU has too little memory; lower policy.micro_batch_tokens or policy.slots, "
                 "or set policy.recompute = true (" +
                     std::string(error.what_without_backtrace()) + ")");
}

}  // namespace

// The parts that exist once the vocabulary is known.
struct LocalPolicy::Model {
  Model(const ModelConfig& config, ChatTokenizer its_chat, const StoredWeights& weights,
        const EngineOptions& options, std::unique_ptr<Device> its_device, WorkerThreads& threads,
        ShardExchange* exchange)
      : chat(std::move(its_chat)),
        trainer(ParameterLayout(config), weights,
                its_device->operations(config, scalar_type(options.dtype)),
                {.compute = scalar_type(options.dtype),
                 .micro_batch_tokens = options.micro_batch_tokens,
                 .recompute = options.recompute,
                 .lora = options.lora,
                 .critic = options.critic,
                 .exchange = exchange},
                threads),
        device(std::move(its_device)) {}

  const ModelConfig& config() const { return trainer.layout().config; }
  std::uint64_t version() const { return static_cast<std::uint64_t>(trainer.state().steps); }

  // Returns a generator with the present weights, which become those that sample.
  TextGenerator& generator() {
    const auto bytes = [this](TokenId token) -> std::string_view {
      return chat.tokenizer().bytes(token);
    };
    TextGenerator& generator = device->generator(trainer, {bytes, chat.stop_tokens()});
    trainer.note_sampling();
    return generator;
  }

  // Makes the call; where memory runs out and it can be repeated, once more without what only
  // generation needs.
  template <class Call>
  auto with_memory(bool repeatable, const Call& call) {
    try {
      return call();
    } catch (const c10::OutOfMemoryError& error) {
      if (!repeatable || !device->release_generation_memory()) throw too_little_memory(error);
    }
    try {
      return call();
    } catch (const c10::OutOfMemoryError& error) {
      throw too_little_memory(error);
    }
  }

  ChatTokenizer chat;
  Trainer trainer;
  std::unique_ptr<Device> device;  // uses both
};

// Each worker is a core's worth of work by itself: torch's own threads would only get in the way.
LocalPolicy::LocalPolicy(const EngineOptions& options, MakeDevice make_device,
                         ShardExchange* exchange)
    : options_(options),
      make_device_(make_device),
      exchange_(exchange),
      threads_(options.threads, [] { at::set_num_threads(1); }) {
  at::set_num_threads(1);
  make_device_(options_, threads_);  // a device that is not there is an error now, not later
  if (options_.directory.empty()) return;
  HuggingFaceModel read = load_hugging_face_model(options_.directory);
  if (options_.model.context > read.config.context) {
    invalid_argument("model.context is " + std::to_string(options_.model.context) +
                     "; the model in " + options_.directory + " was made for " +
                     std::to_string(read.config.context) + " tokens");
  }
  if (options_.model.context > 0) read.config.context = options_.model.context;
  config_json_ = std::move(read.config_json);
  const ChatChoice choice{options_.chat_template, {options_.thinking, options_.date}};
  model_ = make_model(read.config, ChatTokenizer::from_directory(options_.directory, choice),
                      read.weights);
  if (options_.lora) base_ = fingerprint(model_->trainer.model_weights());
}

LocalPolicy::~LocalPolicy() = default;

LocalPolicy::Model& LocalPolicy::model() {
  if (model_) {
    model_->device->make_current();
    return *model_;
  }
  throw Failure(
      KRL_FAILED_PRECONDITION,
      "the policy 'libtorch' has no vocabulary yet: a model from scratch learns it from the "
      "warm-start texts. Put a stage of kind \"sft\" with a dataset of role \"warmup\" "
      "first, or resume from a checkpoint");
}

std::unique_ptr<LocalPolicy::Model> LocalPolicy::make_model(const ModelConfig& config,
                                                            ChatTokenizer chat,
                                                            const StoredWeights& weights) {
  if (chat.tokenizer().vocabulary() > config.vocabulary) {
    invalid_argument("the tokenizer has " + std::to_string(chat.tokenizer().vocabulary()) +
                     " tokens, more than the " + std::to_string(config.vocabulary) +
                     " rows of the model's embedding");
  }
  return std::make_unique<Model>(config, std::move(chat), weights, options_,
                                 make_device_(options_, threads_), threads_, exchange_);
}

PolicyInfo LocalPolicy::describe() {
  PolicyInfo info;
  const ModelConfig& config = model_ ? model_->config() : options_.model;
  info.needs_corpus = !model_;
  info.context_tokens = config.context;
  info.vocabulary = model_ ? config.vocabulary : 0;
  info.has_critic = options_.critic.has_value();
  info.takes_tokens = info.continues = true;
  info.version = model_ ? model_->version() : 0;
  info.description = shape_text(config);
  if (const LoraLayout* lora = model_ ? model_->trainer.lora() : nullptr) {
    char text[64];
    std::snprintf(text, sizeof text, ", LoRA of rank %lld (%.2f M)",
                  static_cast<long long>(lora->options.rank),
                  static_cast<double>(lora->total) * 1e-6);
    info.description += text;
  }
  info.description +=
      ", " + (model_ ? *model_->device : *make_device_(options_, threads_)).description();
  return info;
}

void LocalPolicy::fit(Span<krl_str> texts, std::uint64_t seed, const Context& context) {
  if (model_) {
    throw Failure(KRL_FAILED_PRECONDITION, "the policy 'libtorch' has a vocabulary already");
  }
  std::vector<std::string_view> corpus;
  for (const krl_str text : texts) corpus.push_back(view(text));
  const std::vector<Merge> merges = learn_merges(corpus, options_.model.vocabulary);
  if (merges.empty()) {
    invalid_argument("the warm-start texts (" + std::to_string(corpus.size()) +
                     ") are too few to learn a vocabulary from: no two bytes occur twice side by "
                     "side");
  }
  Tokenizer tokenizer = scratch_tokenizer(merges);
  ModelConfig config = options_.model;
  config.vocabulary = tokenizer.vocabulary();
  config.embedding_scale = std::sqrt(static_cast<double>(config.hidden));
  model_ = make_model(config, scratch_chat_tokenizer(std::move(tokenizer), config.context),
                      initial_weights(ParameterLayout(config), seed));
  context.info("vocabulary of " + std::to_string(config.vocabulary) + " tokens from " +
               std::to_string(corpus.size()) + " texts; " + describe().description);
}

void LocalPolicy::sample(const Requests& requests, const SampleSink& sink, const Context& context) {
  Model& model = this->model();
  SamplingCall call(model.chat, model.config(), model.version(), sink);
  std::vector<GenerationRequest> generation;
  for (const Request request : requests) {
    if (auto taken = call.take(request)) generation.push_back(std::move(*taken));
  }
  model.with_memory(/*repeatable=*/false, [&] {
    model.generator().run(
        generation, [&](const GeneratedSample& sample) { call.deliver(sample); },
        [&] { context.throw_if_cancelled(); });
  });
}

void LocalPolicy::sample_stream(const RequestSource& source, const SampleSink& sink,
                                const Context& context) {
  Model& model = this->model();
  SamplingCall call(model.chat, model.config(), model.version(), sink);
  const auto next = [&](bool wait) -> std::optional<GenerationRequest> {
    while (const std::optional<Request> request = source.next(wait)) {
      if (auto taken = call.take(*request)) return taken;
    }
    return std::nullopt;
  };
  model.with_memory(/*repeatable=*/false, [&] {
    model.generator().run_stream(
        next, [&](const GeneratedSample& sample) { call.deliver(sample); },
        [&] { context.throw_if_cancelled(); });
  });
}

void LocalPolicy::tokenize(const Messages& messages, std::string_view answer,
                           const SampleSink& sink, const Context&) {
  const auto prompt = model().chat.prompt(messages);
  const auto tokens = model().chat.answer(answer);
  krl_sample out{};
  out.stop_reason = KRL_STOP_END;
  out.text = to_c(answer);
  out.prompt_tokens = i32s(prompt);
  out.tokens = i32s(tokens);
  out.policy_version = model().version();
  sink.put(out);
}

void LocalPolicy::logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                           const Context& context) {
  Model& model = this->model();
  model.with_memory(/*repeatable=*/true,
                    [&] { model.trainer.logprobs(temperature, examples, sink, context); });
}

void LocalPolicy::values(const Examples& examples, const CriticSink& sink, const Context& context) {
  if (!options_.critic) {
    throw Failure(KRL_UNIMPLEMENTED,
                  "the policy 'libtorch' has no critic; set policy.critic = true");
  }
  Model& model = this->model();
  model.with_memory(/*repeatable=*/true, [&] { model.trainer.values(examples, sink, context); });
}

void LocalPolicy::forward_backward(const Loss& loss, const Examples& examples,
                                   const Context& context) {
  const LossOptions options = parse_loss(loss);
  Model& model = this->model();
  const bool first = !model.trainer.has_gradient();
  const LossMetrics metrics = model.with_memory(/*repeatable=*/first, [&] {
    return model.trainer.forward_backward(options, examples, context);
  });
  report_metrics(options, metrics, context);
  context.metric("entropy", metrics.entropy);
  if (options_.critic && options.kind != LossKind::kCrossEntropy)
    context.metric("value_loss", metrics.value_loss);
}

void LocalPolicy::optimizer_step(const krl_optimizer& optimizer, const Context& context) {
  Model& model = this->model();
  const double norm = model.with_memory(
      /*repeatable=*/false, [&] { return model.trainer.optimizer_step(optimizer); });
  context.metric("grad_norm", norm);
}

void LocalPolicy::save(std::string_view directory, const Context&) {
  if (!model_) return save_unfitted_checkpoint(directory);
  save_checkpoint(directory, model_->trainer, model_->trainer.whole_state(), model_->chat, base_);
}

void LocalPolicy::drop_gradient() {
  if (model_) model_->trainer.drop_gradient();
}

void LocalPolicy::join_save() {
  if (model_) model_->trainer.whole_state();
}

void LocalPolicy::load(std::string_view directory, const Context&) {
  const bool from_scratch = options_.directory.empty();
  const std::optional<CheckpointModel> checkpoint = load_checkpoint_model(
      directory, from_scratch ? options_.model : model().config(), options_.dtype);
  if (!checkpoint) {
    model_.reset();
    return;
  }
  if (!from_scratch) {
    const std::string_view family = chat_family_name(model().chat.family());
    if (checkpoint->chat_family != family) {
      throw Failure(KRL_FAILED_PRECONDITION,
                    std::string(directory) + " has learned with the chat template " +
                        checkpoint->chat_family + ", and the plan has " + std::string(family) +
                        "; change policy.model.chat_template back, or start a new run");
    }
    model().trainer.restore(load_checkpoint_state(directory, model().trainer, base_));
    return;
  }
  // Beside the present model, which stays if the checkpoint is damaged.
  const auto size = static_cast<std::size_t>(checkpoint->config.parameters());
  auto loaded = make_model(checkpoint->config,
                           ChatTokenizer::from_directory(directory, {checkpoint->chat_family, {}}),
                           std::vector<float>(size));
  loaded->trainer.restore(load_checkpoint_state(directory, loaded->trainer, base_));
  model_ = std::move(loaded);
}

void LocalPolicy::export_weights(std::string_view directory, std::string_view format,
                                 const Context&) {
  Trainer& trainer = model().trainer;
  if (format == "hf") {
    export_hugging_face(directory, trainer.layout(), trainer.weights(), model().chat,
                        trainer.type() == at::kBFloat16 ? ExportType::kBf16 : ExportType::kF32,
                        config_json_);
  } else if (format == "peft" && trainer.lora() != nullptr) {
    const auto adapters = trainer.state().weights.to(at::kCPU, at::kFloat).contiguous();
    const auto base = std::filesystem::absolute(options_.directory).lexically_normal();
    export_peft(directory, *trainer.lora(), base.string(),
                {adapters.const_data_ptr<float>(), static_cast<std::size_t>(adapters.numel())});
  } else {
    throw Failure(KRL_UNIMPLEMENTED,
                  "the policy 'libtorch' exports the formats 'hf' and, with LoRA, 'peft', not '" +
                      std::string(format) + "'");
  }
}

}  // namespace krl::libtorch
