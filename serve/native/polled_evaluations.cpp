#include "serve/native/polled_evaluations.hpp"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <optional>

#include "serve/judging/secret_id.hpp"
#include "serve/native/outcome_text.hpp"
#include "serve/routing/awaited.hpp"

namespace krl::serve {
namespace {

constexpr int kLongestWait = 600;          // seconds
constexpr std::size_t kLeastBytes = 4096;  // for which one without a result counts

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
  std::atomic<EvaluationQueue::Ticket> ticket = 0;
  std::atomic<bool> is_running = false;
  Awaited<Outcome, Alarms::Alarm> outcome;  // the alarms end the calls' patience
};

void PolledEvaluations::begin(const RoutedCall& call, const Json& body) {
  auto order = service_.order_of(call.client, body);
  if (!order) return call.answer(error_answer(order.error()));
  const auto polled = std::make_shared<Polled>(secret_id(), call.client);
  kept_.keep(call.client, polled->id, polled, kLeastBytes);
  const auto settle = [this, polled](const Outcome& outcome) {
    if (outcome.told)
      kept_.resize(polled->client, polled->id, kLeastBytes + bytes_of(**outcome.told));
    for (const RoutedCall& waited : polled->outcome.settle(outcome))
      waited.answer(state_of(*polled));
  };
  polled->ticket =
      service_.queue().submit(*std::move(order), settle, [polled] { polled->is_running = true; });
  wait(call, polled);
}

void PolledEvaluations::look(const RoutedCall& call) {
  if (const Pointer polled = find(call)) wait(call, polled);
}

void PolledEvaluations::cancel(const RoutedCall& call) {
  const Pointer polled = find(call);
  if (!polled) return;
  service_.queue().cancel(polled->ticket);
  call.answer(json_answer({{"id", polled->id}, {"state", "over"}}));
}

PolledEvaluations::Pointer PolledEvaluations::find(const RoutedCall& call) {
  Pointer polled = kept_.find(call.client, call.parameters.at("id"));
  if (!polled)
    call.answer(error_answer(
        {Code::kNotFound, "there is no such evaluation of yours; the latest ones are kept"}));
  return polled;
}

void PolledEvaluations::wait(const RoutedCall& call, const Pointer& polled) {
  const auto patience = wait_of(call.request());
  if (!patience) {
    return call.answer(
        error_answer({Code::kInvalidArgument,
                      fmt::format("wait must be a number of seconds from 0 to {}", kLongestWait)}));
  }
  if (patience->count() == 0) return call.answer(state_of(*polled));
  // Neither may keep a connection, or what was asked for.
  const auto take = [weak = std::weak_ptr(polled), id = call.call.get()] {
    const auto polled = weak.lock();
    return std::pair(polled, polled ? polled->outcome.take(id) : std::nullopt);
  };
  const auto end =
      Alarms::Clock::now() + std::chrono::duration_cast<Alarms::Clock::duration>(*patience);
  const auto accompany = [&] {
    return service_.alarms().set(end, [this, take] {
      if (const auto [polled, late] = take(); late) late->answer(state_of(*polled));
    });
  };
  if (!polled->outcome.add(call, accompany)) return call.answer(state_of(*polled));
  call.call->when_gone([take] { take(); });
}

http::Answer PolledEvaluations::state_of(const Polled& polled) const {
  if (const auto outcome = polled.outcome.value())
    return answer_of(*outcome, polled.id, service_.queue().retry_after());
  return json_answer({{"id", polled.id},
                      {"state", polled.is_running ? "running" : "queued"},
                      {"position", service_.queue().position(polled.ticket)}},
                     202);
}

}  // namespace krl::serve
