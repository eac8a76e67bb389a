#include "core/plugin/call_watch.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace krl {
namespace {

using Clock = ActiveCall::Clock;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kShort{30};
constexpr std::chrono::minutes kLong{5};
constexpr std::array<std::string_view, 2> kEndless = {"follow", "sample_stream"};
constexpr std::array<std::string_view, 10> kQuick = {
    "score",   "size",       "read",    "describe", "tokenize",
    "preview", "check_loss", "follows", "dlopen",   "entry point"};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& functions, std::string_view function) {
  return std::find(functions.begin(), functions.end(), function) != functions.end();
}

// Notes that are due, and when the next one is.
struct Round {
  std::vector<std::string> notes;
  Clock::time_point next;
};

// A call that begins after this look is due after the shortest limit at the soonest.
Round look(const CallLimit& limit) {
  const Clock::time_point now = Clock::now();
  Round round{{}, now + limit(kQuick.front())};
  ActiveCalls().each([&](ActiveCall& call) {
    const milliseconds usual = limit(call.function());
    if (usual.count() == 0) return;
    Clock::time_point due = call.began() + usual * (1LL << call.notes);
    if (due <= now) {
      round.notes.push_back(call.text(" has been running for "));
      for (; due <= now; due = call.began() + usual * (1LL << call.notes)) ++call.notes;
    }
    round.next = std::min(round.next, due);
  });
  return round;
}

}  // namespace

milliseconds usual_limit(std::string_view function) {
  function = function.substr(0, function.find(' '));  // "read item 3"
  if (contains(kEndless, function)) return {};
  return contains(kQuick, function) ? milliseconds(kShort) : milliseconds(kLong);
}

CallWatch::CallWatch(Notice notice, CallLimit limit)
    : notice_(std::move(notice)),
      limit_(std::move(limit)),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void CallWatch::watch(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    const Round round = look(limit_);
    for (const std::string& note : round.notes) notice_(note);
    stopped.wait_until(lock, stop, round.next, [&] { return stop.stop_requested(); });
  }
}

}  // namespace krl
