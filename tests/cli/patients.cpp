// Backends and policies whose start goes well, fails, hangs or dies, for `kernelrl doctor`; and a
// policy to talk to, for `kernelrl chat`.
#include <chrono>
#include <csignal>
#include <fstream>
#include <kernelrl/sdk.hpp>
#include <string>
#include <thread>

namespace {

struct Patient : krl::Backend {
  krl::BackendInfo describe() override { return {1, KRL_SIGNAL_COMPILE, "compiler 1.0", "a GPU"}; }
  void evaluate(const krl::Candidate&, const krl::EvaluateOptions&, const krl::EvaluationSink& sink,
                const krl::Context&) override {
    sink.verdict(krl::Verdict::kOk, "");
  }
};

struct Healthy final : Patient {
  std::string mood = "fine";
  static constexpr auto config =
      krl::config(krl::opt("mood", &Healthy::mood, "how it is").one_of("fine|ill"));
  void start(const krl::Config&, const krl::Context&) override {
    if (mood == "ill") krl::invalid_argument("it is ill: choose another mood");
  }
};

struct Demanding final : Patient {
  std::string place, key;
  static constexpr auto config =
      krl::config(krl::opt("place", &Demanding::place, "where").required(),
                  krl::opt("key", &Demanding::key, "whose").required());
};

struct Ill final : Patient {
  void start(const krl::Config&, const krl::Context&) override {
    throw krl::Failure(KRL_FAILED_PRECONDITION, "no medicine here: install some");
  }
};

// Starts, and cannot judge.
struct Blind final : Patient {
  void prepare(const krl::Task&, const krl::EvaluateOptions&, const krl::Context&) override {
    throw krl::Failure(KRL_UNAVAILABLE, "its oracle died: see about a doctor");
  }
};

struct Hanging final : Patient {
  void start(const krl::Config&, const krl::Context&) override {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
};

struct Dying final : Patient {
  void start(const krl::Config&, const krl::Context&) override { std::raise(SIGKILL); }
};

struct Talking final : krl::Policy {
  krl::PolicyInfo describe() override {
    krl::PolicyInfo info{};
    info.context_tokens = 512;
    return info;
  }
  void sample(const krl::Requests&, const krl::SampleSink&, const krl::Context&) override {}
  void tokenize(const krl::Messages&, std::string_view, const krl::SampleSink&,
                const krl::Context&) override {}
};

// Answers with what it was shown: the number of messages, their roles, the last text. Where that is
// "wait" it says so by a file, and waits until it is stopped.
struct Echo final : krl::Policy {
  krl::PolicyInfo describe() override {
    krl::PolicyInfo info{};
    info.has_tokens = false;
    return info;
  }
  void sample(const krl::Requests& requests, const krl::SampleSink& sink,
              const krl::Context& context) override {
    for (std::uint32_t r = 0; r < requests.size(); ++r) answer(requests[r], r, sink, context);
  }
  void tokenize(const krl::Messages&, std::string_view, const krl::SampleSink&,
                const krl::Context&) override {}

 private:
  static void answer(const krl::Request& request, std::uint32_t number, const krl::SampleSink& sink,
                     const krl::Context& context) {
    const krl::Messages messages = request.messages();
    std::string text = std::to_string(messages.size()) + " messages (";
    for (const krl::Message m : messages) text += "sua"[m.role()];
    const std::string last(messages[messages.size() - 1].text());
    text += "), " + std::to_string(request.max_tokens()) + " tokens at most, temperature " +
            std::to_string(request.temperature()).substr(0, 3) + ": " + last;
    if (last == "wait") std::ofstream("waiting") << "now";
    while (last == "wait") {
      context.throw_if_cancelled();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    krl_sample sample{};
    sample.request = number;
    sample.text = krl::to_c(text);
    sink.put(sample);
  }
};

}  // namespace

KRL_PLUGIN("patients", "1.0.0", krl::backend<Healthy>("test.healthy", "starts"),
           krl::backend<Demanding>("test.demanding", "has required options"),
           krl::backend<Ill>("test.ill", "does not start"),
           krl::backend<Blind>("test.blind", "starts, and cannot judge"),
           krl::backend<Hanging>("test.hanging", "never starts"),
           krl::backend<Dying>("test.dying", "dies when it starts"),
           krl::policy<Talking>("test.talking", "a policy that starts"),
           krl::policy<Echo>("test.echo", "a policy that repeats what it hears"))
