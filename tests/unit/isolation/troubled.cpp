// Components that use all of the boundary, and do to their process what they are told.
#include <kernelrl/sdk.hpp>

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace krl;

// Signals this process, whose system calls then end early.
void interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGUSR1, &action, nullptr);
  ::kill(::getpid(), SIGUSR1);
}

// Ends, while a child that has all of its descriptors lives as long as kernelrl does.
[[noreturn]] void leave_a_child() {
  const pid_t kernelrl = ::getppid();
  if (::fork() != 0) std::abort();
  while (::kill(kernelrl, 0) == 0) ::usleep(20'000);
  ::_exit(0);
}

class Troubled : public Reward {
 public:
  ~Troubled() override {
    if (!farewell.empty()) std::fclose(std::fopen(farewell.c_str(), "w"));
  }

  std::string farewell;

  static constexpr auto config =
      krl::config(opt("farewell", &Troubled::farewell, "a file to make at the end"));

  void start(const Config&, const Context&) override {
    if (farewell == "refuse") invalid_argument("farewell: it does not like this one");
  }

  std::vector<double> score_all(const Turns& turns, const Context& context) override {
    const auto answer = std::string(turns[0].answer());
    ++calls_;
    context.warning("call " + std::to_string(calls_));
    if (answer == "die") std::abort();
    if (answer == "exit") std::exit(3);
    if (answer == "throw") throw std::runtime_error("no score today");
    if (answer == "away") throw Failure(KRL_UNAVAILABLE, "the server is away");
    if (answer == "interrupt") interrupt();
    if (answer == "leave a child") leave_a_child();
    while (answer == "obey") context.throw_if_cancelled();
    while (answer == "flood") context.progress(0, "no end of it");
    while (answer == "hang") std::this_thread::sleep_for(std::chrono::seconds(1));
    return std::vector<double>(turns.size(), calls_);
  }

 private:
  int calls_ = 0;
};

class Rich : public TrainablePolicy {
 public:
  static constexpr bool streams = true;

  PolicyInfo describe() override {
    PolicyInfo info;
    info.has_critic = info.shares_prompts = info.continues = info.takes_tokens = true;
    info.needs_old_logprobs = true;
    info.description = "has everything";
    info.vocabulary = 7;
    info.version = version_;
    info.logprobs = KRL_LOGPROBS_RAW;
    info.exports = KRL_WEIGHTS_HF, info.adopts = KRL_WEIGHTS_HF | KRL_WEIGHTS_PEFT;
    return info;
  }

  void sample(const Requests& requests, const SampleSink& sink, const Context& context) override {
    for (std::uint32_t i = 0; i < requests.size(); ++i) {
      context.metric("retries", i + 1);
      if (requests[i].session() == "refuse") {
        sink.fail(i, KRL_INVALID_ARGUMENT, "the prompt is too long");
      } else {
        put(i, requests[i], sink);
      }
    }
  }

  void sample_stream(const RequestSource& source, const SampleSink& sink, const Context&) override {
    for (std::uint32_t i = 0; const auto request = source.next(true); ++i) put(i, *request, sink);
  }

  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context&) override {
    for (std::size_t i = 0; i < examples.size(); ++i)
      sink.put(i, std::vector<float>(examples[i].tokens().size(), static_cast<float>(temperature)));
  }

  void values(const Examples& examples, const CriticSink& sink, const Context&) override {
    for (std::size_t i = 0; i < examples.size(); ++i) sink.put(i, examples[i].returns());
  }

  void forward_backward(const Loss& loss, const Examples& examples,
                        const Context& context) override {
    if (loss.name() == "die") std::abort();
    for (const Example example : examples) {
      context.metric("loss", example.advantages()[0]);
      if (example.state() != std::string_view("\0\xff", 2)) throw Failure(KRL_INTERNAL, "no state");
    }
  }

  void optimizer_step(const krl_optimizer& optimizer, const Context& context) override {
    context.metric("grad_norm", optimizer.lr);
    ++version_;
  }
  void save(std::string_view, const Context&) override {}
  void load(std::string_view, const Context&) override {}
  std::uint64_t publish(const Context&) override { return version_; }

 private:
  static void put(std::uint32_t i, const Request& request, const SampleSink& sink) {
    SampleValue sample;
    sample.request = i;
    sample.text =
        std::string(request.messages()[0].text()) + " at " + std::to_string(request.deadline_ns());
    sample.prompt_tokens.assign(request.prompt_tokens().begin(), request.prompt_tokens().end());
    sample.tokens = {1, 2};
    sample.logprobs = {-0.25F, -1.5F};
    sample.policy_version = 5;
    sample.spans = {{0, 4}, {1, 5}};
    sample.state = std::string("\0\xff", 2);
    if (request.session() == "huge") sample.state.assign(std::size_t{257} << 20, 'x');
    sink.put(*CView<SampleValue>(sample).c());
  }

  std::uint64_t version_ = 3;
};

}  // namespace

KRL_PLUGIN("troubled", "1.0.0", krl::reward<Troubled>("test.troubled", "Does as the answer says"),
           krl::policy<Rich>("test.rich", "Uses all of the boundary"))
