#include "serve/native/evaluate_call.hpp"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <optional>

#include "http/base/event_stream.hpp"
#include "serve/native/outcome_text.hpp"
#include "serve/routing/keep_alive.hpp"

namespace krl::serve {
namespace {

constexpr std::size_t kMostInBatch = 1000;

// One call with its orders; lives until the last of them is over.
class EvaluateCall : public std::enable_shared_from_this<EvaluateCall> {
 public:
  EvaluateCall(JudgeService& service, const RoutedCall& call, const Json& body)
      : service_(service),
        call_(call),
        is_batch_(body.contains("requests")),
        has_events_(call.wants_events()),
        requests_(is_batch_ ? body["requests"] : Json::array({body})),
        outcomes_(requests_.size()),
        tickets_(requests_.size()),
        left_(requests_.size()) {}

  void begin() {
    if (has_events_) {
      call_.begin_events();
      keep_alive(service_.alarms(), call_.call);
    }
    for (std::size_t i = 0; i < requests_.size(); ++i) submit(i);
    call_.call->when_gone([self = shared_from_this()] { self->cancel(); });
    if (requests_.empty()) end();
  }

 private:
  void submit(std::size_t i) {
    auto order = service_.order_of(call_.client, requests_[i]);
    if (!order) return settle(i, {failure(order.error())});
    EvaluationQueue::Started started;
    if (has_events_) started = [self = shared_from_this(), i] { self->event("started", i); };
    const auto ticket = service_.queue().submit(
        *std::move(order),
        [self = shared_from_this(), i](Outcome outcome) { self->settle(i, std::move(outcome)); },
        std::move(started));
    const std::lock_guard lock(mutex_);
    tickets_[i] = ticket;
    if (has_events_ && !outcomes_[i]) event("queued", i, service_.queue().position(ticket));
  }

  void settle(std::size_t i, Outcome outcome) {
    std::unique_lock lock(mutex_);
    if (has_events_) {
      const std::string text = text_of(outcome, {}, service_.queue().retry_after());
      call_.call->send_event(
          http::event_text(outcome.told ? "result" : "error",
                           "{\"index\":" + std::to_string(i) + "," + text.substr(1)));
    }
    outcomes_[i] = std::move(outcome);
    if (--left_ > 0) return;
    lock.unlock();
    end();
  }

  void end() {
    if (has_events_) {
      call_.call->send_event(http::event_text("end", "{}"));
      return call_.call->end_events();
    }
    const auto retry_after = service_.queue().retry_after();
    if (!is_batch_) return call_.answer(answer_of(*outcomes_.front(), {}, retry_after));
    std::string text = "{\"results\":[";
    for (std::size_t i = 0; i < outcomes_.size(); ++i)
      text += (i == 0 ? "" : ",") + text_of(*outcomes_[i], {}, retry_after);
    call_.answer(text_answer(text + "]}", "application/json"));
  }

  void cancel() {
    std::unique_lock lock(mutex_);
    const std::vector<EvaluationQueue::Ticket> tickets = tickets_;
    lock.unlock();
    for (const auto ticket : tickets) service_.queue().cancel(ticket);
  }

  void event(const char* type, std::size_t i, std::optional<std::size_t> position = {}) {
    Json json = {{"index", i}};
    if (position) json["position"] = *position;
    call_.call->send_event(http::event_text(type, json.dump()));
  }

  JudgeService& service_;
  const RoutedCall call_;
  const bool is_batch_, has_events_;
  const Json requests_;
  std::mutex mutex_;  // guards the members below
  std::vector<std::optional<Outcome>> outcomes_;
  std::vector<EvaluationQueue::Ticket> tickets_;  // 0: over at once
  std::size_t left_;
};

}  // namespace

void answer_evaluate(JudgeService& service, const RoutedCall& call, const Json& body) {
  const bool is_batch = body.contains("requests");
  if (is_batch && (!body["requests"].is_array() || body["requests"].size() > kMostInBatch)) {
    return call.answer(
        error_answer({Code::kInvalidArgument,
                      fmt::format("'requests' must be a list of at most {}", kMostInBatch)}));
  }
  std::make_shared<EvaluateCall>(service, call, body)->begin();
}

}  // namespace krl::serve
