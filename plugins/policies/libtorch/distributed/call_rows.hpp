// The requests and examples of a call as bytes for another rank, and the C structs of a part of a
// call. Objects own the data of their views, or borrow it where stated. One thread at a
// time.
#pragma once

#include <deque>
#include <kernelrl/policy.hpp>
#include <kernelrl/policy_values.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "plugins/policies/libtorch/distributed/message.hpp"
#include "plugins/policies/libtorch/distributed/sharing.hpp"
#include "plugins/policies/libtorch/distributed/value_messages.hpp"

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

// Values that came as bytes, and the structs of abi.h that refer to them. They keep their addresses
// as more come.
template <class V>
class Received {
 public:
  // The struct lives as long as this.
  const typename V::C* add(V value) {
    const V& kept = values_.emplace_back(std::move(value));
    rows_.push_back(views_.emplace_back(kept).c());
    return rows_.back();
  }
  const std::vector<const typename V::C*>& rows() const { return rows_; }

 private:
  std::deque<V> values_;
  std::deque<CView<V>> views_;
  std::vector<const typename V::C*> rows_;
};

class ReceivedRequests {
 public:
  const krl_request* add(MessageReader& message);
  Requests requests() const { return {received_.rows().data(), received_.rows().size()}; }

 private:
  Received<RequestValue> received_;
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
  Examples examples() const { return {received_.rows().data(), received_.rows().size()}; }

 private:
  Received<ExampleValue> received_;
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

// The error of a rank for a request that it cannot answer.
struct FailedRequest {
  std::uint32_t request = 0;  // index in that rank's part of the call
  krl_status status = KRL_OK;
  std::string why;

  template <class Visit>
  static void each_field(Visit&& visit) {
    visit(&FailedRequest::request);
    visit(&FailedRequest::status);
    visit(&FailedRequest::why);
  }
};

}  // namespace krl::libtorch
