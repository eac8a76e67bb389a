// A host for tests of policies: contexts that record, sinks that collect, and builders that own
// what the C structs point to. One thread at a time, but for the context's callbacks.
#pragma once

#include <atomic>
#include <deque>
#include <kernelrl/policy.hpp>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace krl::test {

class RecordingContext {
 public:
  RecordingContext() {
    c_.struct_size = sizeof c_;
    c_.ctx = this;
    c_.cancelled = [](const krl_call* c) -> std::int32_t { return self(c).is_cancelled ? 1 : 0; };
    c_.progress = [](const krl_call*, double, krl_str) {};
    c_.log = [](const krl_call* c, std::int32_t, krl_str text) {
      const std::lock_guard lock(self(c).mutex_);
      self(c).logged.emplace_back(view(text));
    };
    c_.fail = [](const krl_call* c, krl_status status, krl_str why) {
      self(c).error = view(why);
      return status;
    };
    c_.metric = [](const krl_call* c, krl_str name, double value) {
      const std::lock_guard lock(self(c).mutex_);
      self(c).metrics[std::string(view(name))] = value;
    };
  }
  RecordingContext(const RecordingContext&) = delete;
  RecordingContext& operator=(const RecordingContext&) = delete;

  operator Context() const { return Context(&c_); }  // NOLINT(google-explicit-constructor)
  const krl_call* c() const { return &c_; }

  std::atomic<bool> is_cancelled{false};
  std::map<std::string, double> metrics;
  std::vector<std::string> logged;
  std::string error;

 private:
  static RecordingContext& self(const krl_call* c) {
    return *static_cast<RecordingContext*>(c->ctx);
  }
  krl_call c_{};
  std::mutex mutex_;
};

// A sample as a host keeps it.
struct KeptSample {
  std::uint32_t request = 0, index = 0, stop_reason = 0;
  std::string text;
  std::vector<std::int32_t> prompt_tokens, tokens;
  std::vector<float> logprobs;
  std::uint64_t version = 0;
  bool operator==(const KeptSample&) const = default;
};

struct KeptFailure {
  krl_status status = KRL_OK;
  std::string why;
  bool operator==(const KeptFailure&) const = default;
};

// Keeps samples by request and index, and requests that failed.
class SampleCollector {
 public:
  SampleCollector() {
    c_.struct_size = sizeof c_;
    c_.ctx = this;
    c_.put = [](const krl_sample_sink* c, const krl_sample* s) -> krl_status {
      auto& self = *static_cast<SampleCollector*>(c->ctx);
      KeptSample kept{s->request, s->index, s->stop_reason,   std::string(view(s->text)), {},
                      {},         {},       s->policy_version};
      kept.prompt_tokens.assign(span(s->prompt_tokens).begin(), span(s->prompt_tokens).end());
      kept.tokens.assign(span(s->tokens).begin(), span(s->tokens).end());
      kept.logprobs.assign(span(s->logprobs).begin(), span(s->logprobs).end());
      ++self.puts;
      self.samples[{s->request, s->index}] = std::move(kept);
      if (self.samples.size() == self.cancel_after && self.to_cancel != nullptr) {
        self.to_cancel->is_cancelled = true;
      }
      return self.status;
    };
    c_.fail = [](const krl_sample_sink* c, std::uint32_t request, krl_status status,
                 krl_str why) -> krl_status {
      auto& self = *static_cast<SampleCollector*>(c->ctx);
      self.failures[request] = {status, std::string(view(why))};
      return self.status;
    };
  }
  const krl_sample_sink* c() const { return &c_; }
  operator SampleSink() const { return SampleSink(&c_); }  // NOLINT(google-explicit-constructor)

  std::map<std::pair<std::uint32_t, std::uint32_t>, KeptSample> samples;
  std::size_t puts = 0;  // more than there are samples: one came twice
  std::map<std::uint32_t, KeptFailure> failures;
  krl_status status = KRL_OK;  // what put() and fail() answer
  std::size_t cancel_after = 0;
  RecordingContext* to_cancel = nullptr;

 private:
  krl_sample_sink c_{};
};

class LogprobCollector {
 public:
  LogprobCollector() {
    c_.struct_size = sizeof c_;
    c_.ctx = this;
    c_.put = [](const krl_logprob_sink* c, std::size_t example, krl_f32s values) -> krl_status {
      auto& self = *static_cast<LogprobCollector*>(c->ctx);
      self.logprobs[example].assign(span(values).begin(), span(values).end());
      return KRL_OK;
    };
  }
  const krl_logprob_sink* c() const { return &c_; }
  operator LogprobSink() const { return LogprobSink(&c_); }  // NOLINT(google-explicit-constructor)
  std::map<std::size_t, std::vector<float>> logprobs;

 private:
  krl_logprob_sink c_{};
};

// Of values.
class CriticCollector {
 public:
  CriticCollector() {
    c_.struct_size = sizeof c_;
    c_.ctx = this;
    c_.put = [](const krl_critic_sink* c, std::size_t example, krl_f32s values) -> krl_status {
      auto& self = *static_cast<CriticCollector*>(c->ctx);
      self.values[example].assign(span(values).begin(), span(values).end());
      return KRL_OK;
    };
  }
  operator CriticSink() const { return CriticSink(&c_); }  // NOLINT(google-explicit-constructor)
  std::map<std::size_t, std::vector<float>> values;

 private:
  krl_critic_sink c_{};
};

struct MessageText {
  std::uint32_t role;
  std::string text;
};

// The messages of a prompt.
class MessageList {
 public:
  explicit MessageList(std::vector<MessageText> texts) : texts_(std::move(texts)) {
    for (const MessageText& m : texts_) {
      messages_.push_back({sizeof(krl_message), m.role, to_c(m.text)});
    }
    for (const krl_message& m : messages_) pointers_.push_back(&m);
  }
  operator Messages() const {  // NOLINT(google-explicit-constructor)
    return {pointers_.data(), pointers_.size()};
  }
  const krl_message* const* data() const { return pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

 private:
  std::vector<MessageText> texts_;
  std::deque<krl_message> messages_;
  std::vector<const krl_message*> pointers_;
};

struct RequestOptions {
  std::string prompt = {};
  std::uint32_t samples = 1;
  std::uint32_t max_tokens = 64;
  double temperature = 1.0, top_p = 1.0;
  std::int32_t top_k = -1;
  std::uint64_t seed = 0;
  std::vector<std::string> stop = {};
  std::vector<std::int32_t> prompt_tokens = {}, answer_prefix = {};
  std::int64_t deadline_ns = 0;
  std::string session = {};
};

class RequestList {
 public:
  RequestList() = default;
  RequestList(RequestList&&) = default;  // keeps addresses; a copy would not

  void add(RequestOptions options) {
    Row& row = rows_.emplace_back();
    row.options = std::move(options);
    row.messages.emplace(std::vector<MessageText>{{KRL_ROLE_USER, row.options.prompt}});
    for (const std::string& s : row.options.stop) row.stop.push_back(to_c(s));
    row.sampling = {sizeof(krl_sampling),    row.options.max_tokens,
                    row.options.temperature, row.options.top_p,
                    row.options.top_k,       static_cast<std::uint32_t>(row.stop.size()),
                    row.stop.data()};
    row.request = {sizeof(krl_request),
                   row.options.samples,
                   row.messages->data(),
                   row.messages->size(),
                   &row.sampling,
                   row.options.seed,
                   to_c(row.options.session),
                   i32s(row.options.prompt_tokens),
                   i32s(row.options.answer_prefix),
                   row.options.deadline_ns};
    pointers_.push_back(&row.request);
  }
  operator Requests() const {  // NOLINT(google-explicit-constructor)
    return {pointers_.data(), pointers_.size()};
  }
  const krl_request* const* data() const { return pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

 private:
  struct Row {
    RequestOptions options;
    std::optional<MessageList> messages;
    std::vector<krl_str> stop;
    krl_sampling sampling;
    krl_request request;
  };
  std::deque<Row> rows_;
  std::vector<const krl_request*> pointers_;
};

// Gives them one after the other, whenever it is asked.
class RequestFeed {
 public:
  explicit RequestFeed(const Requests& requests) : requests_(requests) {
    c_.struct_size = sizeof c_;
    c_.ctx = this;
    c_.next = [](const krl_request_source* c, std::int32_t, const krl_request** out) -> krl_status {
      auto& self = *static_cast<RequestFeed*>(c->ctx);
      const bool more = self.next_ < self.requests_.size();
      *out = more ? self.requests_[self.next_++].c() : nullptr;
      return KRL_OK;
    };
  }
  RequestFeed(const RequestFeed&) = delete;
  RequestFeed& operator=(const RequestFeed&) = delete;
  operator RequestSource() const {
    return RequestSource(&c_);
  }  // NOLINT(google-explicit-constructor)

 private:
  Requests requests_;
  std::size_t next_ = 0;
  krl_request_source c_{};
};

// Answers them by sample() or, all being there, by sample_stream().
inline void answer(Policy& policy, const Requests& requests, bool stream, const SampleSink& sink) {
  const RecordingContext context;
  if (!stream) return policy.sample(requests, sink, context);
  const RequestFeed feed(requests);
  policy.sample_stream(feed, sink, context);
}

struct ExampleValues {
  std::vector<std::int32_t> prompt, tokens;
  std::vector<float> logprobs = {}, advantages = {}, weights = {}, values = {}, returns = {},
                     old_logprobs = {}, reference_logprobs = {};
};

class ExampleList {
 public:
  ExampleList() = default;
  ExampleList(ExampleList&&) = default;  // keeps addresses; a copy would not

  void add(ExampleValues values) {
    const ExampleValues& v = values_.emplace_back(std::move(values));
    examples_.push_back({sizeof(krl_example),
                         0,
                         i32s(v.prompt),
                         i32s(v.tokens),
                         f32s(v.logprobs),
                         f32s(v.advantages),
                         f32s(v.weights),
                         f32s(v.values),
                         f32s(v.returns),
                         f32s(v.old_logprobs),
                         f32s(v.reference_logprobs),
                         0,
                         {}});
    pointers_.push_back(&examples_.back());
  }
  const krl_example* const* data() const { return pointers_.data(); }
  operator Examples() const {  // NOLINT(google-explicit-constructor)
    return {pointers_.data(), pointers_.size()};
  }
  std::size_t size() const { return pointers_.size(); }
  const ExampleValues& operator[](std::size_t i) const { return values_[i]; }

 private:
  std::deque<ExampleValues> values_;
  std::deque<krl_example> examples_;
  std::vector<const krl_example*> pointers_;
};

class LossSpec {
 public:
  LossSpec(std::string name, double normaliser, std::map<std::string, double> parameters = {},
           std::uint32_t aggregation = KRL_TOKEN_MEAN, double temperature = 1)
      : name_(std::move(name)), values_(std::move(parameters)) {
    for (const auto& [key, value] : values_) {
      rows_.push_back({sizeof(krl_parameter), 0, to_c(key), value});
    }
    for (const krl_parameter& row : rows_) pointers_.push_back(&row);
    c_ = {sizeof(krl_loss), aggregation,      to_c(name_), normaliser, temperature,
          pointers_.data(), pointers_.size(), 0,           0};
  }
  LossSpec(const LossSpec&) = delete;
  LossSpec& operator=(const LossSpec&) = delete;
  LossSpec& last_of_step() {
    c_.flags = KRL_LOSS_LAST_OF_STEP;
    return *this;
  }
  const krl_loss* c() const { return &c_; }
  operator Loss() const { return Loss(&c_); }  // NOLINT(google-explicit-constructor)

 private:
  std::string name_;
  std::map<std::string, double> values_;
  std::deque<krl_parameter> rows_;
  std::vector<const krl_parameter*> pointers_;
  krl_loss c_{};
};

inline krl_optimizer adamw(double lr, double grad_clip = 1.0) {
  return {sizeof(krl_optimizer), 0, lr, 0.9, 0.95, 1e-8, 0.0, grad_clip};
}

}  // namespace krl::test
