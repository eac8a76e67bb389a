// Learns to answer rightly: one number, the log-odds of a right answer. And what can be wrong with
// a policy.
#include <kernelrl/policy.hpp>

#include <cmath>
#include <fstream>
#include <thread>

#include "tests/broken/plugins/answers.hpp"
#include "tests/broken/plugins/trouble.hpp"

namespace broken {
namespace {

constexpr char kDescribe[] = "describe";
constexpr char kSample[] = "sample";
constexpr char kTokenize[] = "tokenize";
constexpr char kLogprobs[] = "logprobs";
constexpr char kForwardBackward[] = "forward_backward";
constexpr char kOptimizerStep[] = "optimizer_step";
constexpr char kSave[] = "save";
constexpr char kLoad[] = "load";
constexpr std::int32_t kPrompt = 0;  // every prompt, as a token

// A token is 1 for a right answer, else 0.
double log_probability(double odds, std::int32_t token) {
  return -std::log1p(std::exp(token == 1 ? -odds : odds));
}

struct Policy final : krl::TrainablePolicy, Trouble {
  using Base = krl::Policy;
  static constexpr auto config = options(
      "sample|describe|tokenize|logprobs|forward_backward|optimizer_step|save|load|create|destroy");
  Policy() { at = kSample; }

  krl::PolicyInfo describe() override {
    krl::PolicyInfo info;
    info.context_tokens = 1024;
    info.vocabulary = 256;
    info.version = is("version falls") ? 0 : version_;
    info.description = is("not UTF-8") ? "\xff\xfe" : "broken";
    info.has_tokens = !is("no tokens");
    if (is("negative sizes")) info.context_tokens = info.vocabulary = -1;
    return info;
  }

  void sample(const krl::Requests& requests, const krl::SampleSink& sink,
              const krl::Context&) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      for (std::uint32_t k = 0; k < requests[i].n_samples(); ++k)
        answer_request(requests[i], static_cast<std::uint32_t>(i), k, sink);
    }
  }

  void tokenize(const krl::Messages&, std::string_view text, const krl::SampleSink& sink,
                const krl::Context&) override {
    const std::int32_t token = is_right(text) ? 1 : 0;
    krl_sample sample{};
    sample.prompt_tokens = {&kPrompt, 1};
    sample.tokens = {&token, 1};
    sink.put(sample);
  }

  void logprobs(double temperature, const krl::Examples& examples, const krl::LogprobSink& sink,
                const krl::Context&) override {
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const auto value =
          static_cast<float>(log_probability(odds_ / temperature, examples[i].tokens()[0]));
      sink.put(i, krl::Span<float>(&value, 1));
    }
  }

  void forward_backward(const krl::Loss& loss, const krl::Examples& examples,
                        const krl::Context& context) override {
    for (const krl::Example& e : examples) {
      const double right = std::exp(log_probability(odds_, 1));
      const double advantage = e.advantages().empty() ? 1 : e.advantages()[0];
      gradient_ -= advantage * (e.tokens()[0] - right) / loss.normaliser();
    }
    context.metric("loss", is("nan loss") ? std::nan("") : gradient_);
  }

  void optimizer_step(const krl_optimizer& optimizer, const krl::Context& context) override {
    context.metric("grad_norm", is("nan gradient") ? std::nan("") : std::abs(gradient_));
    odds_ -= optimizer.lr * gradient_;
    gradient_ = 0;
    ++version_;
  }

  void save(std::string_view directory, const krl::Context&) override {
    if (is("writes nothing")) return;
    std::ofstream file(std::string(directory) + "/policy.bin", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&odds_), sizeof odds_);
    file.write(reinterpret_cast<const char*>(&version_), sizeof version_);
  }

  void load(std::string_view directory, const krl::Context&) override {
    std::ifstream file(std::string(directory) + "/policy.bin", std::ios::binary);
    file.read(reinterpret_cast<char*>(&odds_), sizeof odds_);
    file.read(reinterpret_cast<char*>(&version_), sizeof version_);
    if (!file) throw krl::Failure(KRL_NOT_FOUND, "no policy.bin");
  }

 private:
  // One sample, whose parts a defect may change before it is put.
  struct Draft {
    std::string text;
    std::vector<std::int32_t> tokens;
    std::vector<float> logprobs;
    std::uint32_t request, index = 0, stop_reason = KRL_STOP_END;
    std::uint64_t version;

    krl_sample c() const {
      krl_sample sample{};
      sample.request = request, sample.index = index, sample.stop_reason = stop_reason;
      sample.text = krl::to_c(text);
      sample.prompt_tokens = {&kPrompt, 1};
      sample.tokens = krl::i32s(tokens), sample.logprobs = krl::f32s(logprobs);
      sample.policy_version = version;
      return sample;
    }
  };

  void answer_request(const krl::Request& request, std::uint32_t number, std::uint32_t index,
                      const krl::SampleSink& sink) const {
    if (is("missing") && number == 1) return;
    if (is("loses all")) return sink.fail(number, KRL_UNAVAILABLE, "server away");
    if (is("loses one") && number == 1) return sink.fail(number, KRL_UNAVAILABLE, "server away");
    if (is("fails another")) sink.fail(number + 7, KRL_UNAVAILABLE, "gone");
    Draft draft = draw(request, number, index);
    spoil(draft);
    const krl_sample sample = draft.c();
    if (is("another thread")) return std::thread([&] { sink.put(sample); }).join();
    sink.put(sample);
    if (is("twice")) sink.put(sample);
    if (is("fails what it gave")) sink.fail(number, KRL_UNAVAILABLE, "gone");
  }

  Draft draw(const krl::Request& request, std::uint32_t number, std::uint32_t index) const {
    const std::uint32_t random = request.seed_of_sample(index);
    const bool right = random * 0x1p-31 < std::exp(log_probability(odds_, 1));
    const std::int32_t token = right ? 1 : 0;
    const auto logprob = static_cast<float>(log_probability(odds_, token));
    return {answer(right, random), {token}, {logprob}, number, index, KRL_STOP_END, version_};
  }

  void spoil(Draft& d) const {
    if (is("wrong request")) d.request += 7;
    if (is("wrong index")) d.index = 99;
    if (is("stop reason 99")) d.stop_reason = 99;
    if (is("short logprobs")) d.tokens.push_back(0);
    if (is("no logprobs")) d.logprobs.clear();
    if (is("nan logprob")) d.logprobs[0] = std::nanf("");
    if (is("positive logprob")) d.logprobs[0] = 0.5F;
    if (is("minus infinite logprob")) d.logprobs[0] = -INFINITY;
    if (is("no tokens")) d.tokens.clear(), d.logprobs.clear();
    if (is("token -7")) d.tokens[0] = -7;
    if (is("token 100000")) d.tokens[0] = 100'000;
    if (is("version 99")) d.version = 99;
    if (is("version falls")) d.version = 0;
    if (is("not UTF-8")) d.text += "\xff\xfe";
    if (is("NUL")) d.text += std::string(1, '\0') + "after";
    if (is("long text")) d.text += std::string(50 * kMegabyte, 'x');
    if (is("cut off")) d.stop_reason = KRL_STOP_ABORTED, d.tokens.clear(), d.logprobs.clear();
  }

  double odds_ = 0, gradient_ = 0;
  std::uint64_t version_ = 0;
};

const krl_component* component() {
  using Calls = krl::detail::PolicyCalls<true>;
  static const krl_policy_v table = [] {
    krl_policy_v t = Calls::table(false);
    t.describe = Troubled<Policy, kDescribe, Calls::describe>::call;
    t.sample = Troubled<Policy, kSample, Calls::sample>::call;
    t.tokenize = Troubled<Policy, kTokenize, Calls::tokenize>::call;
    t.logprobs = Troubled<Policy, kLogprobs, Calls::logprobs>::call;
    t.forward_backward = Troubled<Policy, kForwardBackward, Calls::forward_backward>::call;
    t.optimizer_step = Troubled<Policy, kOptimizerStep, Calls::optimizer_step>::call;
    t.save = Troubled<Policy, kSave, Calls::save>::call;
    t.load = Troubled<Policy, kLoad, Calls::load>::call;
    return t;
  }();
  static const krl_component c =
      troubled<Policy>(krl::policy<Policy>("broken.policy", "Learns one number"), &table);
  return &c;
}

}  // namespace
}  // namespace broken

KRL_PLUGIN("broken_policy", "1.0.0", broken::component())
