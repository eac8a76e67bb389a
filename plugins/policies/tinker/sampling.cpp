#include "plugins/policies/tinker/sampling.hpp"

#include <condition_variable>
#include <kernelrl/seeds.hpp>

namespace krl::tinker {
namespace {

// A seed of the service's out of the boundary's: 31 bits, as SkyRL takes no more, with room for the
// number of the sample, which it adds.
std::int64_t service_seed(std::uint64_t seed) {
  return static_cast<std::int64_t>(mixed(seed + kSeedStep) % 0x7fff0000u);
}

krl_sample to_c_sample(const SampledAnswer& answer, const std::vector<TokenId>& prompt,
                       std::uint64_t version) {
  krl_sample out{};
  out.stop_reason = answer.stop_reason;
  out.text = to_c(answer.text);
  out.prompt_tokens = i32s(prompt);
  out.tokens = i32s(answer.tokens);
  out.logprobs = f32s(answer.logprobs);
  out.policy_version = version;
  return out;
}

// Counts the coroutines in progress.
class Underway {
 public:
  void begin(std::size_t most) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ < most; });
    ++count_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }
  void wait_for_all() { begin(1), end(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
};

}  // namespace

// One call of the host's, with all its requests.
class Sampling::Call {
 public:
  Call(Sampling& sampling, const SampleSink& sink, const Context& context)
      : sampling_(sampling), sink_(sink), context_(context), begun_(sampling.session_.retries()) {}

  // Answers request `number`, or reports that it failed. Throws nothing.
  void answer(const Request& request, std::uint32_t number, Yield yield) {
    krl_status code = KRL_OK;
    std::string why;
    try {
      if (!ended_) ask(request, number, yield);
      if (ended_) code = end_code_, why = end_why_;
    } catch (const Failure& failure) {
      code = failure.code();
      why = failure.what();
    } catch (const std::exception& error) {
      code = KRL_INTERNAL;
      why = error.what();
    }
    if (code == KRL_OK) return;
    if (code == KRL_CANCELLED || code == KRL_FAILED_PRECONDITION) end(code, why);
    fail(number, code, why);
  }

  // No further request is asked.
  void end(krl_status code, const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    end_code_ = code;
    end_why_ = why;
    ended_ = true;
  }

  // Reports the figures to the host once all requests are over.
  void finish() {
    context_.metric("prompt_tokens", static_cast<double>(prompt_tokens_));
    context_.metric("retries", static_cast<double>(sampling_.session_.retries() - begun_));
    if (ended_) throw Failure(end_code_, end_why_);
  }

 private:
  // A request in the service's terms.
  struct Asked {
    SampleRequest request;
    std::vector<TokenId> prompt;
    ExpectedAnswer expected;
  };

  void ask(const Request& request, std::uint32_t number, Yield yield) {
    Asked asked = translate(request);
    const std::shared_ptr<Sampler> sampler = sampling_.sampler_();
    asked.request.sampling_session_id = sampler->sampling_session_id;
    asked.request.seq_id = sampler->next_seq_id++;
    const Submission submission{SampleRequest::kPath, to_json(asked.request)};
    prompt_tokens_ += asked.request.prompt.size();
    const SampleAnswer answer = sampling_.session_.futures().submit_and_wait<SampleAnswer>(
        submission, patience(request), yield);
    if (answer.sequences.size() != request.n_samples()) {
      throw Failure(KRL_UNAVAILABLE, "the service gave " + std::to_string(answer.sequences.size()) +
                                         " samples instead of " +
                                         std::to_string(request.n_samples()));
    }
    put(asked, answer, number, sampler->version);
  }

  // All of them are checked before the first is handed over.
  void put(const Asked& asked, const SampleAnswer& answer, std::uint32_t number,
           std::uint64_t version) {
    std::vector<SampledAnswer> checked;
    for (const SampledSequence& sequence : answer.sequences)
      checked.push_back(checked_answer(sequence, asked.expected));
    for (std::size_t i = 0; i < checked.size(); ++i) {
      krl_sample sample = to_c_sample(checked[i], asked.prompt, version);
      sample.request = number;
      sample.index = static_cast<std::uint32_t>(i);
      sink_.put(sample);
    }
  }

  Asked translate(const Request& request) const {
    Asked asked;
    const auto given = request.prompt_tokens();
    asked.prompt = given.empty() ? sampling_.chat_.prompt(request.messages())
                                 : std::vector<TokenId>(given.begin(), given.end());
    asked.expected.chat = &sampling_.chat_;
    asked.expected.vocabulary = sampling_.options_.vocabulary;
    asked.expected.prefix.assign(request.answer_prefix().begin(), request.answer_prefix().end());
    for (const std::string_view text : request.stop()) {
      if (text.empty()) invalid_argument("a stop text is empty");
      asked.expected.stop.emplace_back(text);
    }
    SampleRequest& out = asked.request;
    out.num_samples = request.n_samples();
    out.prompt = asked.prompt;
    out.prompt.insert(out.prompt.end(), asked.expected.prefix.begin(), asked.expected.prefix.end());
    out.max_tokens = answer_room(request, out.prompt);
    asked.expected.max_tokens = out.max_tokens;
    out.seed = service_seed(request.seed());
    out.stop = sampling_.chat_.stop_tokens();
    out.temperature = request.temperature();
    out.top_k = request.top_k();
    out.top_p = request.top_p();
    return asked;
  }

  // Returns how many tokens may be sampled. Throws if the prompt cannot be asked.
  std::int64_t answer_room(const Request& request, const std::vector<TokenId>& prompt) const {
    const SamplingOptions& options = sampling_.options_;
    for (const TokenId token : prompt) {
      if (token >= 0 && token < options.vocabulary) continue;
      invalid_argument("prompt token " + std::to_string(token) + " is outside the vocabulary of " +
                       std::to_string(options.vocabulary));
    }
    const auto so_far = static_cast<std::int64_t>(request.answer_prefix().size());
    const std::int64_t wanted = static_cast<std::int64_t>(request.max_tokens()) - so_far;
    if (wanted < 1) {
      invalid_argument("the answer so far already has " + std::to_string(so_far) +
                       " tokens; max_tokens is " + std::to_string(request.max_tokens()));
    }
    if (options.context == 0) return wanted;
    const std::int64_t left = options.context - static_cast<std::int64_t>(prompt.size());
    if (left < 1) {
      invalid_argument("the prompt has " + std::to_string(prompt.size()) +
                       " tokens, and the model's context is " + std::to_string(options.context));
    }
    return std::min(wanted, left);
  }

  Patience patience(const Request& request) const {
    Patience patience = patience_of(context_, sampling_.options_.timeout);
    patience.cancelled = [this] { return context_.cancelled() || ended_; };
    if (request.deadline_ns() != 0) {
      const std::chrono::nanoseconds deadline(request.deadline_ns());
      patience.deadline = std::min(patience.deadline, Patience::Clock::time_point(deadline));
    }
    return patience;
  }

  void fail(std::uint32_t number, krl_status code, const std::string& why) {
    try {
      sink_.fail(number, code, why);
    } catch (const Failure& failure) {
      end(failure.code(), failure.what());
    }
  }

  Sampling& sampling_;
  const SampleSink& sink_;
  const Context& context_;
  const std::uint64_t begun_;
  std::size_t prompt_tokens_ = 0;
  std::mutex mutex_;
  std::atomic<bool> ended_ = false;  // set once, after these two
  krl_status end_code_ = KRL_OK;
  std::string end_why_;
};

Sampling::Sampling(Session& session, const policies::ChatTokenizer& chat,
                   const SamplingOptions& options, CurrentSampler sampler)
    : session_(session), chat_(chat), options_(options), sampler_(std::move(sampler)) {}

void Sampling::sample(const Requests& requests, const SampleSink& sink, const Context& context) {
  Call call(*this, sink, context);
  std::size_t next = 0;
  const auto work = [&](std::size_t, Yield yield) {
    while (next < requests.size()) {
      const std::size_t number = next++;
      call.answer(requests[number], static_cast<std::uint32_t>(number), yield);
    }
  };
  const std::size_t at_once = std::min(requests.size(), options_.in_flight);
  session_.loop().run(
      [&](Yield yield) { http::side_by_side(session_.loop().io(), at_once, work, yield); });
  call.finish();
}

// Every request of the source is answered or failed in any case: the source may wait for that
// before it ends.
void Sampling::sample_stream(const RequestSource& source, const SampleSink& sink,
                             const Context& context) {
  Call call(*this, sink, context);
  Underway underway;
  try {
    std::uint32_t number = 0;
    while (const std::optional<Request> request = source.next(/*wait=*/true)) {
      underway.begin(options_.in_flight);
      http::start(
          session_.loop().io(),
          [&call, request = *request, number](Yield yield) { call.answer(request, number, yield); },
          [&underway](const std::exception_ptr&) { underway.end(); });
      ++number;
    }
  } catch (const Failure& failure) {
    call.end(failure.code(), failure.what());
  }
  underway.wait_for_all();
  call.finish();
}

}  // namespace krl::tinker
