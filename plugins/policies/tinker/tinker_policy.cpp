// The plugin `tinker`: its options, and a policy whose model lives at a Tinker-compatible service.
#include <cstdio>
#include <cstdlib>
#include <kernelrl/sdk.hpp>
#include <mutex>
#include <random>

#include "checkpoint.hpp"
#include "sampling.hpp"
#include "training.hpp"

namespace krl::tinker {
namespace {

using policies::ChatTokenizer;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

http::Duration seconds(double s) {
  return std::chrono::duration_cast<http::Duration>(std::chrono::duration<double>(s));
}

// A name that no checkpoint has yet: of two runs of one plan, too.
std::string checkpoint_name(std::uint64_t version) {
  char name[64];
  std::snprintf(name, sizeof name, "kernelrl-%06llu-%08x", static_cast<unsigned long long>(version),
                std::random_device{}());
  return name;
}

}  // namespace

struct TinkerPolicy final : TrainablePolicy {
  static constexpr bool streams = true;
  std::string base_url, base_model, api_key, tokenizer, chat_template,
      date = policies::ChatOptions{}.date, ca_file;
  bool thinking = true;
  std::int64_t lora_rank = LoraConfig{}.rank, lora_seed = 0;
  bool lora_unembed = true, lora_mlp = true, lora_attention = true;
  std::string wire = "auto", gradients = "auto", losses = "auto";
  std::int64_t context = 0, vocabulary = 0, in_flight = 256;
  std::int64_t max_chunk_tokens = TrainingOptions{}.chunk_tokens,
               max_chunk_examples = TrainingOptions{}.chunk_examples;
  std::int64_t retries = http::Retries{}.most;
  double timeout_s = 1800, start_timeout_s = 60;

  static constexpr auto config = krl::config(
      opt("base_url", &TinkerPolicy::base_url,
          "the service, \"https://host\"; empty = the environment variable TINKER_BASE_URL"),
      opt("base_model", &TinkerPolicy::base_model,
          "the model to adapt, by the service's name of it")
          .required(),
      opt("api_key", &TinkerPolicy::api_key,
          "environment variable that holds the key; empty = TINKER_API_KEY, if it is set and the "
          "service is asked by https")
          .secret(),
      opt("ca_file", &TinkerPolicy::ca_file, "certificates (PEM) to trust instead of the system's")
          .path(),
      opt("tokenizer", &TinkerPolicy::tokenizer,
          "Hugging Face directory of the base model; tokenizer.json and its configuration files "
          "are enough")
          .path()
          .required(),
      opt("chat_template", &TinkerPolicy::chat_template,
          "chatml, smollm2, qwen2, qwen2.5, qwen3, qwen3-instruct, llama3 or llama3.1; empty = the "
          "directory's own"),
      opt("thinking", &TinkerPolicy::thinking, "qwen3: whether answers begin with thoughts"),
      opt("date", &TinkerPolicy::date, "llama3.1: the date of today that the model is told"),
      opt("context", &TinkerPolicy::context,
          "most tokens of a prompt and its answer together; 0 = what the service says")
          .at_least(0),
      opt("vocabulary", &TinkerPolicy::vocabulary,
          "rows of the model's embedding; 0 = as many as the tokenizer has tokens")
          .at_least(0),
      opt("lora.rank", &TinkerPolicy::lora_rank, "of the adapters that learn").range(1, 4096),
      opt("lora.seed", &TinkerPolicy::lora_seed,
          "of their first weights; -1 = the service's choice")
          .at_least(-1),
      opt("lora.unembed", &TinkerPolicy::lora_unembed, "adapt the last layer"),
      opt("lora.mlp", &TinkerPolicy::lora_mlp, "adapt the feed-forward layers"),
      opt("lora.attention", &TinkerPolicy::lora_attention, "adapt the attention layers"),
      opt("wire", &TinkerPolicy::wire,
          "how gradients and their results travel; auto = protobuf, or JSON where the service does "
          "not read that")
          .one_of("auto|json|proto"),
      opt("gradients", &TinkerPolicy::gradients,
          "what the service makes of a step's token losses: their sum, or SkyRL's means of means; "
          "auto = as the service is found to be")
          .one_of("auto|sum|mean"),
      opt("losses", &TinkerPolicy::losses,
          "auto = the service's own where they have our gradient; local = all gradients are made "
          "here, for which each step asks for log-probabilities first")
          .one_of("auto|local"),
      opt("in_flight", &TinkerPolicy::in_flight, "requests for samples at once").range(1, 4096),
      opt("max_chunk_tokens", &TinkerPolicy::max_chunk_tokens,
          "tokens of one request for gradients; more go in several")
          .at_least(1),
      opt("max_chunk_examples", &TinkerPolicy::max_chunk_examples, "the same in examples")
          .at_least(1),
      opt("timeout_s", &TinkerPolicy::timeout_s,
          "seconds that a sample, or a call that trains, may take with all its tries")
          .range(1, 86400),
      opt("start_timeout_s", &TinkerPolicy::start_timeout_s,
          "seconds until the service must be there")
          .range(1, 86400),
      opt("retries", &TinkerPolicy::retries, "of one exchange, with growing pauses").range(0, 100));

  TinkerPolicy() = default;
  TinkerPolicy(const TinkerPolicy&) = delete;
  TinkerPolicy& operator=(const TinkerPolicy&) = delete;
  ~TinkerPolicy() override { unload(); }

  PolicyInfo preview() override {
    PolicyInfo info;
    info.context_tokens = context;
    info.vocabulary = vocabulary;
    info.shares_prompts = info.continues = info.takes_tokens = true;
    info.has_logprobs = info.needs_old_logprobs = true;
    info.samples_while_training = gradients != "mean";  // or what start() finds
    info.logprobs = KRL_LOGPROBS_RAW;
    info.description = base_model + ", LoRA of rank " + std::to_string(lora_rank);
    return info;
  }

  void check_loss(const Loss& loss) override { parse(loss); }

  void start(const Config&, const Context& call) override {
    chat_ = std::make_unique<ChatTokenizer>(
        ChatTokenizer::from_directory(tokenizer, {chat_template, {thinking, date}}));
    session_ = std::make_unique<Session>(
        service_options(),
        Patience::of(seconds(start_timeout_s), [call] { return call.cancelled(); }));
    if (context == 0) context = session_->context();
    if (vocabulary == 0) vocabulary = chat_->tokenizer().vocabulary();
    training_options_ = training_options();
    SamplingOptions options;
    options.context = context;
    options.vocabulary = vocabulary;
    options.in_flight = static_cast<std::size_t>(in_flight);
    options.timeout = seconds(timeout_s);
    options.protobuf = training_options_.wire != Wire::kJson;
    sampling_ = std::make_unique<Sampling>(*session_, *chat_, options,
                                           [this] { return current_sampler(); });
  }

  PolicyInfo describe() override {
    PolicyInfo info = preview();
    const ServiceKind& kind = session_->kind();
    info.samples_while_training = kind.keeps_samplers;
    info.context_tokens = context;
    info.vocabulary = vocabulary;
    const std::shared_ptr<Sampler> sampler = current_sampler();
    info.version = sampler ? sampler->version : 0;
    info.description += " at " + session_->url() + " (" + kind.name + ")";
    if (training_options_.gradients == Gradients::kMean)
      info.description += ", gradients averaged there and scaled back";
    return info;
  }

  void tokenize(const Messages& messages, std::string_view answer, const SampleSink& sink,
                const Context&) override {
    const auto prompt = chat_->prompt(messages), tokens = chat_->answer(answer);
    krl_sample out{};
    out.stop_reason = KRL_STOP_END;
    out.text = to_c(answer);
    out.prompt_tokens = i32s(prompt);
    out.tokens = i32s(tokens);
    sink.put(out);
  }

  void sample(const Requests& requests, const SampleSink& sink, const Context& call) override {
    be_ready_to_sample(call);
    sampling_->sample(requests, sink, call);
  }

  void sample_stream(const RequestSource& source, const SampleSink& sink,
                     const Context& call) override {
    be_ready_to_sample(call);
    sampling_->sample_stream(source, sink, call);
  }

  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context& call) override {
    if (temperature != 1) refuse_temperature(temperature);
    const std::lock_guard lock(learning_);
    const auto all = training(call).logprobs(copy_examples(examples, limits()), call);
    for (std::size_t i = 0; i < all.size(); ++i) sink.put(i, all[i]);
  }

  void forward_backward(const Loss& loss, const Examples& examples, const Context& call) override {
    const policies::LossOptions options = parse(loss);
    std::vector<LearnedExample> learned = copy_examples(examples, options, limits());
    const std::lock_guard lock(learning_);
    training(call).forward_backward(options, std::move(learned), loss.last_of_step(), call);
  }

  void optimizer_step(const krl_optimizer& optimizer, const Context& call) override {
    const std::lock_guard lock(learning_);
    if (optimizer.grad_clip > 0 && !session_->kind().clips_gradients && !told_of_clipping_) {
      call.warning(session_->kind().name +
                   " does not clip gradients: learn.optimizer.grad_clip = " +
                   std::to_string(optimizer.grad_clip) + " has no effect");
      told_of_clipping_ = true;
    }
    training(call).optimizer_step(optimizer, call);
    ++version_;
  }

  std::uint64_t publish(const Context& call) override {
    const std::lock_guard lock(learning_);
    publish_locked(call);
    return version_;
  }

  void save(std::string_view directory, const Context& call) override;
  void load(std::string_view directory, const Context& call) override;
  void forget(std::string_view directory, const Context& call) override;

 private:
  policies::LossOptions parse(const Loss& loss) const {
    const policies::LossOptions options = policies::parse_loss(loss);
    if (options.entropy > 0) {
      invalid_argument("loss.entropy is " + std::to_string(options.entropy) +
                       "; the policy 'tinker' gets no entropies from the service, set it to 0");
    }
    if (options.temperature != 1) refuse_temperature(options.temperature);
    return options;
  }

  [[noreturn]] static void refuse_temperature(double temperature) {
    invalid_argument("the temperature is " + std::to_string(temperature) +
                     "; the policy 'tinker' learns at temperature 1 only, set "
                     "rollout.temperature = 1");
  }

  std::string key(const std::string& url) const {
    if (api_key.empty()) return url.rfind("https:", 0) == 0 ? environment("TINKER_API_KEY") : "";
    const std::string value = environment(api_key.c_str());
    if (value.empty())
      invalid_argument("policy.api_key names the environment variable " + api_key +
                       ", which is not set");
    return value;
  }

  ServiceOptions service_options() const {
    ServiceOptions options;
    options.base_url = base_url.empty() ? environment("TINKER_BASE_URL") : base_url;
    if (options.base_url.empty())
      invalid_argument(
          "policy.base_url is not set, nor is the environment variable "
          "TINKER_BASE_URL");
    options.api_key = key(options.base_url);
    options.base_model = base_model;
    options.lora.rank = lora_rank;
    if (lora_seed >= 0) options.lora.seed = lora_seed;
    options.lora.train_unembed = lora_unembed;
    options.lora.train_mlp = lora_mlp;
    options.lora.train_attn = lora_attention;
    options.http.ca_file = ca_file;
    options.http.retries.most = static_cast<unsigned>(retries);
    // Requests that wait for results, and one more for each of a step's.
    options.http.max_in_flight = static_cast<unsigned>(in_flight) + 8;
    return options;
  }

  TrainingOptions training_options() const {
    TrainingOptions options;
    options.gradients = gradients == "auto"  ? session_->kind().gradients
                        : gradients == "sum" ? Gradients::kSum
                                             : Gradients::kMean;
    options.own_losses = losses == "auto";
    options.wire = wire == "proto"                                      ? Wire::kProtobuf
                   : wire == "json" || !session_->kind().reads_protobuf ? Wire::kJson
                                                                        : Wire::kAuto;
    options.chunk_tokens = max_chunk_tokens;
    options.chunk_examples = max_chunk_examples;
    options.timeout = seconds(timeout_s);
    return options;
  }

  ExampleLimits limits() const { return {context, vocabulary}; }

  Patience patience(const Context& call) const {
    return Patience::of(seconds(timeout_s), [call] { return call.cancelled(); });
  }

  std::shared_ptr<Sampler> current_sampler() const {
    const std::lock_guard lock(sampler_mutex_);
    return sampler_;
  }

  void set_sampler(std::shared_ptr<Sampler> sampler) {
    const std::lock_guard lock(sampler_mutex_);
    sampler_ = std::move(sampler);
  }

  // The model is made when it is first needed: one that is loaded needs no other before.
  Training& training(const Context& call) {
    note_heartbeat(call);
    if (!training_) {
      model_ = session_->loop().run(
          [&](http::Yield yield) { return session_->create_model(patience(call), yield); });
      training_ = std::make_unique<Training>(*session_, model_, training_options_);
    }
    return *training_;
  }

  void publish_locked(const Context& call) {
    const std::shared_ptr<Sampler> present = current_sampler();
    if (present && present->version == version_) return;
    if (!training(call).broken().empty())
      throw Failure(KRL_FAILED_PRECONDITION, training_->broken());
    set_sampler(session_->loop().run([&](http::Yield yield) {
      return session_->create_sampler(model_, version_, patience(call), yield);
    }));
  }

  // A sampler of SkyRL's shares its memory with the model: asked for samples after the model has
  // learned, it would give those of other weights, or put its own back into the model.
  void be_ready_to_sample(const Context& call) {
    note_heartbeat(call);
    if (current_sampler() && session_->kind().keeps_samplers) return;
    const std::lock_guard lock(learning_);
    if (!current_sampler()) publish_locked(call);
    if (current_sampler()->version != version_ || (training_ && training_->has_gradient())) {
      throw Failure(KRL_FAILED_PRECONDITION,
                    session_->kind().name +
                        " cannot sample with earlier weights than the model's; publish them first");
    }
  }

  void note_heartbeat(const Context& call) {
    const std::string trouble = session_->heartbeat_trouble();
    if (!trouble.empty()) call.warning("the session's heartbeat is not heard: " + trouble);
  }

  // As good as it goes: a service that is not there any more has nothing to free.
  void unload() noexcept {
    if (!training_) return;
    training_.reset();
    try {
      session_->loop().run([&](http::Yield yield) {
        session_->unload_model(model_, Patience::of(std::chrono::seconds(5)), yield);
      });
    } catch (const std::exception&) {
    }
  }

  std::unique_ptr<ChatTokenizer> chat_;
  std::unique_ptr<Session> session_;
  TrainingOptions training_options_;
  std::mutex learning_;  // held by what changes the model or asks it, all but samples
  Model model_;
  std::unique_ptr<Training> training_;  // null before the model is made
  std::uint64_t version_ = 0;           // of the model's weights
  bool told_of_clipping_ = false;
  mutable std::mutex sampler_mutex_;
  std::shared_ptr<Sampler> sampler_;  // of the weights that were last published
  std::unique_ptr<Sampling> sampling_;
};

void TinkerPolicy::save(std::string_view directory, const Context& call) {
  const std::lock_guard lock(learning_);
  Training& training = this->training(call);
  if (!training.broken().empty()) throw Failure(KRL_FAILED_PRECONDITION, training.broken());
  if (training.has_gradient()) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "a gradient waits for its optimizer_step; saving now would lose it");
  }
  const auto submission = [&] {
    return Submission{SaveWeights::kPath, to_json(SaveWeights{model_.id, checkpoint_name(version_),
                                                              model_.next_seq_id++})};
  };
  const SavedWeights saved = session_->loop().run([&](http::Yield yield) {
    return session_->create<SavedWeights>(submission, patience(call), yield);
  });
  write_checkpoint(directory, {saved.path, base_model, lora_rank, version_});
}

// Into a new model, as a service loads weights as the first thing that happens to one.
void TinkerPolicy::load(std::string_view directory, const Context& call) {
  const std::lock_guard lock(learning_);
  const Checkpoint checkpoint = read_checkpoint(directory);
  if (checkpoint.base_model != base_model || checkpoint.lora_rank != lora_rank) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  std::string(directory) + " is of " + checkpoint.base_model +
                      " with LoRA of rank " + std::to_string(checkpoint.lora_rank) +
                      ", and the plan has " + base_model + " with rank " +
                      std::to_string(lora_rank) + "; change it back, or start a new run");
  }
  Model loaded = session_->loop().run([&](http::Yield yield) {
    const Patience patience = this->patience(call);
    Model model = session_->create_model(patience, yield);
    const LoadWeights request{model.id, model.next_seq_id++, checkpoint.path};
    session_->futures().submit_and_wait<LoadedWeights>({LoadWeights::kPath, to_json(request)},
                                                       patience, yield);
    return model;
  });
  unload();
  model_ = std::move(loaded);
  training_ = std::make_unique<Training>(*session_, model_, training_options_);
  version_ = std::max(version_, checkpoint.version);
  set_sampler(nullptr);
}

void TinkerPolicy::forget(std::string_view directory, const Context& call) {
  const Checkpoint checkpoint = read_checkpoint(directory);
  const bool deleted = session_->loop().run([&](http::Yield yield) {
    return session_->delete_checkpoint(checkpoint.path, patience(call), yield);
  });
  if (!deleted) call.info("the service keeps " + checkpoint.path);
}

}  // namespace krl::tinker

KRL_PLUGIN("tinker", "0.1.0",
           krl::policy<krl::tinker::TinkerPolicy>(
               "tinker", "A language model that a Tinker-compatible service samples and trains"))
