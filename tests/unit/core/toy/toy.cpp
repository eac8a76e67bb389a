// The smallest world in which the loop of kernelrl makes sense: four answers to every task.
//
//   choice 0  does not compile      choice 2  right, as fast as the baseline
//   choice 1  wrong result          choice 3  right, twice as fast
//
// The policy is a softmax over the four for each number of earlier turns, learned by gradient
// descent.
#include <kernelrl/sdk.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kChoices = 4;
using Logits = std::array<double, kChoices>;

std::string answer_of(int choice) {
  return "<KERNEL>\n```cuda\n__global__ void k() { choice " + std::to_string(choice) +
         " }\n```\n</KERNEL>";
}

int choice_in(std::string_view text) {
  const std::size_t at = text.rfind("choice ");
  const int choice = at == std::string_view::npos || at + 7 >= text.size() ? 0 : text[at + 7] - '0';
  return choice >= 0 && choice < kChoices ? choice : 0;  // a model may write anything
}

Logits log_softmax(const Logits& logits, double temperature) {
  Logits scaled{};
  double sum = 0;
  for (int c = 0; c < kChoices; ++c)
    scaled[c] = logits[c] / temperature, sum += std::exp(scaled[c]);
  for (double& s : scaled) s -= std::log(sum);
  return scaled;
}

std::atomic<bool> sampling{false};  // the policy, now

// Fails the first `calls` of those that count in `made`.
void be_away(std::int64_t calls, std::atomic<std::int64_t>& made) {
  if (made++ < calls) throw krl::Failure(KRL_UNAVAILABLE, "away");
}

struct ToyPolicy final : krl::TrainablePolicy {
  bool lingers = false;
  static constexpr bool streams = true;
  bool needs_corpus = false, critic = false, fixed_values = false;
  std::int64_t fail_after = -1;  // then told to fail
  std::string fail_while;
  std::int64_t thinks = 0;
  std::int64_t lose_every = 0, abort_every = 0, away = 0, away_every = 0, nan_every = 0;
  bool elsewhere = false, ahead = false, stale = false, wants_reference = false;
  bool refuse_repairs = false;
  std::string waits, away_in, refuse, long_prompt;
  std::string logprob_kind = "scaled", forgotten;
  static constexpr auto config = krl::config(
      krl::opt("lose_every", &ToyPolicy::lose_every, "every n-th request fails; 0 = none"),
      krl::opt("thinks", &ToyPolicy::thinks, "tokens of a thought before each answer"),
      krl::opt("refuse", &ToyPolicy::refuse, "a task whose prompt it refuses"),
      krl::opt("long_prompt", &ToyPolicy::long_prompt,
               "a prompt with this text has 1000 tokens, others have 1; empty = none"),
      krl::opt("refuse_repairs", &ToyPolicy::refuse_repairs, "it refuses prompts of later turns"),
      krl::opt("nan_every", &ToyPolicy::nan_every, "every n-th step has no gradient; 0 = none"),
      krl::opt("away_in", &ToyPolicy::away_in, "the function whose first calls fail"),
      krl::opt("away", &ToyPolicy::away, "how many of them"),
      krl::opt("away_every", &ToyPolicy::away_every,
               "every n-th answer is followed by the end of its call; 0 = none"),
      krl::opt("abort_every", &ToyPolicy::abort_every,
               "every n-th answer is cut off before its token; 0 = none"),
      krl::opt("elsewhere", &ToyPolicy::elsewhere,
               "as a policy behind a service is: it publishes weights, answers a group as one "
               "request, goes on with answers, and needs old log-probabilities"),
      krl::opt("ahead", &ToyPolicy::ahead, "it samples while it trains"),
      krl::opt("wants_reference", &ToyPolicy::wants_reference,
               "examples must hold log-probabilities of a reference"),
      krl::opt("waits", &ToyPolicy::waits, "sample() waits until this deadline is over")
          .one_of("|call|request|long"),
      krl::opt("stale", &ToyPolicy::stale, "samples say a version that nobody has published"),
      krl::opt("logprob_kind", &ToyPolicy::logprob_kind, "what its log-probabilities are of")
          .one_of("unknown|raw|scaled|processed"),
      krl::opt("forgotten", &ToyPolicy::forgotten, "a file that names what forget() was told"),
      krl::opt("needs_corpus", &ToyPolicy::needs_corpus, "wants fit() first"),
      krl::opt("critic", &ToyPolicy::critic, "has a value for each number of earlier turns"),
      krl::opt("fixed_values", &ToyPolicy::fixed_values, "the value of token t is (t + 1) / 4"),
      krl::opt("fail_after", &ToyPolicy::fail_after,
               "calls of sample(), or answers of a stream, that succeed; -1 = all")
          .at_least(-1),
      krl::opt("fail_while", &ToyPolicy::fail_while, "a file; sample() fails while it exists"),
      krl::opt("lingers", &ToyPolicy::lingers, "sample() takes a while after its last answer"));

  krl::PolicyInfo preview() override {
    krl::PolicyInfo info;
    info.needs_corpus = needs_corpus;
    info.context_tokens = 1024;
    info.has_critic = critic;
    info.description = "toy";
    info.shares_prompts = info.continues = info.needs_old_logprobs = elsewhere;
    if (thinks > 0) info.continues = true;
    info.samples_while_training = ahead;
    info.takes_tokens = true;
    info.exports = info.adopts = KRL_WEIGHTS_HF;
    info.logprobs = logprob_kind == "raw"         ? KRL_LOGPROBS_RAW
                    : logprob_kind == "scaled"    ? KRL_LOGPROBS_SCALED
                    : logprob_kind == "processed" ? KRL_LOGPROBS_PROCESSED
                                                  : KRL_LOGPROBS_UNKNOWN;
    return info;
  }
  krl::PolicyInfo describe() override {
    krl::PolicyInfo info = preview();
    info.needs_corpus = needs_corpus && !fitted_;
    info.version = publishes() ? published_version_ : version_;
    return info;
  }
  void check_loss(const krl::Loss& loss) override {
    if (loss.name() == "gspo") krl::invalid_argument("the toy cannot learn by gspo");
  }

  void sample(const krl::Requests& requests, const krl::SampleSink& sink,
              const krl::Context& context) override {
    context.throw_if_cancelled();
    be_away_in("sample");
    fail_if_told();
    if (waits == "call") context.info("waits");
    while (waits == "call") context.throw_if_cancelled();
    sampling = true;
    for (std::size_t i = requests.size(); i-- > 0;)
      put(requests[i], i, sink);  // out of order, as real ones do
    if (lingers) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sampling = false;
  }

  // Keeps a batch of a few requests, answers the one that came last, and takes new ones in between.
  void sample_stream(const krl::RequestSource& source, const krl::SampleSink& sink,
                     const krl::Context& context) override {
    constexpr std::size_t kSlots = 5;
    be_away_in("sample");
    std::vector<std::pair<std::size_t, krl::Request>> batch;
    for (std::size_t taken = 0;;) {
      context.throw_if_cancelled();
      while (batch.size() < kSlots) {
        const auto request = source.next(batch.empty());
        if (!request && batch.empty()) return;
        if (!request) break;
        batch.emplace_back(taken++, *request);
      }
      fail_if_told();
      put(batch.back().second, batch.back().first, sink);
      batch.pop_back();
    }
  }

  void tokenize(const krl::Messages& messages, std::string_view answer, const krl::SampleSink& sink,
                const krl::Context&) override {
    be_away_in("tokenize");
    const bool is_long = !long_prompt.empty() && messages[messages.size() - 1].text().find(
                                                     long_prompt) != std::string_view::npos;
    const std::vector<std::int32_t> prompt(is_long ? 1000 : 1, context_of(messages));
    const bool ends_thought = thinks > 0 && answer.find("</think>") != std::string_view::npos;
    const std::vector<std::int32_t> tokens = {ends_thought ? 1 : choice_in(answer), 0};
    krl_sample sample{};
    sample.prompt_tokens = {prompt.data(), prompt.size()};
    sample.tokens = {tokens.data(), ends_thought ? std::size_t{2} : 1};
    sink.put(sample);
  }

  void fit(krl::Span<krl_str>, std::uint64_t, const krl::Context&) override { fitted_ = true; }

  std::uint64_t publish(const krl::Context&) override {
    be_away_in("publish");
    if (!publishes()) throw krl::Failure(KRL_UNIMPLEMENTED, "the newest weights sample");
    published_ = logits_;
    return published_version_ = version_;
  }

  void export_weights(std::string_view directory, std::string_view format,
                      const krl::Context& context) override {
    if (format != "hf") return TrainablePolicy::export_weights(directory, format, context);
    std::ofstream file(std::string(directory) + "/logits.bin", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&logits_), sizeof logits_);
  }

  void adopt_weights(const krl::Weights& weights, const krl::Context&) override {
    std::ifstream file(std::string(weights.directory()) + "/logits.bin", std::ios::binary);
    file.read(reinterpret_cast<char*>(&logits_), sizeof logits_);
    if (!file) throw krl::Failure(KRL_NOT_FOUND, "no logits.bin");
    version_ = weights.version();
  }

  void forget(std::string_view directory, const krl::Context&) override {
    if (!forgotten.empty()) std::ofstream(forgotten, std::ios::app) << directory << "\n";
  }

  void logprobs(double temperature, const krl::Examples& examples, const krl::LogprobSink& sink,
                const krl::Context&) override {
    be_away_in("logprobs");
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const Logits lp = log_softmax(logits_[examples[i].prompt_tokens()[0]], temperature);
      const auto value = static_cast<float>(lp[examples[i].tokens()[0]]);
      sink.put(i, krl::Span<float>(&value, 1));
    }
  }

  void values(const krl::Examples& examples, const krl::CriticSink& sink,
              const krl::Context&) override {
    be_away_in("values");
    for (std::size_t i = 0; i < examples.size(); ++i) {
      std::vector<float> values;
      for (std::size_t t = 0; t < examples[i].tokens().size(); ++t) {
        const double learned = values_[examples[i].prompt_tokens()[0]];
        values.push_back(fixed_values ? 0.25F * static_cast<float>(t + 1)
                                      : static_cast<float>(learned));
      }
      sink.put(i, values);
    }
  }

  // Policy gradient for every loss but cross entropy, whose advantage is 1.
  void forward_backward(const krl::Loss& loss, const krl::Examples& examples,
                        const krl::Context& context) override {
    be_away_in("forward_backward");
    double total = 0, value_total = 0;
    for (const krl::Example& e : examples) {
      check_what_travels(e);
      value_total += teach_critic(loss, e);
      const bool supervised = loss.name() == "cross_entropy";
      const double weight = e.weights().empty() ? 1 : e.weights()[0];
      const double advantage = supervised ? 1 : e.advantages()[0];
      const Logits lp = log_softmax(logits_[e.prompt_tokens()[0]], loss.temperature());
      total -= weight * advantage * lp[e.tokens()[0]] / loss.normaliser();
      for (int c = 0; c < kChoices; ++c) {
        const double indicator = c == e.tokens()[0] ? 1 : 0;
        gradient_[e.prompt_tokens()[0]][c] -= weight * advantage * (indicator - std::exp(lp[c])) /
                                              (loss.normaliser() * loss.temperature());
      }
    }
    late_loss_ += total;  // comes with the step
    last_of_step_ = loss.last_of_step();
    if (critic) context.metric("value_loss", value_total);
  }

  void optimizer_step(const krl_optimizer& optimizer, const krl::Context& context) override {
    double squares = 0;
    for (std::size_t p = 0; p < logits_.size(); ++p) {
      for (int c = 0; c < kChoices; ++c) {
        squares += gradient_[p][c] * gradient_[p][c];
        logits_[p][c] -= optimizer.lr * gradient_[p][c];
      }
      values_[p] -= optimizer.lr * value_gradient_[p];
    }
    if (!last_of_step_) throw krl::Failure(KRL_INTERNAL, "nobody said that this was all");
    gradient_ = {};
    value_gradient_ = {};
    ++version_;
    context.metric("loss", std::exchange(late_loss_, 0));
    const bool wrong = nan_every > 0 && ++stepped_ % nan_every == 0;
    context.metric("grad_norm", wrong ? krl::kUnknown : std::sqrt(squares));
  }

  void save(std::string_view directory, const krl::Context&) override {
    std::ofstream file(std::string(directory) + "/toy.bin", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&logits_), sizeof logits_);
    file.write(reinterpret_cast<const char*>(&version_), sizeof version_);
    file.write(reinterpret_cast<const char*>(&values_), sizeof values_);
    file.write(reinterpret_cast<const char*>(&fitted_), sizeof fitted_);
  }

  void load(std::string_view directory, const krl::Context&) override {
    be_away_in("load");
    std::ifstream file(std::string(directory) + "/toy.bin", std::ios::binary);
    file.read(reinterpret_cast<char*>(&logits_), sizeof logits_);
    file.read(reinterpret_cast<char*>(&version_), sizeof version_);
    file.read(reinterpret_cast<char*>(&values_), sizeof values_);
    file.read(reinterpret_cast<char*>(&fitted_), sizeof fitted_);
    if (!file) throw krl::Failure(KRL_NOT_FOUND, "no toy.bin");
  }

 private:
  void fail_if_told() {
    if ((fail_after >= 0 && calls_++ >= fail_after) || std::ifstream(fail_while))
      throw krl::Failure(KRL_UNAVAILABLE, "told to fail");
  }

  void be_away_in(std::string_view function) {
    if (function == away_in) be_away(away, away_calls_);
  }

  std::uint64_t version() const { return publishes() ? published_version_ : version_; }

  // What a sample was given is there again when it is learned from.
  void check_what_travels(const krl::Example& e) const {
    if (e.logprobs().empty()) return;  // a pair
    if (e.state() != "v" + std::to_string(e.version()))
      throw krl::Failure(KRL_INTERNAL, "a sample has lost its state");
    if (elsewhere && e.old_logprobs().size() != e.tokens().size())
      throw krl::Failure(KRL_INTERNAL, "an example without old log-probabilities");
    if (wants_reference && e.reference_logprobs().size() != e.tokens().size())
      throw krl::Failure(KRL_INTERNAL, "an example without reference log-probabilities");
  }

  // 0 in a first turn, 1 later: a repair has a policy of its own.
  static std::int32_t context_of(const krl::Messages& messages) {
    return messages[messages.size() - 1].text().find("choice ") == std::string_view::npos ? 0 : 1;
  }

  bool publishes() const { return elsewhere || ahead; }

  void put(const krl::Request& request, std::size_t index, const krl::SampleSink& sink) {
    while (waits == "request" && krl::monotonic_ns() < request.deadline_ns()) continue;
    while (waits == "long" && krl::monotonic_ns() < request.deadline_ns() + 1'200'000'000) continue;
    const bool over = request.deadline_ns() != 0 && krl::monotonic_ns() >= request.deadline_ns();
    if (over && waits != "long") {
      return sink.fail(static_cast<std::uint32_t>(index), KRL_DEADLINE_EXCEEDED, "too late");
    }
    const bool repair = refuse_repairs && context_of(request.messages()) > 0;
    if (repair ||
        (!refuse.empty() && request.session().find("/" + refuse + "/") != std::string_view::npos)) {
      return sink.fail(static_cast<std::uint32_t>(index), KRL_INVALID_ARGUMENT, "it is too long");
    }
    if (lose_every > 0 && ++asked_ % lose_every == 0) {
      return sink.fail(static_cast<std::uint32_t>(index), KRL_UNAVAILABLE, "told to lose it");
    }
    for (std::uint32_t k = 0; k < request.n_samples(); ++k) put(request, index, k, sink);
  }

  // The prompt's token is the number of earlier turns, whoever made it.
  void put(const krl::Request& request, std::size_t index, std::uint32_t k,
           const krl::SampleSink& sink) {
    const std::int32_t context = request.prompt_tokens().empty() ? context_of(request.messages())
                                                                 : request.prompt_tokens()[0];
    const Logits lp =
        log_softmax(publishes() ? published_[context] : logits_[context], request.temperature());
    double u = static_cast<double>(krl::mixed(request.seed() + 977 * k) >> 11U) * 0x1p-53;
    std::int32_t choice = 0;
    while (choice + 1 < kChoices && u >= std::exp(lp[choice])) u -= std::exp(lp[choice++]);
    const auto logprob = static_cast<float>(lp[choice]);
    if (thinks > 0) return put_thought(request, index, k, choice, logprob, sink);
    const std::string text = answer_of(choice), state = "v" + std::to_string(version());
    const bool cut = abort_every > 0 && ++begun_ % abort_every == 0;
    krl_sample sample{};
    sample.request = static_cast<std::uint32_t>(index);
    sample.index = k;
    sample.stop_reason = cut ? KRL_STOP_ABORTED : KRL_STOP_END;
    sample.text = krl::to_c(text);
    sample.prompt_tokens = {&context, 1};
    sample.tokens = {&choice, cut ? std::size_t{0} : 1};
    sample.logprobs = {&logprob, cut ? std::size_t{0} : 1};
    sample.policy_version = stale ? version_ + 1000 : version();
    sample.state = krl::to_c(state);
    sink.put(sample);
    if (away_every > 0 && ++given_ % away_every == 0)
      throw krl::Failure(KRL_UNAVAILABLE, "away after an answer");
  }

  // A thought, and the answer where the tokens suffice. A continuation continues behind the
  // thought.
  void put_thought(const krl::Request& request, std::size_t index, std::uint32_t k,
                   std::int32_t choice, float logprob, const krl::SampleSink& sink) {
    const std::int32_t context = context_of(request.messages());
    const bool begins = request.answer_prefix().empty();
    const auto room = static_cast<std::int64_t>(request.max_tokens());
    const bool cut = begins && thinks >= room;
    std::vector<std::int32_t> tokens(begins ? static_cast<std::size_t>(std::min(thinks, room)) : 0);
    if (!cut) tokens.push_back(choice);
    const std::vector<float> logprobs(tokens.size(), logprob);
    const std::string text = "<think>hm" + (cut ? "" : "</think>" + answer_of(choice));
    const std::string state = "v" + std::to_string(version());
    krl_sample sample{};
    sample.request = static_cast<std::uint32_t>(index);
    sample.index = k;
    sample.stop_reason = cut ? KRL_STOP_LENGTH : KRL_STOP_END;
    sample.text = krl::to_c(text);
    sample.prompt_tokens = {&context, 1};
    sample.tokens = {tokens.data(), tokens.size()};
    sample.logprobs = {logprobs.data(), logprobs.size()};
    sample.policy_version = version();
    sample.state = krl::to_c(state);
    sink.put(sample);
  }

  // Adds the gradient of the critic's loss of one example, and gives that loss.
  double teach_critic(const krl::Loss& loss, const krl::Example& e) {
    if (e.returns().empty()) return 0;
    const std::int32_t state = e.prompt_tokens()[0];
    const double old = e.values()[0], target = e.returns()[0], clip = *loss.parameter("value_clip");
    const double value = values_[state];
    const double kept = clip > 0 ? std::clamp(value, old - clip, old + clip) : value;
    const double miss = value - target, kept_miss = kept - target;
    const bool moves = miss * miss >= kept_miss * kept_miss || kept == value;
    const double scale = *loss.parameter("value_weight") * e.weights()[0] / loss.normaliser();
    if (moves) value_gradient_[state] += scale * miss;
    return 0.5 * scale * std::max(miss * miss, kept_miss * kept_miss);
  }

  std::array<Logits, 2> logits_{}, gradient_{}, published_{};
  std::uint64_t published_version_ = 0;
  std::int64_t asked_ = 0, begun_ = 0, given_ = 0, stepped_ = 0;
  std::atomic<std::int64_t> away_calls_{0};
  double late_loss_ = 0;
  bool last_of_step_ = false;
  std::array<double, 2> values_{}, value_gradient_{};  // by the number of earlier turns, as logits
  std::uint64_t version_ = 0;
  std::int64_t calls_ = 0;
  bool fitted_ = false;
};

struct ToyBackend final : krl::Backend {
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE;
  bool broken = false, held = false, wants_turns = false;
  std::int64_t broken_choice = -1, overfitted_choice = -1, racy_choice = -1, foreign_choice = -1,
               slow_choice = -1, lucky_choice = -1, concurrency = 2, away = 0;
  std::string refuse, prepared, seen;
  static constexpr auto config = krl::config(
      krl::opt(
          "seen", &ToyBackend::seen,
          "a file with a line for each start, and for each new maximum of evaluations at a time"),
      krl::opt("away", &ToyBackend::away, "evaluations that fail at first"),
      krl::opt("broken", &ToyBackend::broken, "every evaluation is an infrastructure error"),
      krl::opt("held", &ToyBackend::held, "an evaluation lasts until its call is cancelled"),
      krl::opt("wants_turns", &ToyBackend::wants_turns,
               "as long as the policy samples, every evaluation is an infrastructure error"),
      krl::opt("broken_choice", &ToyBackend::broken_choice,
               "evaluating this choice is an infrastructure error; -1 = none")
          .range(-1, kChoices - 1),
      krl::opt("overfitted_choice", &ToyBackend::overfitted_choice,
               "this choice is wrong on the hold-out shape; -1 = none")
          .range(-1, kChoices - 1),
      krl::opt("racy_choice", &ToyBackend::racy_choice, "this choice has a data race; -1 = none")
          .range(-1, kChoices - 1),
      krl::opt("foreign_choice", &ToyBackend::foreign_choice,
               "this choice does not compile here; -1 = none")
          .range(-1, kChoices - 1),
      krl::opt("slow_choice", &ToyBackend::slow_choice,
               "evaluating this choice takes more than a second; -1 = none")
          .range(-1, kChoices - 1),
      krl::opt("lucky_choice", &ToyBackend::lucky_choice,
               "this choice seems faster by 3 where its task's pool is left out; -1 = none")
          .range(-1, kChoices - 1),
      krl::opt("prepared", &ToyBackend::prepared, "a file that names the tasks of prepare()"),
      krl::opt("concurrency", &ToyBackend::concurrency, "evaluations that it asks for at a time"),
      krl::opt("refuse", &ToyBackend::refuse, "id of a task that prepare() refuses; * = all"));

  krl::BackendInfo describe() override {
    note("started");
    return {static_cast<std::uint32_t>(concurrency),
            KRL_SIGNAL_COMPILE | KRL_SIGNAL_CORRECTNESS | KRL_SIGNAL_TIME, "toy", "toy"};
  }

  void prepare(const krl::Task& task, const krl::EvaluateOptions&,
               const krl::Context& context) override {
    context.throw_if_cancelled();
    if (refuse == "*") krl::invalid_argument("the toy takes no tasks");
    if (task.id() == refuse)
      krl::invalid_argument("toy.toml:1:1: task '" + refuse + "' is refused");
    const std::lock_guard lock(mutex_);
    if (!prepared.empty()) std::ofstream(prepared, std::ios::app) << task.id() << "\n";
  }

  void evaluate(const krl::Candidate& candidate, const krl::EvaluateOptions& options,
                const krl::EvaluationSink& sink, const krl::Context& context) override {
    const Presence presence(*this);
    while (held) context.throw_if_cancelled();
    be_away(away, calls_);
    const int choice = choice_in(candidate.source());
    if (broken || choice == broken_choice || (wants_turns && sampling))
      throw krl::Failure(KRL_UNAVAILABLE, "the toy is broken");
    if (choice == slow_choice) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    sink.identity("toy", "toy");
    if (choice == 0 || choice == foreign_choice) {
      const std::string why = "choice " + std::to_string(choice) + " does not compile";
      sink.diagnostic({KRL_SEVERITY_ERROR, 1, 1, "", why});
      return sink.verdict(krl::Verdict::kCompileError, why);
    }
    if (choice == racy_choice) return sink.verdict(krl::Verdict::kRuntimeFault, "a data race");
    krl::Case c;
    c.label = "n=1";
    c.verdict = choice == 1 ? krl::Verdict::kWrongResult : krl::Verdict::kOk;
    const bool lucky = choice == lucky_choice && !options.wants(KRL_STAGE_POOL);
    if (choice > 1) c.speedup = c.speedup_low = c.speedup_high = choice - 1 + (lucky ? 3 : 0);
    sink.add_case(c);
    if (options.wants(KRL_STAGE_HOLDOUT) && choice == overfitted_choice) {
      c.label = "n=2";
      c.kind = krl::CaseKind::kHoldout;
      c.verdict = krl::Verdict::kWrongResult;
      sink.add_case(c);
    }
    sink.verdict(c.verdict, c.verdict == krl::Verdict::kOk ? "" : "y[0] is 1, expected 2");
  }

 private:
  // Counts an evaluation; one that is watched takes long enough for others to overlap.
  class Presence {
   public:
    explicit Presence(ToyBackend& backend) : backend_(backend) {
      const std::int64_t now = ++backend_.present_;
      if (backend_.seen.empty()) return;
      backend_.note_most(now);
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    ~Presence() { --backend_.present_; }
    Presence(const Presence&) = delete;
    Presence& operator=(const Presence&) = delete;

   private:
    ToyBackend& backend_;
  };

  void note(const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (!seen.empty()) std::ofstream(seen, std::ios::app) << line << "\n";
  }

  void note_most(std::int64_t present) {
    std::int64_t most = most_present_;
    while (present > most && !most_present_.compare_exchange_weak(most, present)) continue;
    if (present > most) note(std::to_string(present) + " at a time");
  }

  std::atomic<std::int64_t> calls_{0}, present_{0}, most_present_{0};
  std::mutex mutex_;  // of the files
};

struct ToyTasks final : krl::Dataset {
  std::int64_t count = 4, pairs = 0, choice = 2, earlier = -1, away = 0, lost_item = -1;
  bool bare = false;
  static constexpr auto config = krl::config(
      krl::opt("bare", &ToyTasks::bare, "pairs have no definition"),
      krl::opt("count", &ToyTasks::count, "tasks, over the tiers 0 and 1").range(0, 100),
      krl::opt("pairs", &ToyTasks::pairs, "supervised pairs").range(0, 1000),
      krl::opt("choice", &ToyTasks::choice, "the answer that the pairs teach").range(0, 3),
      krl::opt("earlier", &ToyTasks::earlier, "the answer before it; -1 = none").range(-1, 3),
      krl::opt("away", &ToyTasks::away, "readings that fail at first"),
      krl::opt("lost_item", &ToyTasks::lost_item,
               "the item that can never be read; -1 = none, -2 = all"));

  std::uint64_t size() override { return static_cast<std::uint64_t>(count + pairs); }

  void read(std::uint64_t index, const krl::DatasetSink& sink, const krl::Context&) override {
    be_away(away, calls_);
    if (lost_item == -2 || lost_item == static_cast<std::int64_t>(index))
      throw krl::Failure(KRL_UNAVAILABLE, "the shelf is locked");
    const std::string id = "toy_" + std::to_string(index);
    const std::string definition =
        R"({"id":")" + id +
        R"(","prompt":"p","axes":{"n":"var"},"input":[{"name":"x","dtype":"float32","shape":["n"]}],)"
        R"("output":[{"name":"y","dtype":"float32","shape":["n"]}],"reference":"def run(x): return x","cases":[{"n":1}],"holdout":[{"n":2}]})";
    krl_task task{};
    task.tier = index % 2;
    task.id = krl::to_c(id);
    task.title = task.prompt = krl::to_c("p");
    task.definition_json = krl::to_c(definition);
    if (index < static_cast<std::uint64_t>(count)) return sink.task(task);
    if (bare) task.definition_json = {};
    std::vector<std::string> before;
    if (earlier >= 0) before.push_back(answer_of(static_cast<int>(earlier)));
    sink.pair(task, answer_of(static_cast<int>(choice)), before);
  }

 private:
  std::atomic<std::int64_t> calls_{0};
};

// Finds for every task as many documents as are wanted, "document 1 for toy_0" and so on, of which
// the first is long, and leaves its own out.
struct ToyDocuments final : krl::SearchableDataset {
  std::string guarded, lost;
  std::int64_t too_many = 0;
  bool sentence = false;
  static constexpr auto config = krl::config(
      krl::opt("guarded", &ToyDocuments::guarded, "a file that names what find() must guard"),
      krl::opt("lost", &ToyDocuments::lost, "the task for which nothing can be found"),
      krl::opt("too_many", &ToyDocuments::too_many, "documents more than are wanted"),
      krl::opt("sentence", &ToyDocuments::sentence, "the reason is no word"));

  std::uint64_t size() override { return 0; }
  void read(std::uint64_t, const krl::DatasetSink&, const krl::Context&) override {}

  void find(const krl::DocumentQuery& query, const krl::FoundSink& sink,
            const krl::Context&) override {
    const std::string task(query.task().id());
    if (task == lost) throw krl::Failure(KRL_UNAVAILABLE, "the library is closed");
    if (!guarded.empty()) {
      std::ofstream file(guarded, std::ios::app);
      for (const std::string_view text : query.guarded()) file << task << ": " << text << "\n";
    }
    put("the answer to " + task, sentence ? "it is the task's own" : "own_task", sink);
    const auto count = static_cast<std::int64_t>(query.count()) + too_many;
    for (std::int64_t i = 1; i <= count; ++i) {
      const std::string what = i == 1 ? "long document " : "document ";
      put(what + std::to_string(i) + " for " + task, "", sink);
    }
  }

 private:
  static void put(const std::string& text, std::string_view left_out, const krl::FoundSink& sink) {
    krl_document document{};
    document.id = document.text = krl::to_c(text);
    sink.found(document, 1, left_out);
  }
};

// Pays the speed of a right kernel.
struct ToySpeed final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_TIME;
  std::int64_t away = 0, lost_choice = -1;
  static constexpr auto config =
      krl::config(krl::opt("away", &ToySpeed::away, "calls that fail at first"),
                  krl::opt("lost_choice", &ToySpeed::lost_choice,
                           "this choice can never be scored; -1 = none, -2 = all"));

  double score(const krl::Turn& turn) override {
    be_away(away, calls_);
    if (lost_choice == -2 || choice_in(turn.source()) == lost_choice)
      throw krl::Failure(KRL_UNAVAILABLE, "the judge is out");
    return turn.evaluation().speedup();
  }

 private:
  std::atomic<std::int64_t> calls_{0};
};

// Pays nothing, and needs what the toy backend lacks.
struct ToyRegisters final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_REGISTERS;
  double score(const krl::Turn&) override { return 0; }
};

struct ToyNan final : krl::Reward {
  double score(const krl::Turn&) override { return krl::kUnknown; }
};

}  // namespace

KRL_PLUGIN("toy", "1.0.0", krl::policy<ToyPolicy>("toy.world", "A softmax over four answers"),
           krl::backend<ToyBackend>("toy.world", "Judges the four answers"),
           krl::dataset<ToyTasks>("toy.world", "Tasks that are all the same"),
           krl::dataset<ToyDocuments>("toy.documents", "Documents that name the task"),
           krl::reward<ToySpeed>("toy.speed", "Speedup of a right kernel"),
           krl::reward<ToyRegisters>("toy.registers", "Needs registers"),
           krl::reward<ToyNan>("toy.nan", "Gives not-a-number"))
