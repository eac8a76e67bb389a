// The requests, examples and losses of a call as bytes for another rank, and the C structs of a
// part of a call. Objects own the data of their views, or borrow it where stated. One thread at a
// time.
#pragma once

#include <deque>
#include <kernelrl/policy.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "plugins/policies/libtorch/distributed/message.hpp"
#include "plugins/policies/libtorch/distributed/sharing.hpp"

namespace krl::libtorch {

// Some of the requests of a call, borrowed from it.
class RequestPart {
 public:
  RequestPart(const Requests& requests, const RankShare& share);
  Requests requests() const { return {rows_.data(), rows_.size()}; }

 private:
  std::vector<const krl_request*> rows_;
};

// Its deadline as the time that is left: each machine has a separate clock.
void write_request(MessageWriter& message, const Request& request);

// Requests that came as bytes. They keep their addresses as more come.
class ReceivedRequests {
 public:
  // Reads one more; it lives as long as this.
  const krl_request* add(MessageReader& message);
  Requests requests() const { return {rows_.data(), rows_.size()}; }

 private:
  struct Row {
    std::deque<std::string> texts;
    std::deque<krl_message> messages;
    std::vector<const krl_message*> pointers;
    std::vector<krl_str> stop;
    std::vector<std::int32_t> tokens, answer;
    krl_sampling sampling{};
    krl_request request{};
  };
  std::deque<Row> owned_;
  std::vector<const krl_request*> rows_;
};

// Some of the examples of a call, borrowed from it.
class ExamplePart {
 public:
  ExamplePart(const Examples& examples, const RankShare& share);
  Examples examples() const { return {rows_.data(), rows_.size()}; }

 private:
  std::vector<const krl_example*> rows_;
};

void write_examples(MessageWriter& message, const Examples& examples, const RankShare& share);

class ReceivedExamples {
 public:
  explicit ReceivedExamples(MessageReader& message);
  Examples examples() const { return {rows_.data(), rows_.size()}; }

 private:
  std::deque<std::vector<std::int32_t>> tokens_;
  std::deque<std::vector<float>> values_;
  std::deque<krl_example> owned_;
  std::vector<const krl_example*> rows_;
};

using Rows = std::vector<std::vector<float>>;  // for each example, a number for each of its tokens

// Collects the rows that a call puts. `Sink` is LogprobSink or CriticSink.
template <class Sink>
class RowCollector {
 public:
  explicit RowCollector(std::size_t rows) : rows_(rows), c_{sizeof c_, 0, this, put} {}
  RowCollector(const RowCollector&) = delete;
  RowCollector& operator=(const RowCollector&) = delete;
  Sink sink() const { return Sink(&c_); }
  const Rows& rows() const { return rows_; }
  Rows take() && { return std::move(rows_); }

 private:
  using C =
      std::conditional_t<std::is_same_v<Sink, LogprobSink>, krl_logprob_sink, krl_critic_sink>;

  static krl_status put(const C* c, std::size_t example, krl_f32s values) {
    auto& self = *static_cast<RowCollector*>(c->ctx);
    self.rows_.at(example).assign(span(values).begin(), span(values).end());
    return KRL_OK;
  }

  Rows rows_;
  C c_;
};

void write_loss(MessageWriter& message, const Loss& loss);

class ReceivedLoss {
 public:
  explicit ReceivedLoss(MessageReader& message);
  ReceivedLoss(const ReceivedLoss&) = delete;
  ReceivedLoss& operator=(const ReceivedLoss&) = delete;
  Loss loss() const { return Loss(&c_); }

 private:
  std::string name_;
  std::deque<std::string> names_;
  std::deque<krl_parameter> parameters_;
  std::vector<const krl_parameter*> pointers_;
  krl_loss c_{};
};

void write_optimizer(MessageWriter& message, const krl_optimizer& optimizer);
krl_optimizer read_optimizer(MessageReader& message);

void write_sample(MessageWriter& message, const krl_sample& sample);

class ReceivedSample {
 public:
  explicit ReceivedSample(MessageReader& message);
  // Borrows from this.
  krl_sample sample() const;

 private:
  krl_sample c_{};
  std::string text_;
  std::vector<std::int32_t> prompt_, tokens_;
  std::vector<float> logprobs_;
};

// The error of a rank for a request that it cannot answer.
struct FailedRequest {
  std::uint32_t request;  // index in that rank's part of the call
  krl_status status;
  std::string why;
};

void write_failed_request(MessageWriter& message, const FailedRequest& failed);
FailedRequest read_failed_request(MessageReader& message);

}  // namespace krl::libtorch
