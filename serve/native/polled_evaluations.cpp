#include "serve/native/polled_evaluations.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "serve/judging/secret_id.hpp"
#include "serve/native/outcome_text.hpp"

namespace krl::serve {
namespace {

constexpr int kLongestWait = 600;  // seconds

// The seconds of the query's `wait`, 0 to kLongestWait; none if it is no number.
std::optional<std::chrono::duration<double>> wait_of(const http::IncomingRequest& request) {
  const std::string text = request.query("wait");
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size()))
    return std::nullopt;
  if (!(seconds >= 0 && seconds <= kLongestWait)) return std::nullopt;
  return std::chrono::duration<double>(seconds);
}

}  // namespace

struct PolledEvaluations::Polled {
  Polled(std::string id, std::string client) : id(std::move(id)), client(std::move(client)) {}

  const std::string id, client;
  const Alarms::Clock::time_point since = Alarms::Clock::now();
  std::mutex mutex;  // guards the members below
  EvaluationQueue::Ticket ticket = 0;
  bool is_running = false;
  std::optional<Outcome> outcome;
  std::vector<RoutedCall> waiting;  // the first answer to each counts
};

std::optional<RoutedCall> PolledEvaluations::take_waiting(Polled& polled,
                                                          const http::ServerCall* call) {
  const std::lock_guard lock(polled.mutex);
  const auto place = std::ranges::find_if(
      polled.waiting, [&](const RoutedCall& waiting) { return waiting.call.get() == call; });
  if (place == polled.waiting.end()) return std::nullopt;
  std::optional<RoutedCall> taken(std::move(*place));
  polled.waiting.erase(place);
  return taken;
}

void PolledEvaluations::begin(const RoutedCall& call, const Json& body) {
  auto order = service_.order_of(call.client, body);
  if (!order) return call.answer(error_answer(order.error()));
  const auto polled = std::make_shared<Polled>(secret_id(), call.client);
  {
    const std::lock_guard lock(mutex_);
    forget_old();
    latest_.push_back(polled);
    by_id_[polled->id] = polled;
  }
  const auto settle = [this, polled](Outcome outcome) {
    std::unique_lock lock(polled->mutex);
    polled->outcome = std::move(outcome);
    const auto waiting = std::exchange(polled->waiting, {});
    lock.unlock();
    for (const RoutedCall& call : waiting) call.answer(state_of(*polled));
  };
  const auto started = [polled] {
    const std::lock_guard lock(polled->mutex);
    polled->is_running = true;
  };
  const auto ticket = service_.queue().submit(*std::move(order), settle, started);
  {
    const std::lock_guard lock(polled->mutex);
    polled->ticket = ticket;
  }
  wait(call, polled);
}

void PolledEvaluations::look(const RoutedCall& call) {
  if (const Pointer polled = find(call)) wait(call, polled);
}

void PolledEvaluations::cancel(const RoutedCall& call) {
  const Pointer polled = find(call);
  if (!polled) return;
  std::unique_lock lock(polled->mutex);
  const auto ticket = polled->ticket;
  lock.unlock();
  service_.queue().cancel(ticket);
  call.answer(json_answer({{"id", polled->id}, {"state", "over"}}));
}

PolledEvaluations::Pointer PolledEvaluations::find(const RoutedCall& call) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(call.parameters.at("id"));
    if (found != by_id_.end() && found->second->client == call.client) return found->second;
  }
  call.answer(error_answer(
      {Code::kNotFound, "there is no such evaluation of yours; results are kept for ten minutes"}));
  return nullptr;
}

void PolledEvaluations::wait(const RoutedCall& call, const Pointer& polled) {
  const auto patience = wait_of(call.request());
  if (!patience) {
    return call.answer(
        error_answer({Code::kInvalidArgument, "wait must be a number of seconds from 0 to 600"}));
  }
  std::unique_lock lock(polled->mutex);
  const bool is_over = polled->outcome.has_value() || patience->count() == 0;
  if (!is_over) polled->waiting.push_back(call);
  lock.unlock();
  if (is_over) return call.answer(state_of(*polled));
  call.call->when_gone([weak = std::weak_ptr(polled), id = call.call.get()] {
    if (const auto polled = weak.lock()) take_waiting(*polled, id);
  });
  service_.alarms().at(
      Alarms::Clock::now() + std::chrono::duration_cast<Alarms::Clock::duration>(*patience),
      [this, polled, id = call.call.get()] {  // an alarm keeps no connection
        if (const auto late = take_waiting(*polled, id)) late->answer(state_of(*polled));
      });
}

http::Answer PolledEvaluations::state_of(Polled& polled) const {
  std::unique_lock lock(polled.mutex);
  if (polled.outcome) return answer_of(*polled.outcome, polled.id, service_.queue().retry_after());
  const bool is_running = polled.is_running;
  const auto ticket = polled.ticket;
  lock.unlock();
  return json_answer({{"id", polled.id},
                      {"state", is_running ? "running" : "queued"},
                      {"position", service_.queue().position(ticket)}},
                     202);
}

void PolledEvaluations::forget_old() {
  const auto old = Alarms::Clock::now() - kKept;
  while (!latest_.empty() && (latest_.size() >= kMost || latest_.front()->since < old)) {
    by_id_.erase(latest_.front()->id);
    latest_.pop_front();
  }
}

}  // namespace krl::serve
