#include "core/plugin/active_call.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

#include "core/plugin/crash.hpp"

namespace krl::core {
namespace {

// Guards the list of all calls. A plugin's code never runs while it is locked.
std::mutex g_calls_mutex;
ActiveCall* g_oldest = nullptr;
ActiveCall* g_newest = nullptr;

// Number of forks of this process and its ancestors since kernelrl started.
std::atomic<unsigned> g_forks{0};

thread_local ActiveCall* t_innermost = nullptr;

// Only the thread that forks is in the child: the calls of the others are not in progress there.
void forget_calls_in_child() {
  g_oldest = g_newest = nullptr;
  ++g_forks;
  g_calls_mutex.unlock();
}

unsigned forks_so_far() {
  static const int watched = ::pthread_atfork(
      [] { g_calls_mutex.lock(); }, [] { g_calls_mutex.unlock(); }, forget_calls_in_child);
  static_cast<void>(watched);  // if memory runs out here, forks are not noticed
  return g_forks.load(std::memory_order_relaxed);
}

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

Callee callee_of(const Component& component) {
  const PluginInfo& plugin = component.plugin;
  return {plugin.path.native(), name_of(component.kind), component.id, plugin.name, plugin.version};
}

ActiveCall::ActiveCall(const Callee& callee, std::string_view function)
    : callee_(callee),
      function_(function),
      began_(Clock::now()),
      forks_(forks_so_far()),
      outer_(t_innermost) {
  guard_this_thread();
  const std::lock_guard lock(g_calls_mutex);
  older_ = g_newest;
  (older_ == nullptr ? g_oldest : older_->newer_) = this;
  g_newest = this;
  t_innermost = this;
}

ActiveCall::~ActiveCall() {
  if (is_in_forked_child()) end_forked_child(*this);
  const std::lock_guard lock(g_calls_mutex);
  (older_ == nullptr ? g_oldest : older_->newer_) = newer_;
  (newer_ == nullptr ? g_newest : newer_->older_) = older_;
  t_innermost = outer_;
}

bool ActiveCall::is_in_forked_child() const {
  return forks_ != g_forks.load(std::memory_order_relaxed);
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

ActiveCalls::ActiveCalls() { g_calls_mutex.lock(); }

ActiveCalls::ActiveCalls(Patience) {
  constexpr timespec kPause{0, 1'000'000};
  constexpr int kPauses = 100;
  for (int i = 0; !(locked_ = g_calls_mutex.try_lock()) && i < kPauses; ++i)
    ::nanosleep(&kPause, nullptr);
}

ActiveCalls::~ActiveCalls() {
  if (locked_) g_calls_mutex.unlock();
}

ActiveCall* ActiveCalls::oldest() const { return locked_ ? g_oldest : nullptr; }

std::vector<std::string> calls_under_way() {
  std::vector<std::string> texts;
  ActiveCalls().each([&](const ActiveCall& call) { texts.push_back(call.text(" for ")); });
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
