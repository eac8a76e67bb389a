// Components that break the rules of abi.h in ways that a host must survive: each id says how.
#include <kernelrl/sdk.hpp>
#include <vector>

namespace {

struct ThrowsInCreate final : krl::Reward {
  std::string what = "failure";
  static constexpr auto config =
      krl::config(krl::opt("what", &ThrowsInCreate::what, "the type that is thrown")
                      .one_of("failure|runtime_error|invalid_argument|bad_alloc|int"));
  void start(const krl::Config&, const krl::Context&) override {
    if (what == "runtime_error") throw std::runtime_error("a runtime_error of create");
    if (what == "invalid_argument") throw std::invalid_argument("an invalid_argument of create");
    if (what == "bad_alloc") throw std::bad_alloc();
    if (what == "int") throw 42;
    throw krl::Failure(KRL_FAILED_PRECONDITION, "a Failure of create");
  }
  double score(const krl::Turn&) override { return 0; }
};

struct ThrowsInScore final : krl::Reward {
  double score(const krl::Turn&) override { throw std::runtime_error("a runtime_error of score"); }
};

struct ScoresNan final : krl::Reward {
  double score(const krl::Turn&) override { return krl::kUnknown; }
};

struct ScoresInfinity final : krl::Reward {
  double score(const krl::Turn&) override { return -std::numeric_limits<double>::infinity(); }
};

struct ScoresTooMuch final : krl::Reward {
  double score(const krl::Turn&) override { return 1e308; }
};

struct Idle : krl::Backend {
  krl::BackendInfo describe() override { return {0, 0, "", ""}; }
};
struct NoVerdict final : Idle {
  void evaluate(const krl::Candidate&, const krl::EvaluateOptions&, const krl::EvaluationSink& sink,
                const krl::Context&) override {
    sink.identity("none", "none");
  }
};
struct TwoVerdicts final : Idle {
  void evaluate(const krl::Candidate&, const krl::EvaluateOptions&, const krl::EvaluationSink& sink,
                const krl::Context&) override {
    sink.verdict(krl::Verdict::kWrongResult, "first");
    sink.verdict(krl::Verdict::kOk, "second");
  }
};
struct UnknownVerdict final : Idle {
  void evaluate(const krl::Candidate&, const krl::EvaluateOptions&, const krl::EvaluationSink& sink,
                const krl::Context&) override {
    sink.verdict(static_cast<krl::Verdict>(4711), "no such verdict");
  }
};
struct CaseOfUnknownVerdict final : Idle {
  void evaluate(const krl::Candidate&, const krl::EvaluateOptions&, const krl::EvaluationSink& sink,
                const krl::Context&) override {
    krl::Case bad;
    bad.verdict = static_cast<krl::Verdict>(4711);
    sink.add_case(bad);
    sink.verdict(krl::Verdict::kOk, "");
  }
};
struct PushesInfraError final : Idle {
  void evaluate(const krl::Candidate&, const krl::EvaluateOptions&, const krl::EvaluationSink& sink,
                const krl::Context&) override {
    sink.verdict(krl::Verdict::kInfraError, "should have been a status");
  }
};

// Pushes one case and one kernel, and passes, but for what `fault` says.
struct BadResults final : Idle {
  std::string fault;
  static constexpr auto config =
      krl::config(krl::opt("fault", &BadResults::fault, "what is wrong").required());
  void evaluate(const krl::Candidate&, const krl::EvaluateOptions&, const krl::EvaluationSink& sink,
                const krl::Context&) override {
    krl::Case c;
    c.label = "n=1";
    c.speedup = 2;
    if (fault == "negative") c.speedup = -2;
    if (fault == "infinite") c.speedup = HUGE_VAL;
    if (fault == "interval") c.speedup_low = 3, c.speedup_high = 1;
    if (fault == "wrong case") c.verdict = krl::Verdict::kWrongResult;
    if (fault == "zeroed") {
      krl_case zeroed_case{};
      zeroed_case.struct_size = sizeof zeroed_case;
      krl::check(sink.c()->add_case(sink.c(), &zeroed_case));
      krl_kernel zeroed_kernel{};
      zeroed_kernel.struct_size = sizeof zeroed_kernel;
      krl::check(sink.c()->kernel(sink.c(), &zeroed_kernel));
    } else {
      sink.add_case(c);
      sink.kernel({});
    }
    if (fault == "value") sink.value({99, "dram_bytes", "B", 1});
    sink.verdict(krl::Verdict::kOk, "");
    if (fault == "late") sink.add_case(c);
  }
};

// Answers every request with two tokens, but for what `fault` says.
struct BadSamples final : krl::Policy {
  static constexpr bool streams = true;
  std::string fault;
  static constexpr auto config =
      krl::config(krl::opt("fault", &BadSamples::fault, "what is wrong").required());

  krl::PolicyInfo describe() override { return {}; }

  void sample(const krl::Requests& requests, const krl::SampleSink& sink,
              const krl::Context&) override {
    for (std::uint32_t i = 0; i < requests.size(); ++i) put(i, sink);
    if (fault == "throws") throw std::runtime_error("a runtime_error of sample");
  }

  void sample_stream(const krl::RequestSource& source, const krl::SampleSink& sink,
                     const krl::Context&) override {
    if (fault == "early") return;
    for (std::uint32_t i = 0; source.next(true); ++i) put(i, sink);
    if (fault == "throws") throw std::runtime_error("a runtime_error of sample_stream");
  }

  void tokenize(const krl::Messages&, std::string_view, const krl::SampleSink&,
                const krl::Context&) override {}

 private:
  void put(std::uint32_t request, const krl::SampleSink& sink) const {
    if (fault == "missing" && request == 1) return;
    const std::int32_t tokens[] = {1, fault == "token" ? -7 : 2};
    const float logprobs[] = {-1.0F, fault == "nan" ? NAN : fault == "positive" ? 0.5F : -1.0F};
    if (fault == "fails" || fault == "answers_what_failed" || fault == "fails_twice")
      sink.fail(request, KRL_UNAVAILABLE, "gone");
    if (fault == "fails_twice") sink.fail(request, KRL_UNAVAILABLE, "gone");
    if (fault == "fails_another") sink.fail(request + 7, KRL_UNAVAILABLE, "gone");
    if (fault == "fails") return;
    const krl_version_span spans[] = {{sizeof(krl_version_span), 0, 1},
                                      {sizeof(krl_version_span), fault == "span" ? 0U : 1U, 2}};
    const krl_version_span* const span_pointers[] = {&spans[0],
                                                     fault == "no_span" ? nullptr : &spans[1]};
    krl_sample sample{};
    sample.spans = span_pointers;
    sample.n_spans = 2;
    sample.request = fault == "request" ? request + 7 : request;
    sample.index = fault == "index" ? 99 : 0;
    sample.stop_reason = fault == "stop_reason" ? 99 : KRL_STOP_END;
    sample.tokens = {tokens, 2};
    sample.logprobs = {logprobs, fault == "length" ? std::size_t{1} : 2};
    sink.put(sample);
    if (fault == "twice") sink.put(sample);
  }
};

// Gives a value for each of an example's tokens, but for what `fault` says.
struct BadValues final : krl::TrainablePolicy {
  std::string fault;
  static constexpr auto config =
      krl::config(krl::opt("fault", &BadValues::fault, "what is wrong").required());

  krl::PolicyInfo describe() override {
    krl::PolicyInfo info;
    info.has_critic = true;
    return info;
  }
  void values(const krl::Examples& examples, const krl::CriticSink& sink,
              const krl::Context&) override {
    for (std::size_t i = 0; i < examples.size(); ++i) {
      if (fault == "missing" && i == 1) continue;
      const std::size_t n = examples[i].tokens().size() + (fault == "length" ? 1 : 0);
      const std::vector<float> values(n, fault == "nan" ? NAN : 0.5F);
      sink.put(fault == "example" ? i + 7 : i, values);
    }
    if (fault == "throws") throw std::runtime_error("a runtime_error of values");
  }

  void sample(const krl::Requests&, const krl::SampleSink&, const krl::Context&) override {}
  void tokenize(const krl::Messages&, std::string_view, const krl::SampleSink&,
                const krl::Context&) override {}
  void logprobs(double, const krl::Examples&, const krl::LogprobSink&,
                const krl::Context&) override {}
  void forward_backward(const krl::Loss&, const krl::Examples&, const krl::Context&) override {}
  void optimizer_step(const krl_optimizer&, const krl::Context&) override {}
  void save(std::string_view, const krl::Context&) override {}
  void load(std::string_view, const krl::Context&) override {}
};

struct EmptyItems final : krl::Dataset {
  std::uint64_t size() override { return 3; }
  void read(std::uint64_t, const krl::DatasetSink&, const krl::Context&) override {}
};

// What the C++ layer makes impossible.
krl_status leave_scores(void*, const krl_call*, const krl_turn* const*, std::size_t, double*) {
  return KRL_OK;
}
krl_status fail_silently(void*, const krl_call*, const krl_turn* const*, std::size_t, double*) {
  return 99;
}
krl_status claim_failure_with_ok(void*, const krl_call* context, const krl_turn* const*,
                                 std::size_t, double*) {
  return context->fail(context, KRL_OK, krl::to_c("failed, with the status of success"));
}
krl_status create_something(const krl_host*, const krl_config*, const krl_call*, void** self) {
  static int something;
  *self = &something;
  return KRL_OK;
}
krl_status create_nothing(const krl_host*, const krl_config*, const krl_call*, void**) {
  return KRL_OK;
}
void destroy_nothing(void*) {}

constexpr krl_reward_v kLeavesScores{sizeof(krl_reward_v), 0, leave_scores};
constexpr krl_reward_v kFailsSilently{sizeof(krl_reward_v), 0, fail_silently};
constexpr krl_reward_v kFailsWithOk{sizeof(krl_reward_v), 0, claim_failure_with_ok};

// The table of a policy without streams.
constexpr krl_policy_v policy_without_streams() {
  krl_policy_v table = krl::detail::PolicyCalls<false>::table(true);
  table.sample_stream = nullptr;
  return table;
}
constexpr krl_policy_v kWithoutStreams = policy_without_streams();

krl_status promise_learning(void*, const krl_call*, const krl_policy_info_sink* sink) {
  krl_policy_info info{};
  info.struct_size = sizeof info;
  info.flags = KRL_POLICY_TRAINABLE;
  return sink->info(sink, &info);
}
constexpr krl_policy_v policy_without_learning() {
  krl_policy_v table = krl::detail::PolicyCalls<false>::table(false);
  table.describe = promise_learning;
  return table;
}
constexpr krl_policy_v kPromisesLearning = policy_without_learning();

krl_status describe_nothing(void*, const krl_call*, const krl_policy_info_sink*) { return KRL_OK; }
constexpr krl_policy_v policy_without_description() {
  krl_policy_v table = krl::detail::PolicyCalls<false>::table(false);
  table.describe = describe_nothing;
  return table;
}
constexpr krl_policy_v kDescribesNothing = policy_without_description();

const krl_component* raw(const krl_component& c) { return &c; }
constexpr krl_component raw_component(std::uint32_t kind, const char* id, const void* table,
                                      decltype(krl_component::create) create) {
  return {
      sizeof(krl_component), kind, 0, 0, krl::to_c(id), krl::to_c("breaks a rule"), nullptr, create,
      destroy_nothing,       table};
}
constexpr krl_component kRawLeavesScores =
    raw_component(KRL_REWARD, "test.leaves_scores", &kLeavesScores, create_something);
constexpr krl_component kRawFailsSilently =
    raw_component(KRL_REWARD, "test.fails_silently", &kFailsSilently, create_something);
constexpr krl_component kRawFailsWithOk =
    raw_component(KRL_REWARD, "test.fails_with_ok", &kFailsWithOk, create_something);
constexpr krl_component kRawCreatesNothing =
    raw_component(KRL_REWARD, "test.creates_nothing", &kLeavesScores, create_nothing);
constexpr krl_component kRawWithoutStreams =
    raw_component(KRL_POLICY, "test.policy_without_streams", &kWithoutStreams, create_something);
constexpr krl_component kRawPromisesLearning =
    raw_component(KRL_POLICY, "test.promises_learning", &kPromisesLearning, create_something);
constexpr krl_component kRawDescribesNothing =
    raw_component(KRL_POLICY, "test.describes_nothing", &kDescribesNothing, create_something);

}  // namespace

KRL_PLUGIN("misbehaving", "0.1.0",
           krl::reward<ThrowsInCreate>("test.throws_in_create", "breaks a rule"),
           krl::reward<ThrowsInScore>("test.throws_in_score", "breaks a rule"),
           krl::reward<ScoresNan>("test.scores_nan", "breaks a rule"),
           krl::reward<ScoresInfinity>("test.scores_infinity", "breaks a rule"),
           krl::reward<ScoresTooMuch>("test.scores_too_much", "breaks a rule"),
           krl::backend<NoVerdict>("test.no_verdict", "breaks a rule"),
           krl::backend<TwoVerdicts>("test.two_verdicts", "breaks a rule"),
           krl::backend<UnknownVerdict>("test.unknown_verdict", "breaks a rule"),
           krl::backend<PushesInfraError>("test.pushes_infra_error", "breaks a rule"),
           krl::backend<CaseOfUnknownVerdict>("test.case_of_unknown_verdict", "breaks a rule"),
           krl::backend<BadResults>("test.bad_results", "breaks a rule"),
           krl::policy<BadSamples>("test.bad_samples", "breaks a rule"),
           krl::policy<BadValues>("test.bad_values", "breaks a rule"),
           krl::dataset<EmptyItems>("test.empty_items", "breaks a rule"), raw(kRawLeavesScores),
           raw(kRawFailsSilently), raw(kRawFailsWithOk), raw(kRawCreatesNothing),
           raw(kRawWithoutStreams), raw(kRawPromisesLearning), raw(kRawDescribesNothing))
