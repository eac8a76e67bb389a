#include "plugins/policies/libtorch/distributed/rank_liveness.hpp"

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

// A sign is "<its number> <why the rank cannot continue>", the latter mostly empty.
std::string failure_in(const std::string& sign) {
  const std::size_t space = sign.find(' ');
  return space == std::string::npos ? std::string() : sign.substr(space + 1);
}

std::string seconds(milliseconds time) {
  const auto tenths = (time.count() + 50) / 100;
  return std::to_string(tenths / 10) + (tenths % 10 != 0 ? "." + std::to_string(tenths % 10) : "") +
         " s";
}

}  // namespace

struct RankLiveness::State {
  State(std::unique_ptr<RankBoard> board_of_its_own, int own_rank,
        std::vector<std::string> names_of_ranks, milliseconds most, std::function<void()> then)
      : board(std::move(board_of_its_own)),
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

  // Returns rank 0's news for the others, as "<cancelled command> <verdict>".
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

  // Rank 0's, of its own thread.
  void read_sign(std::size_t of, std::string sign) {
    const auto now = Clock::now();
    if (sign == signs[of]) {
      if (now - last_sign[of] > timeout) {
        lose(names[of] + " is lost: no sign of life for " + seconds(timeout));
      }
      return;
    }
    signs[of] = std::move(sign);
    last_sign[of] = now;
    if (const std::string why = failure_in(signs[of]); !why.empty()) {
      lose(names[of] + " failed: " + why);
    }
  }

  std::string own_failure() {
    const std::lock_guard lock(mutex);
    return failure;
  }

  const std::unique_ptr<RankBoard> board;
  const int rank;
  const std::vector<std::string> names;
  const milliseconds timeout, interval;
  const std::function<void()> on_lost;

  std::mutex mutex;
  std::condition_variable changed;
  bool closing = false;
  int threads = 0;
  std::string verdict;
  std::string failure;  // failure of this rank itself
  std::uint64_t cancelled = 0;
  std::vector<Clock::time_point> last_sign;  // for each rank, as seen here
  std::vector<std::string> signs;            // rank 0's, of its own thread
};

RankLiveness::RankLiveness(std::unique_ptr<RankBoard> board, int rank,
                           std::vector<std::string> names, milliseconds timeout,
                           std::function<void()> on_lost)
    : state_(std::make_shared<State>(std::move(board), rank, std::move(names), timeout,
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

// Rank 0's board is in this process, so its calls do not block: a sign that is late stays late.
void RankLiveness::serve_as_first(const std::shared_ptr<State>& state) {
  try {
    for (std::size_t r = 1; r < state->names.size(); ++r) state->board->set(sign_key(r), "0");
    do {
      state->board->set(kNews, state->news());
      for (std::size_t r = 1; r < state->names.size(); ++r) {
        state->read_sign(r, state->board->get(sign_key(r)));
      }
    } while (state->next_round());
  } catch (const std::exception& error) {
    state->lose("communication between ranks failed: " + std::string(error.what()));
  }
}

void RankLiveness::serve_as_other(const std::shared_ptr<State>& state) {
  try {
    std::uint64_t sign = 0;
    do {
      const std::string failure = state->own_failure();
      state->board->set(sign_key(static_cast<std::size_t>(state->rank)),
                        std::to_string(++sign) + " " + failure);
      if (!failure.empty()) {
        state->lose(state->names[static_cast<std::size_t>(state->rank)] + " failed: " + failure);
      }
      state->read_news(state->board->get(kNews));
      const std::lock_guard lock(state->mutex);
      state->last_sign[0] = Clock::now();
    } while (state->next_round());
  } catch (const std::exception&) {
    state->lose(state->names[0] + " is lost: it has ended, or the connection to it broke");
  }
}

// A separate thread, as serve_as_other() hangs when rank 0 does not answer.
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
  if (state_->rank == 0) return state_->lose(state_->names[0] + " failed: " + why);
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
