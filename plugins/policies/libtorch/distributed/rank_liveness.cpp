#include "distributed/rank_liveness.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace krl::libtorch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kShortestInterval{50}, kLongestInterval{1000};
constexpr milliseconds kPatienceWithThreads{2000};
constexpr const char* kNews = "news";

std::string sign_key(std::size_t rank) { return "sign/" + std::to_string(rank); }

// A sign is "<its number> <why the rank cannot go on>", the latter mostly empty.
std::string failure_in(const std::vector<std::uint8_t>& sign) {
  const std::string text(sign.begin(), sign.end());
  const std::size_t space = text.find(' ');
  return space == std::string::npos ? std::string() : text.substr(space + 1);
}

std::string seconds(milliseconds time) {
  const auto tenths = (time.count() + 50) / 100;
  return std::to_string(tenths / 10) + (tenths % 10 != 0 ? "." + std::to_string(tenths % 10) : "") +
         " s";
}

}  // namespace

struct RankLiveness::State {
  State(c10::intrusive_ptr<c10d::Store> store_of_its_own, int own_rank,
        std::vector<std::string> names_of_ranks, milliseconds most, std::function<void()> then)
      : store(std::move(store_of_its_own)),
        rank(own_rank),
        names(std::move(names_of_ranks)),
        timeout(most),
        interval(std::clamp(most / 10, kShortestInterval, kLongestInterval)),
        on_lost(std::move(then)),
        last_sign(names.size(), Clock::now()),
        signs(names.size()) {}

  // Waits an interval; false when it is time to end.
  bool next_round() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, interval, [this] { return closing; });
    return !closing;
  }

  void lose(const std::string& text) {
    std::function<void()> call;
    {
      const std::lock_guard lock(mutex);
      if (closing || !verdict.empty()) return;
      verdict = text;
      call = on_lost;
    }
    changed.notify_all();
    if (call) call();
  }

  // Rank 0's: what the others should know, as "<cancelled command> <verdict>".
  std::string news() {
    const std::lock_guard lock(mutex);
    return std::to_string(cancelled) + " " + verdict;
  }

  void read_news(const std::string& text) {
    const std::size_t space = text.find(' ');
    const std::uint64_t command = std::stoull(text.substr(0, space));
    {
      const std::lock_guard lock(mutex);
      cancelled = std::max(cancelled, command);
    }
    if (const std::string lost = text.substr(space + 1); !lost.empty()) lose(lost);
  }

  std::string own_failure() {
    const std::lock_guard lock(mutex);
    return failure;
  }

  const c10::intrusive_ptr<c10d::Store> store;
  const int rank;
  const std::vector<std::string> names;
  const milliseconds timeout, interval;
  const std::function<void()> on_lost;

  std::mutex mutex;
  std::condition_variable changed;
  bool closing = false;
  int threads = 0;
  std::string verdict;
  std::string failure;  // of this rank itself
  std::uint64_t cancelled = 0;
  std::vector<Clock::time_point> last_sign;      // of each rank, as seen here
  std::vector<std::vector<std::uint8_t>> signs;  // rank 0's, of its own thread
};

RankLiveness::RankLiveness(c10::intrusive_ptr<c10d::Store> store, int rank,
                           std::vector<std::string> names, milliseconds timeout,
                           std::function<void()> on_lost)
    : state_(std::make_shared<State>(std::move(store), rank, std::move(names), timeout,
                                     std::move(on_lost))) {
  const auto start = [this](void (*serve)(const std::shared_ptr<State>&)) {
    ++state_->threads;
    std::thread([state = state_, serve] {
      serve(state);
      {
        const std::lock_guard lock(state->mutex);
        --state->threads;
      }
      state->changed.notify_all();
    }).detach();
  };
  const std::lock_guard lock(state_->mutex);
  if (rank == 0) {
    start(serve_as_first);
  } else {
    start(serve_as_other);
    start(watch_first);
  }
}

RankLiveness::~RankLiveness() {
  if (state_->rank == 0 && lost()) std::this_thread::sleep_for(3 * state_->interval);
  std::unique_lock lock(state_->mutex);
  state_->closing = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, kPatienceWithThreads, [this] { return state_->threads == 0; });
}

// Rank 0's store is in this process, so its calls do not block: what is late is late for good.
void RankLiveness::serve_as_first(const std::shared_ptr<State>& state) {
  std::vector<std::string> keys;
  for (std::size_t r = 1; r < state->names.size(); ++r) keys.push_back(sign_key(r));
  try {
    for (const std::string& key : keys) state->store->set(key, std::string("0"));
    do {
      state->store->set(kNews, state->news());
      const auto signs = state->store->multiGet(keys);
      const auto now = Clock::now();
      for (std::size_t r = 1; r < state->names.size(); ++r) {
        if (signs[r - 1] != state->signs[r]) {
          state->signs[r] = signs[r - 1];
          state->last_sign[r] = now;
          if (const std::string why = failure_in(signs[r - 1]); !why.empty()) {
            state->lose(state->names[r] + " failed: " + why);
          }
        } else if (now - state->last_sign[r] > state->timeout) {
          state->lose(state->names[r] + " is lost: no sign of life for " + seconds(state->timeout));
        }
      }
    } while (state->next_round());
  } catch (const std::exception& error) {
    state->lose("the store of the ranks failed: " + std::string(error.what()));
  }
}

void RankLiveness::serve_as_other(const std::shared_ptr<State>& state) {
  try {
    std::uint64_t sign = 0;
    do {
      const std::string failure = state->own_failure();
      state->store->set(sign_key(static_cast<std::size_t>(state->rank)),
                        std::to_string(++sign) + " " + failure);
      if (!failure.empty()) {
        state->lose(state->names[static_cast<std::size_t>(state->rank)] + " failed: " + failure);
      }
      state->read_news(state->store->get_to_str(kNews));
      const std::lock_guard lock(state->mutex);
      state->last_sign[0] = Clock::now();
    } while (state->next_round());
  } catch (const std::exception&) {
    state->lose(state->names[0] + " is lost: it has ended, or the connection to it broke");
  }
}

// A thread of its own, as serve_as_other() hangs when rank 0 does not answer.
void RankLiveness::watch_first(const std::shared_ptr<State>& state) {
  while (state->next_round()) {
    Clock::time_point last;
    {
      const std::lock_guard lock(state->mutex);
      last = state->last_sign[0];
    }
    if (Clock::now() - last > state->timeout) {
      state->lose(state->names[0] + " is lost: no answer for " + seconds(state->timeout));
    }
  }
}

bool RankLiveness::lost() const {
  const std::lock_guard lock(state_->mutex);
  return !state_->verdict.empty();
}

std::string RankLiveness::verdict() const {
  const std::lock_guard lock(state_->mutex);
  return state_->verdict;
}

std::string RankLiveness::wait_for_verdict() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, state_->timeout + 4 * state_->interval,
                           [this] { return !state_->verdict.empty(); });
  return state_->verdict;
}

void RankLiveness::report_lost(int rank, const std::string& how) {
  state_->lose(state_->names[static_cast<std::size_t>(rank)] + " is lost: " + how);
}

void RankLiveness::fail(const std::string& why) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->failure = why;
  }
  wait_for_verdict();
}

void RankLiveness::cancel(std::uint64_t command) {
  const std::lock_guard lock(state_->mutex);
  state_->cancelled = std::max(state_->cancelled, command);
}

std::uint64_t RankLiveness::cancelled() const {
  const std::lock_guard lock(state_->mutex);
  return state_->cancelled;
}

}  // namespace krl::libtorch
