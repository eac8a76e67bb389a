#include "plugins/policies/openai/sampling_call.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/seeds.hpp>

#include "plugins/policies/openai/missing_logprobs.hpp"

namespace krl::openai {

struct SamplingCall::Open {
  std::uint32_t number = 0;
  Ask ask;
  std::uint64_t seed = 0;
  std::uint64_t conversation = 0;
  Expected expected;
  Patience patience;
  // Used only on the call's thread:
  std::size_t parts = 0;           // parts that have not ended
  std::optional<Failure> failure;  // the first of a part
};

namespace {

void check_request(const Request& request) {
  if (request.max_tokens() < 1) invalid_argument("max_tokens must be at least 1");
  if (!(request.temperature() >= 0) || std::isinf(request.temperature()))
    invalid_argument("temperature must be a number from 0 on");
  if (!(request.top_p() > 0 && request.top_p() <= 1)) invalid_argument("top_p must be in (0, 1]");
  for (const std::string_view stop : request.stop()) {
    if (stop.empty()) invalid_argument("a stop text is empty");
  }
}

// Returns the session, or a hash of the common beginning of a conversation's prompts.
std::uint64_t conversation_of(const Request& request) {
  constexpr std::size_t kFirst = 2;  // the system's message and the task
  const std::hash<std::string_view> hash;
  if (!request.session().empty()) return hash(request.session());
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < std::min(request.messages().size(), kFirst); ++i) {
    all = all * 31 + hash(request.messages()[i].text());
  }
  return all;
}

Patience patience_of(const Request& request, const Context& context, Seconds limit,
                     const std::atomic<bool>& cancelled) {
  Patience patience = Patience::of(std::chrono::duration_cast<Clock::duration>(limit),
                                   [&cancelled] { return cancelled.load(); });
  for (const std::int64_t deadline : {request.deadline_ns(), context.deadline_ns()}) {
    if (deadline == 0) continue;
    const Clock::time_point at{std::chrono::nanoseconds(deadline)};
    patience.deadline = std::min(patience.deadline, at);
  }
  return patience;
}

// Copies the text, which another thread reads: copies of an exception count their references in
// libstdc++, where ThreadSanitizer does not see it.
std::optional<Failure> failure_in(const std::exception_ptr& thrown) {
  if (!thrown) return std::nullopt;
  try {
    std::rethrow_exception(thrown);
  } catch (const Failure& failure) {
    return Failure(failure.code(), failure.what());
  } catch (const std::exception& error) {
    return Failure(KRL_INTERNAL, error.what());
  }
}

// The prompt as tokens, and how many may follow it.
void render(const Request& request, const ChatTokenizer& chat, std::int64_t context, Ask& ask,
            Expected& expected) {
  const Span<std::int32_t> given = request.prompt_tokens(), prefix = request.answer_prefix();
  ask.prompt = given.empty() ? chat.prompt(request.messages())
                             : std::vector<TokenId>(given.begin(), given.end());
  expected.own_prompt = ask.prompt.size();
  ask.prompt.insert(ask.prompt.end(), prefix.begin(), prefix.end());
  ask.stop_tokens = chat.stop_tokens();
  expected.chat = &chat;
  expected.prompt = ask.prompt;
  if (prefix.size() >= ask.max_tokens) {
    invalid_argument("the answer so far already has " + std::to_string(prefix.size()) +
                     " tokens; max_tokens is " + std::to_string(ask.max_tokens));
  }
  ask.max_tokens -= static_cast<std::uint32_t>(prefix.size());
  if (context == 0) return;
  const std::int64_t room = context - static_cast<std::int64_t>(ask.prompt.size());
  if (room < 1) {
    invalid_argument("the prompt has " + std::to_string(ask.prompt.size()) +
                     " tokens and the context only " + std::to_string(context) +
                     ", which must hold the answer as well; shorten the prompt");
  }
  ask.max_tokens = static_cast<std::uint32_t>(std::min<std::int64_t>(ask.max_tokens, room));
}

// Returns the server's count, thoughts included, or else that of the tokens that it sent.
std::int64_t answer_tokens_of(const Reply& reply) {
  std::size_t sent = 0;
  for (const auto& [index, choice] : reply.choices) sent += choice.tokens.size();
  return std::max(reply.answer_tokens, static_cast<std::int64_t>(sent));
}

}  // namespace

SamplingCall::SamplingCall(Engine& engine, const SampleSink& sink, const Context& context)
    : engine_(engine), sink_(sink), context_(context) {}

SamplingCall::~SamplingCall() {
  cancelled_ = true;
  while (under_way_ > 0) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ended_.empty(); });
    under_way_ -= ended_.size();
    ended_.clear();
  }
}

std::shared_ptr<SamplingCall::Open> SamplingCall::opened(const Request& request) {
  check_request(request);
  auto open = std::make_shared<Open>();
  open->number = requests_ - 1;
  open->seed = request.seed();
  open->conversation = conversation_of(request);
  open->patience = patience_of(request, context_, engine_.settings().timeout, cancelled_);
  Ask& ask = open->ask;
  ask.max_tokens = request.max_tokens();
  ask.temperature = request.temperature();
  ask.top_p = request.top_p();
  ask.top_k = request.top_k() > 0 ? request.top_k() : -1;
  ask.stream = engine_.settings().stream;
  for (const std::string_view stop : request.stop()) ask.stop.emplace_back(stop);
  open->expected.stop = ask.stop;
  if (const ChatTokenizer* chat = engine_.token_chat()) {
    render(request, *chat, engine_.context(), ask, open->expected);
  } else if (!request.prompt_tokens().empty() || !request.answer_prefix().empty()) {
    throw Failure(KRL_UNIMPLEMENTED,
                  "prompts as tokens need the option tokenizer, and a server that takes ids");
  } else {
    for (const Message message : request.messages()) {
      ask.messages.push_back({message.role(), std::string(message.text())});
    }
  }
  open->expected.max_tokens = ask.max_tokens;
  return open;
}

void SamplingCall::add(const Request& request) {
  ++requests_;
  std::shared_ptr<Open> open;
  try {
    open = opened(request);
  } catch (const Failure& failure) {
    sink_.fail(requests_ - 1, failure.code(), failure.what());
    return;
  }
  // Greedy answers are all the same, and vLLM refuses to give several.
  const std::uint32_t at_once = open->ask.temperature > 0 ? engine_.found().most_at_once : 1;
  std::vector<std::vector<std::uint32_t>> parts;
  for (std::uint32_t k = 0; k < request.n_samples(); ++k) {
    if (k % at_once == 0) parts.emplace_back();
    parts.back().push_back(k);
  }
  open->parts = parts.size();
  under_way_ += parts.size();
  for (std::vector<std::uint32_t>& part : parts) answer(open, std::move(part));
}

void SamplingCall::answer(const std::shared_ptr<Open>& open, std::vector<std::uint32_t> samples) {
  const auto work = [this, open, samples = std::move(samples)](Yield yield) mutable {
    while (!samples.empty()) ask(open, samples, yield);
  };
  const auto ended = [this, open](const std::exception_ptr& thrown) {
    const std::lock_guard lock(mutex_);
    ended_.push_back({open, failure_in(thrown)});
    changed_.notify_one();
  };
  http::start(engine_.loop().io(), work, ended);
}

// Asks for these samples, and leaves the missing ones in the list.
void SamplingCall::ask(const std::shared_ptr<Open>& open, std::vector<std::uint32_t>& samples,
                       Yield yield) {
  Ask ask = open->ask;
  ask.n = static_cast<std::uint32_t>(samples.size());
  ask.seed = server_seed(open->seed, samples.front());
  const Terms terms{open->conversation, open->patience, &retries_};
  Answered answered = engine_.asking().ask(std::move(ask), terms, yield);
  prompt_tokens_ += static_cast<std::uint64_t>(answered.reply.prompt_tokens);
  cached_tokens_ += static_cast<std::uint64_t>(answered.reply.cached_tokens);
  answer_tokens_ += static_cast<std::uint64_t>(answer_tokens_of(answered.reply));
  std::vector<std::uint32_t> missing;
  std::optional<Failure> wrong;
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    const auto choice = answered.reply.choices.find(i);
    if (choice == answered.reply.choices.end()) {
      missing.push_back(samples[i]);
      continue;
    }
    if (open->expected.chat != nullptr) {
      fill_missing(engine_.asking(), *engine_.found().dialect, open->expected, choice->second,
                   terms, yield);
    }
    try {
      check_prompt(answered.reply, open->expected);
      finish(open, samples[i], checked_sample(choice->second, open->expected), answered.version);
    } catch (const Failure& failure) {  // the others may be right
      wrong = Failure(failure.code(), answered.server + ": " + failure.what());
    }
  }
  if (wrong) throw *wrong;
  samples = std::move(missing);
}

void SamplingCall::finish(const std::shared_ptr<Open>& open, std::uint32_t index, Sample sample,
                          std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  finished_.push_back({open, index, std::move(sample), version});
  changed_.notify_one();
}

void SamplingCall::deliver() {
  constexpr std::chrono::milliseconds kMoment(10);
  std::deque<Finished> finished;
  std::deque<Ended> ended;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kMoment, [&] { return !finished_.empty() || !ended_.empty(); });
    std::swap(finished, finished_);
    std::swap(ended, ended_);
    under_way_ -= ended.size();
  }
  for (const std::string& note : engine_.take_notes()) context_.warning(note);
  context_.throw_if_cancelled();
  for (const Finished& one : finished) put(one);
  for (const Ended& part : ended) end(part);
}

void SamplingCall::end(const Ended& part) {
  Open& open = *part.open;
  if (part.failure && part.failure->code() == KRL_FAILED_PRECONDITION) throw *part.failure;
  if (part.failure && !open.failure) open.failure = part.failure;
  if (--open.parts == 0 && open.failure) {
    sink_.fail(open.number, open.failure->code(), open.failure->what());
  }
}

void SamplingCall::put(const Finished& finished) {
  const Sample& sample = finished.sample;
  krl_sample out{};
  out.request = finished.open->number;
  out.index = finished.index;
  out.stop_reason = sample.stop_reason;
  out.text = to_c(sample.text);
  if (finished.open->expected.chat != nullptr) {
    const std::vector<TokenId>& prompt = finished.open->expected.prompt;
    out.prompt_tokens = i32s(Span<std::int32_t>(prompt.data(), finished.open->expected.own_prompt));
  }
  out.tokens = i32s(sample.tokens);
  out.logprobs = f32s(sample.logprobs);
  out.policy_version = finished.version;
  sink_.put(out);
}

void SamplingCall::report() const {
  context_.metric("retries", static_cast<double>(retries_));
  context_.metric("prompt_tokens", static_cast<double>(prompt_tokens_));
  context_.metric("cached_tokens", static_cast<double>(cached_tokens_));
  if (answer_tokens_ > 0) context_.metric("answer_tokens", static_cast<double>(answer_tokens_));
}

}  // namespace krl::openai
