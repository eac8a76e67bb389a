// The plugin `tinker`: its options, and a policy whose model lives at a Tinker-compatible service.
#include <cstdlib>
#include <kernelrl/sdk.hpp>

#include "plugins/policies/tinker/remote_model.hpp"
#include "plugins/policies/tokenizer/chat_options.hpp"

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

[[noreturn]] void refuse_temperature(double temperature) {
  invalid_argument("the temperature is " + std::to_string(temperature) +
                   "; the policy 'tinker' supports only temperature 1: set "
                   "rollout.temperature = 1");
}

policies::LossOptions parse(const Loss& loss) {
  const policies::LossOptions options = policies::parse_loss(loss);
  if (options.entropy > 0) {
    invalid_argument("loss.entropy is " + std::to_string(options.entropy) +
                     "; the policy 'tinker' receives no entropies from the service: set it to 0");
  }
  if (options.temperature != 1) refuse_temperature(options.temperature);
  return options;
}

}  // namespace

struct TinkerPolicy final : TrainablePolicy {
  static constexpr bool streams = true;
  std::string base_url, base_model, api_key, tokenizer, chat_template,
      date = policies::ChatOptions{}.date, ca_file;
  bool thinking = true;
  std::int64_t lora_rank = LoraConfig{}.rank, lora_seed = 0;
  bool lora_unembed = true, lora_mlp = true, lora_attention = true;
  std::string gradients = "auto", losses = "auto";
  std::int64_t context = 0, vocabulary = 0, in_flight = 256;
  std::int64_t max_chunk_tokens = TrainingOptions{}.chunk_tokens,
               max_chunk_examples = TrainingOptions{}.chunk_examples;
  std::int64_t retries = http::Retries{}.most;
  double timeout_s = 1800, start_timeout_s = 60;

  static constexpr auto config = krl::config(
      opt("base_url", &TinkerPolicy::base_url,
          "the service, \"https://host\"; empty = the environment variable TINKER_BASE_URL"),
      opt("base_model", &TinkerPolicy::base_model, "the service's name for the model to adapt")
          .required(),
      opt("api_key", &TinkerPolicy::api_key,
          "the environment variable that contains the key; empty = TINKER_API_KEY, if it is "
          "set and the service uses https")
          .secret(),
      opt("ca_file", &TinkerPolicy::ca_file, "certificates (PEM) to trust instead of the system's")
          .path(),
      opt("tokenizer", &TinkerPolicy::tokenizer,
          "Hugging Face directory of the base model; tokenizer.json and its configuration files "
          "are enough")
          .path()
          .required(),
      opt("chat_template", &TinkerPolicy::chat_template, policies::kChatTemplateMeaning),
      opt("thinking", &TinkerPolicy::thinking, policies::kThinkingMeaning),
      opt("date", &TinkerPolicy::date, policies::kDateMeaning),
      opt("context", &TinkerPolicy::context,
          "maximum number of tokens of a prompt plus its answer; 0 = as reported by the service")
          .at_least(0),
      opt("vocabulary", &TinkerPolicy::vocabulary,
          "number of rows of the model's embedding; 0 = as many as the tokenizer has tokens")
          .at_least(0),
      opt("lora.rank", &TinkerPolicy::lora_rank, "rank of the trained adapters").range(1, 4096),
      opt("lora.seed", &TinkerPolicy::lora_seed,
          "seed of the adapters' initial weights; -1 = chosen by the service")
          .at_least(-1),
      opt("lora.unembed", &TinkerPolicy::lora_unembed, "adapt the last layer"),
      opt("lora.mlp", &TinkerPolicy::lora_mlp, "adapt the feed-forward layers"),
      opt("lora.attention", &TinkerPolicy::lora_attention, "adapt the attention layers"),
      opt("gradients", &TinkerPolicy::gradients,
          "how the service combines the token losses of a step: their sum, or SkyRL's means "
          "of means; auto = detected")
          .one_of("auto|sum|mean"),
      opt("losses", &TinkerPolicy::losses,
          "auto = use the service's losses where their gradients equal kernelrl's; local = compute all gradients locally, which requires an additional request for log-probabilities in each step")
          .one_of("auto|local"),
      opt("in_flight", &TinkerPolicy::in_flight, "concurrent requests for samples").range(1, 4096),
      opt("max_chunk_tokens", &TinkerPolicy::max_chunk_tokens,
          "maximum number of tokens in a request for gradients; larger steps are split")
          .at_least(1),
      opt("max_chunk_examples", &TinkerPolicy::max_chunk_examples,
          "maximum number of examples in a request for gradients")
          .at_least(1),
      opt("timeout_s", &TinkerPolicy::timeout_s,
          "time limit of a sample or a training call including all retries, seconds")
          .range(1, 86400),
      opt("start_timeout_s", &TinkerPolicy::start_timeout_s,
          "seconds to wait for the service to become ready")
          .range(1, 86400),
      opt("retries", &TinkerPolicy::retries, "retries of one exchange, with increasing delays")
          .range(0, 100));

  PolicyInfo preview() override {
    PolicyInfo info;
    info.context_tokens = context;
    info.vocabulary = vocabulary;
    info.shares_prompts = info.continues = info.takes_tokens = true;
    info.has_logprobs = info.needs_old_logprobs = true;
    info.samples_while_training = gradients != "mean";  // or as the service is found to be
    info.logprobs = KRL_LOGPROBS_RAW;
    info.description = base_model + ", LoRA of rank " + std::to_string(lora_rank);
    return info;
  }

  void check_loss(const Loss& loss) override { parse(loss); }

  void start(const Config&, const Context& call) override {
    RemoteModelOptions options;
    options.service = service_options();
    options.training = training_options();
    if (gradients != "auto")
      options.gradients = gradients == "sum" ? Gradients::kSum : Gradients::kMean;
    options.sampling.context = context;
    options.sampling.vocabulary = vocabulary;
    options.sampling.in_flight = static_cast<std::size_t>(in_flight);
    options.sampling.timeout = seconds(timeout_s);
    options.start_timeout = seconds(start_timeout_s);
    model_ = std::make_unique<RemoteModel>(
        options, ChatTokenizer::from_directory(tokenizer, {chat_template, {thinking, date}}), call);
  }

  PolicyInfo describe() override {
    PolicyInfo info = preview();
    info.samples_while_training = model_->kind().keeps_samplers;
    info.context_tokens = model_->context();
    info.vocabulary = model_->vocabulary();
    info.version = model_->published_version();
    info.description += " at " + model_->url() + " (" + model_->kind().name + ")";
    if (model_->gradients() == Gradients::kMean)
      info.description += ", gradients averaged there and scaled back";
    return info;
  }

  void tokenize(const Messages& messages, std::string_view answer, const SampleSink& sink,
                const Context&) override {
    const auto prompt = model_->chat().prompt(messages), tokens = model_->chat().answer(answer);
    krl_sample out{};
    out.stop_reason = KRL_STOP_END;
    out.text = to_c(answer);
    out.prompt_tokens = i32s(prompt);
    out.tokens = i32s(tokens);
    sink.put(out);
  }

  void sample(const Requests& requests, const SampleSink& sink, const Context& call) override {
    model_->sample(requests, sink, call);
  }
  void sample_stream(const RequestSource& source, const SampleSink& sink,
                     const Context& call) override {
    model_->sample_stream(source, sink, call);
  }
  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context& call) override {
    if (temperature != 1) refuse_temperature(temperature);
    const auto all = model_->logprobs(examples, call);
    for (std::size_t i = 0; i < all.size(); ++i) sink.put(i, all[i]);
  }
  void forward_backward(const Loss& loss, const Examples& examples, const Context& call) override {
    model_->forward_backward(parse(loss), examples, loss.last_of_step(), call);
  }
  void optimizer_step(const krl_optimizer& optimizer, const Context& call) override {
    model_->optimizer_step(optimizer, call);
  }
  std::uint64_t publish(const Context& call) override { return model_->publish(call); }
  void save(std::string_view directory, const Context& call) override {
    model_->save(directory, call);
  }
  void load(std::string_view directory, const Context& call) override {
    model_->load(directory, call);
  }
  void forget(std::string_view directory, const Context& call) override {
    model_->forget(directory, call);
  }

 private:
  std::string key(const std::string& url) const {
    if (api_key.empty()) return url.rfind("https:", 0) == 0 ? environment("TINKER_API_KEY") : "";
    const std::string value = environment(api_key.c_str());
    if (value.empty()) {
      invalid_argument("policy.api_key names the environment variable " + api_key +
                       ", which is not set");
    }
    return value;
  }

  ServiceOptions service_options() const {
    ServiceOptions options;
    options.base_url = base_url.empty() ? environment("TINKER_BASE_URL") : base_url;
    if (options.base_url.empty()) {
      invalid_argument(
          "policy.base_url is not set, nor is the environment variable "
          "TINKER_BASE_URL");
    }
    options.api_key = key(options.base_url);
    options.base_model = base_model;
    options.lora.rank = lora_rank;
    if (lora_seed >= 0) options.lora.seed = lora_seed;
    options.lora.train_unembed = lora_unembed;
    options.lora.train_mlp = lora_mlp;
    options.lora.train_attn = lora_attention;
    options.http.ca_file = ca_file;
    options.http.retries.most = static_cast<unsigned>(retries);
    // Covers samples that wait for their results, and alongside them learning, and the heartbeat.
    options.http.max_in_flight = static_cast<unsigned>(in_flight) + 8;
    return options;
  }

  TrainingOptions training_options() const {
    TrainingOptions options;
    options.own_losses = losses == "auto";
    options.chunk_tokens = max_chunk_tokens;
    options.chunk_examples = max_chunk_examples;
    options.timeout = seconds(timeout_s);
    return options;
  }

  std::unique_ptr<RemoteModel> model_;
};

}  // namespace krl::tinker

KRL_PLUGIN("tinker", "0.1.0",
           krl::policy<krl::tinker::TinkerPolicy>(
               "tinker", "A language model that a Tinker-compatible service samples and trains"))
