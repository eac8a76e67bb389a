// The plugin `openai`: a policy that samples from servers; its options and its calls.
#include <cstdio>
#include <kernelrl/option_lists.hpp>
#include <kernelrl/sdk.hpp>
#include <nlohmann/json.hpp>

#include "plugins/policies/openai/sampling_call.hpp"
#include "plugins/policies/openai/scoring.hpp"
#include "plugins/policies/tokenizer/chat_options.hpp"

namespace krl::openai {

struct OpenAiPolicy final : Policy {
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE;
  static constexpr bool streams = true;

  std::string base_url, model, key_variable, dialect = "auto";
  std::string tokenizer, chat_template, date = policies::ChatOptions{}.date;
  bool thinking = true, stream = false;
  std::int64_t context = 0, concurrency = 64, retries = 8;
  double timeout_s = 1800, connect_timeout_s = 10, idle_timeout_s = 120, start_timeout_s = 60;
  std::string ca_file, logprob_kind = "auto";

  static constexpr auto config = krl::config(
      opt("base_url", &OpenAiPolicy::base_url,
          "the server: \"http://127.0.0.1:8000/v1\"; without a path, /v1 is used"),
      free_opt(
          "base_urls", KRL_ARRAY,
          "instead of base_url, several servers with the same model: each conversation stays on one server, and failing servers are skipped"),
      opt("model", &OpenAiPolicy::model,
          "the server's name for the model; empty = the only one it serves"),
      opt("api_key", &OpenAiPolicy::key_variable,
          "the environment variable that contains the key; empty = OPENAI_API_KEY, if it is "
          "set and all servers use https")
          .secret(),
      opt("dialect", &OpenAiPolicy::dialect,
          "the type of server; auto = detected. plain = any chat server: for evaluation only")
          .one_of("auto|vllm|sglang|llamacpp|plain"),
      opt("tokenizer", &OpenAiPolicy::tokenizer,
          "a directory with the model's tokenizer.json and chat template: prompts are then "
          "sent as tokens, and answers can be learned from; empty = the server renders the "
          "chat and returns text")
          .path(),
      opt("chat_template", &OpenAiPolicy::chat_template, policies::kChatTemplateMeaning),
      opt("thinking", &OpenAiPolicy::thinking, policies::kThinkingMeaning),
      opt("date", &OpenAiPolicy::date, policies::kDateMeaning),
      opt("context", &OpenAiPolicy::context,
          "maximum number of tokens of a prompt plus its answer; 0 = as reported by the server")
          .range(0, 1 << 24),
      opt("concurrency", &OpenAiPolicy::concurrency,
          "maximum number of requests in flight per server")
          .range(1, 4096),
      opt("timeout_s", &OpenAiPolicy::timeout_s,
          "time limit of a request including all retries, seconds")
          .range(0.1, 86400),
      opt("connect_timeout_s", &OpenAiPolicy::connect_timeout_s,
          "time limit for connecting, including TLS, seconds")
          .range(0.1, 600),
      opt("idle_timeout_s", &OpenAiPolicy::idle_timeout_s,
          "maximum pause within a response, seconds")
          .range(0.1, 86400),
      opt("start_timeout_s", &OpenAiPolicy::start_timeout_s,
          "seconds to wait for a server that is not ready, for example while it loads its model")
          .range(0.1, 86400),
      opt("retries", &OpenAiPolicy::retries, "number of retries of a request").range(0, 100),
      opt("stream", &OpenAiPolicy::stream,
          "stream answers; if a stream breaks, the part received so far is kept"),
      opt("logprobs", &OpenAiPolicy::logprob_kind,
          "the distribution of the server's log-probabilities: raw, or processed (after "
          "temperature, top_k and top_p: vLLM's --logprobs-mode processed_logprobs); auto = "
          "the server's default")
          .one_of("auto|raw|processed"),
      opt("ca_file", &OpenAiPolicy::ca_file,
          "trusted certificates for https (PEM); empty = the system's")
          .path(),
      free_opt("headers", KRL_TABLE, "headers to send with every request; never shown"),
      free_opt("extra", KRL_TABLE,
               "additional parameters of the server, merged into the body of every request"));

  void start(const Config& plan, const Context& c) override {
    check_dialect();
    const Json table = Json::parse(plan.json(), nullptr, /*allow_exceptions=*/false);
    std::optional<ChatTokenizer> chat;
    if (!tokenizer.empty()) {
      chat = ChatTokenizer::from_directory(tokenizer, {chat_template, {thinking, date}});
    }
    // The log is not on the screen while a component starts, which may take a minute.
    const auto waiting = [](const std::string& why) {
      std::fprintf(stderr, "kernelrl: %s\n", why.c_str());
    };
    engine_ = std::make_unique<Engine>(
        settings(plan, table), std::move(chat), [&] { return c.cancelled(); }, waiting);
    if (stream && engine_->token_chat() != nullptr && !engine_->found().dialect->streams) {
      invalid_argument("stream = true: streams of " + engine_->found().server +
                       " lack tokens; set stream = false");
    }
  }

  // Describes what the options imply; a server that turns out to be only plain returns no tokens.
  PolicyInfo preview() override {
    check_dialect();
    const Dialect* known = dialect_by_name(dialect);
    const Dialect& likely = known != nullptr ? *known : vllm_dialect();
    PolicyInfo info = info_of(tokenizer.empty() ? plain_dialect() : likely);
    if (known == nullptr && !tokenizer.empty()) {
      info.adopts = KRL_WEIGHTS_PEFT | KRL_WEIGHTS_HF;
      if (logprob_kind == "auto") info.logprobs = KRL_LOGPROBS_UNKNOWN;
    }
    info.context_tokens = context;
    info.description = base_url.empty() ? "several servers" : "a server at " + base_url;
    return info;
  }

  PolicyInfo describe() override {
    const Found& found = engine_->found();
    PolicyInfo info = info_of(engine_->token_chat() != nullptr ? *found.dialect : plain_dialect());
    info.context_tokens = engine_->context();
    if (const ChatTokenizer* chat = engine_->chat())
      info.vocabulary = chat->tokenizer().vocabulary();
    info.version = engine_->version();
    info.description = described();
    return info;
  }

  void sample(const Requests& requests, const SampleSink& sink, const Context& c) override {
    SamplingCall call(*engine_, sink, c);
    for (const Request request : requests) {
      while (!call.has_room()) call.deliver();
      call.add(request);
    }
    while (!call.is_idle()) call.deliver();
    call.report();
  }

  void sample_stream(const RequestSource& source, const SampleSink& sink,
                     const Context& c) override {
    SamplingCall call(*engine_, sink, c);
    for (bool more = true; more;) {
      while (call.has_room()) {
        const bool wait = call.is_idle();
        const std::optional<Request> request = source.next(wait);
        if (!request) {
          more = !wait;
          break;
        }
        call.add(*request);
      }
      if (!call.is_idle()) call.deliver();
    }
    call.report();
  }

  void tokenize(const Messages& messages, std::string_view answer, const SampleSink& sink,
                const Context&) override {
    const ChatTokenizer* chat = engine_->chat();
    if (chat == nullptr) {
      throw Failure(KRL_UNIMPLEMENTED,
                    "the policy 'openai' has no tokenizer; set the option tokenizer to a directory "
                    "with the model's tokenizer.json");
    }
    const std::vector<TokenId> prompt = chat->prompt(messages), tokens = chat->answer(answer);
    krl_sample sample{};
    sample.prompt_tokens = i32s(prompt);
    sample.tokens = i32s(tokens);
    sink.put(sample);
  }

  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context& c) override {
    score(*engine_, temperature, examples, sink, c);
  }

  void adopt_weights(const Weights& weights, const Context& c) override {
    const PushedWeights pushed{weights.kind(), std::string(weights.directory()), weights.version()};
    const Patience patience = patience_of(c, engine_->settings().timeout);
    engine_->loop().run([&](Yield yield) { engine_->pool().adopt(pushed, patience, yield); });
  }

 private:
  void check_dialect() const {
    const Dialect* known = dialect_by_name(dialect);
    if (known != nullptr && known->gives_tokens && tokenizer.empty()) {
      invalid_argument("dialect = \"" + dialect +
                       "\" sends prompts as tokens: set tokenizer to a directory with the model's "
                       "tokenizer.json, or dialect = \"plain\"");
    }
  }

  std::vector<std::string> servers(const Config& plan) const {
    auto urls = list_option<std::string>(plan, "base_urls");
    if (!base_url.empty()) urls.push_back(base_url);
    if (urls.empty()) invalid_argument("set base_url: \"http://127.0.0.1:8000/v1\"");
    if (!base_url.empty() && urls.size() > 1)
      invalid_argument("set base_url or base_urls, not both");
    return urls;
  }

  Settings settings(const Config& config, const Json& plan) const {
    const auto seconds = [](double s) {
      return std::chrono::duration_cast<http::Duration>(Seconds(s));
    };
    Settings settings;
    settings.base_urls = servers(config);
    settings.model = model;
    settings.dialect = tokenizer.empty() ? &plain_dialect() : dialect_by_name(dialect);
    settings.context = context;
    settings.concurrency = static_cast<unsigned>(concurrency);
    settings.retries = static_cast<unsigned>(retries);
    settings.timeout = Seconds(timeout_s);
    settings.start_timeout = Seconds(start_timeout_s);
    settings.stream = stream;
    settings.extra = table_of(plan, "extra");
    http::Options& http = settings.http;
    http.timeouts.connect = http.timeouts.handshake = seconds(connect_timeout_s);
    http.timeouts.first_byte = seconds(timeout_s);  // an answer in one piece comes at its end
    http.timeouts.idle = seconds(idle_timeout_s);
    http.max_in_flight = settings.concurrency + kBeside;
    http.secret_headers = headers_of(plan);
    http.ca_file = ca_file;
    const std::string key = api_key(key_variable, settings.base_urls);
    if (!key.empty()) http.secret_headers.push_back({"Authorization", "Bearer " + key});
    return settings;
  }

  // Describes a policy that samples by this dialect.
  PolicyInfo info_of(const Dialect& spoken) const {
    PolicyInfo info;
    info.has_tokens = info.continues = info.takes_tokens = spoken.gives_tokens;
    info.shares_prompts = true;
    info.has_logprobs = spoken.encode_scoring != nullptr;
    info.adopts = spoken.adopts;
    info.logprobs = logprob_kind == "raw"         ? KRL_LOGPROBS_RAW
                    : logprob_kind == "processed" ? KRL_LOGPROBS_PROCESSED
                                                  : spoken.logprobs;
    return info;
  }

  // "vLLM 0.32.0 at http://127.0.0.1:8000/v1, model smol, 2048 tokens"
  std::string described() const {
    const Found& found = engine_->found();
    std::string text = found.server + " at " + engine_->settings().base_urls.front();
    if (engine_->servers() > 1) text += " and " + std::to_string(engine_->servers() - 1) + " more";
    text += ", model " + found.model;
    if (engine_->context() > 0) text += ", " + std::to_string(engine_->context()) + " tokens";
    if (engine_->token_chat() != nullptr) return text;
    return text + (engine_->chat() == nullptr
                       ? "; for evaluation only: training needs the option tokenizer"
                       : "; for evaluation only: it returns no token ids");
  }

  static constexpr unsigned kBeside = 4;  // looks at a server, and weights for it
  std::unique_ptr<Engine> engine_;
};

}  // namespace krl::openai

KRL_PLUGIN("openai", "0.1.0",
           krl::policy<krl::openai::OpenAiPolicy>(
               "openai", "Any OpenAI-compatible server: vLLM, SGLang, llama.cpp and others"))
