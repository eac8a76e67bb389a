// A policy that learns which of two answers pays more: all calls of a trainable policy, with one
// parameter. Its token is the number of the answer, whose odds are exp(odds / temperature).
#include <kernelrl/sdk.hpp>

#include <cmath>
#include <fstream>
#include <string>

struct TwoAnswers final : krl::TrainablePolicy {
  std::string first = "<KERNEL></KERNEL>", second = "no kernel";
  static constexpr auto config =
      krl::config(krl::opt("first", &TwoAnswers::first, "an answer"),
                  krl::opt("second", &TwoAnswers::second, "the other one"));

  krl::PolicyInfo describe() override {
    krl::PolicyInfo info;
    info.description = "one parameter";
    info.vocabulary = 2;
    info.version = version;
    return info;
  }

  void sample(const krl::Requests& requests, const krl::SampleSink& sink,
              const krl::Context& context) override {
    for (std::uint32_t r = 0; r < requests.size(); ++r) {
      for (std::uint32_t k = 0; k < requests[r].n_samples(); ++k) {
        context.throw_if_cancelled();
        const double temperature = requests[r].temperature();
        const double drawn = requests[r].seed_of_sample(k) * 0x1p-31;  // from 0 to 1
        const bool takes_first = temperature == 0 ? odds > 0 : drawn < share(0, temperature);
        put(takes_first ? 0 : 1, temperature, r, k, sink);
      }
    }
  }
  void tokenize(const krl::Messages&, std::string_view answer, const krl::SampleSink& sink,
                const krl::Context&) override {
    put(answer == first ? 0 : 1, 1, 0, 0, sink);
  }
  void logprobs(double temperature, const krl::Examples& examples, const krl::LogprobSink& sink,
                const krl::Context&) override {
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const float logprob = std::log(share(examples[i].tokens()[0], temperature));
      sink.put(i, {&logprob, 1});
    }
  }

  void check_loss(const krl::Loss& loss) override {
    if (loss.name() != "cross_entropy" && loss.name() != "importance_sampling")
      krl::invalid_argument("it learns by cross_entropy and importance_sampling");
  }
  // The gradient of -advantage × ratio, the probability of the token over that when it was sampled;
  // of cross entropy, that of -log probability.
  void forward_backward(const krl::Loss& loss, const krl::Examples& examples,
                        const krl::Context& context) override {
    double sum = 0;
    for (const krl::Example example : examples) {
      const int token = example.tokens()[0];
      const double advantage = example.advantages().empty() ? 1 : example.advantages()[0];
      const double of_token = share(token, loss.temperature());
      const double ratio =
          example.logprobs().empty() ? 1 : of_token / std::exp(example.logprobs()[0]);
      gradient -= (token == 0 ? 1 : -1) * advantage * ratio * (1 - of_token) / loss.normaliser();
      sum -=
          advantage * (example.logprobs().empty() ? std::log(of_token) : ratio) / loss.normaliser();
    }
    context.metric("loss", sum);
  }
  void optimizer_step(const krl_optimizer& optimizer, const krl::Context& context) override {
    context.metric("grad_norm", std::abs(gradient));
    odds -= optimizer.lr * gradient;
    gradient = 0;
    ++version;
  }
  void save(std::string_view directory, const krl::Context&) override {
    std::ofstream file(std::string(directory) + "/odds.txt");
    file.precision(17);
    if (!(file << odds << ' ' << version))
      throw krl::Failure(KRL_UNAVAILABLE, "cannot write odds.txt");
  }
  void load(std::string_view directory, const krl::Context&) override {
    std::ifstream file(std::string(directory) + "/odds.txt");
    if (!(file >> odds >> version)) throw krl::Failure(KRL_NOT_FOUND, "cannot read odds.txt");
  }

 private:
  // The probability of an answer.
  double share(int token, double temperature) const {
    const double of_first = 1 / (1 + std::exp(-odds / temperature));
    return token == 0 ? of_first : 1 - of_first;
  }
  void put(std::int32_t token, double temperature, std::uint32_t request, std::uint32_t index,
           const krl::SampleSink& sink) const {
    static constexpr std::int32_t kPrompt = 0;
    const float logprob = std::log(share(token, temperature == 0 ? 1 : temperature));
    krl_sample sample{};
    sample.request = request;
    sample.index = index;
    sample.text = krl::to_c(token == 0 ? first : second);
    sample.prompt_tokens = {&kPrompt, 1};
    sample.tokens = {&token, 1};
    sample.logprobs = {&logprob, 1};
    sample.policy_version = version;
    sink.put(sample);
  }

  double odds = 0, gradient = 0;
  std::uint64_t version = 0;
};

KRL_PLUGIN("two_answers", "1.0.0",
           krl::policy<TwoAnswers>("example.two_answers", "Learns which of two answers pays"))
