#include "core/plugin/active_call.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "core/plugin/crash.hpp"

namespace krl::core {
namespace {

// The calls of all threads, the oldest first. A plugin's code never runs while they are locked.
std::mutex g_calls_mutex;
std::vector<ActiveCall*>& g_calls = *new std::vector<ActiveCall*>;  // outlives every thread

thread_local ActiveCall* t_innermost = nullptr;

[[noreturn]] void end_forked_child(const ActiveCall& call) {
  FixedText text;
  text.add("kernelrl: ");
  call.add_name(text);
  text.add(" forked, and the child returned to kernelrl; the child ends here");
  call.add_plugin(text);
  write_last_words(text.end_line().view());
  ::_exit(1);
}

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
  return std::ranges::find(functions, function) != functions.end();
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
  const std::lock_guard lock(g_calls_mutex);
  for (ActiveCall* const call : g_calls) {
    const milliseconds usual = limit(call->function());
    if (usual.count() == 0) continue;
    Clock::time_point due = call->began() + usual * (1LL << call->notes);
    if (due <= now) {
      round.notes.push_back(call->text(" has been running for "));
      for (; due <= now; due = call->began() + usual * (1LL << call->notes)) ++call->notes;
    }
    round.next = std::min(round.next, due);
  }
  return round;
}

}  // namespace

Callee callee_of(const Component& component) {
  const PluginInfo& plugin = component.plugin;
  return {plugin.path.native(), name_of(component.kind), component.id, plugin.name, plugin.version};
}

ActiveCall::ActiveCall(const Callee& callee, std::string_view function)
    : callee_(callee),
      function_(function),
      began_(Clock::now()),
      process_(::getpid()),
      outer_(t_innermost) {
  guard_this_thread();
  const std::lock_guard lock(g_calls_mutex);
  g_calls.push_back(this);
  t_innermost = this;
}

ActiveCall::~ActiveCall() {
  if (process_ != ::getpid()) end_forked_child(*this);
  const std::lock_guard lock(g_calls_mutex);
  g_calls.erase(std::ranges::find(g_calls, this));
  t_innermost = outer_;
}

void ActiveCall::add_name(FixedText& text) const {
  if (callee_.id.empty()) {
    text.add("plugin ").add(callee_.file);
  } else {
    text.add(callee_.kind).add(" '").add(callee_.id).add("'");
  }
  text.add(" (").add(function_).add(")");
}

void ActiveCall::add_plugin(FixedText& text) const {
  if (callee_.id.empty()) return;
  text.add(" (plugin ").add(callee_.plugin).add(" ").add(callee_.version).add(", ");
  text.add(callee_.file).add(")");
}

std::string ActiveCall::text(std::string_view before_time) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(Clock::now() - began_).count();
  FixedText text;
  add_name(text);
  text.add(before_time);
  if (seconds < 120) {
    text.add(static_cast<std::uint64_t>(seconds)).add(" s");
  } else {
    text.add(static_cast<std::uint64_t>(seconds / 60)).add(" min");
  }
  add_plugin(text);
  return std::string(text.view());
}

const ActiveCall* ActiveCall::of_this_thread() { return t_innermost; }

// In glibc try_lock is one atomic operation.
void ActiveCall::each_if_free(const std::function<void(const ActiveCall&)>& visit) {
  const std::unique_lock lock(g_calls_mutex, std::try_to_lock);
  for (auto call = g_calls.begin(); lock && call != g_calls.end(); ++call) visit(**call);
}

std::vector<std::string> calls_under_way() {
  std::vector<std::string> texts;
  const std::lock_guard lock(g_calls_mutex);
  for (const ActiveCall* call : g_calls) texts.push_back(call->text(" for "));
  return texts;
}

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

}  // namespace krl::core
