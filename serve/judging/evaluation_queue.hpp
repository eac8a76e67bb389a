// The line in front of a judge that many clients share.
//
// Clients are served in turn, each with its own requests in their order. Requests for the same
// thing are judged once, while they wait and as long as the result is kept. A request that nobody waits
// for any more is not judged, or stopped. Every order ends in exactly one outcome: a verdict, or an
// error that says why there is none. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/base/latest_used.hpp"
#include "serve/judging/alarms.hpp"
#include "serve/judging/best_kernels.hpp"
#include "serve/judging/judge_metrics.hpp"
#include "service/kernels/kernel_judges.hpp"

namespace krl::serve {

struct Order {
  using Clock = std::chrono::steady_clock;

  std::string client;  // for fairness and limits: a token's name, or an address
  TaskPointer task;
  std::string source;
  Contract contract = Contract::kDevice;
  std::uint32_t stages = EvaluateOptions().stages;
  std::uint64_t seed = 0;
  Clock::time_point deadline = Clock::time_point::max();  // time in the queue included
};

struct Outcome {
  Result<ToldPointer> told;
  bool kept = false;  // judged before, or for somebody else at the same time
  double queued_ms = 0, judged_ms = 0;
};

// Where the seeds of inputs come from. Requests with the same seed get the same inputs.
struct InputSeeds {
  // A secret seed that is drawn at each start, or given, is mixed with the requests' seeds, so that
  // clients cannot foresee their inputs; or the requests' seeds are used as they are.
  enum class Source { kRandom, kGiven, kClients } source = Source::kRandom;
  std::uint64_t secret = 0;

  std::uint64_t seed_of(const Order& order) const;
};

// "random", "given", "client"
const char* name_of(InputSeeds::Source source);

inline constexpr std::size_t kMostSource = std::size_t{256} << 10;  // bytes of a kernel

struct QueueOptions {
  std::size_t most_waiting = 10000;  // of all clients
  std::size_t most_waiting_of_client = 4000;
  std::size_t most_waiting_bytes = std::size_t{256} << 20;  // of their sources and definitions
  std::size_t kept_bytes = std::size_t{64} << 20;
  InputSeeds seeds;
};

class EvaluationQueue {
 public:
  using Done = std::function<void(Outcome)>;
  using Started = std::function<void()>;
  using Ticket = std::uint64_t;

  // `scope` bounds every call of the judges. All outlive the queue, but the alarms, which are
  // stopped before it ends.
  EvaluationQueue(service::KernelJudges& judges, CallScope scope, QueueOptions options,
                  JudgeMetrics& metrics, Alarms& alarms);
  // Ends what is under way: nobody hears of it.
  ~EvaluationQueue();
  EvaluationQueue(const EvaluationQueue&) = delete;
  EvaluationQueue& operator=(const EvaluationQueue&) = delete;

  // `done` is called once, on any thread, perhaps before this returns: with kResourceExhausted if
  // this client has too much waiting, kUnavailable if all have or the server is draining,
  // kDeadlineExceeded, kCancelled after cancel(), or the judge's own error. `started` is called
  // before, when judging begins; it may be empty.
  Ticket submit(Order order, Done done, Started started = {});

  // Nobody waits for this order any more. Its `done` is called with kCancelled, unless it is over.
  void cancel(Ticket ticket);

  // An error if an order of this client would be refused now, or would wait longer than `limit`.
  Status admits(const std::string& client, std::chrono::seconds limit) const;

  // The number of works before it; 0 if it is being judged, or over.
  std::size_t position(Ticket ticket) const;
  std::size_t waiting() const;
  std::size_t running() const;
  // Seconds after which a client that was refused may have more luck.
  std::chrono::seconds retry_after() const;

  // Refuses further orders, and returns once the others are over, or after `patience`: true if
  // they are.
  bool drain(std::chrono::milliseconds patience);

  BestKernels& best() { return best_; }

 private:
  using Clock = Order::Clock;

  // One who waits for a work.
  struct Waiter {
    Done done;
    Started started;
    Clock::time_point since;
    bool shares = false;  // came later than the first
    Alarms::Alarm deadline;
  };
  // What is judged once, for all who wait for it.
  struct Work {
    std::size_t bytes() const;

    std::string key;
    Order order;
    bool is_running = false;
    std::atomic<bool> stop = false;
    std::map<Ticket, Waiter> waiters;
  };
  using WorkPointer = std::shared_ptr<Work>;

  // REQUIRES: mutex_, as of those below up to next(). `shared`: the work, if it is there already.
  Status admit(const std::string& client, const Work* shared = nullptr) const;
  // The works that are judged before the `own`-th of a client: in each turn of the clients it gets
  // one of its own judged.
  std::size_t before(std::size_t own) const;
  double expected_seconds(std::size_t works) const;
  WorkPointer enqueue(const std::string& key, Order order);
  void leave_line(const WorkPointer& work);
  void wait_no_more(const Work& work);
  WorkPointer next();  // null if none waits
  void run();
  void judge(const WorkPointer& work);
  void finish(const WorkPointer& work, Result<ToldPointer> told, double judged_ms);
  // Takes the waiter out; a work without any is stopped and forgotten.
  Done remove(Ticket ticket);
  void end(Ticket ticket, Error why);

  service::KernelJudges& judges_;
  const CallScope scope_;
  const QueueOptions options_;
  JudgeMetrics& metrics_;
  Alarms& alarms_;
  LatestUsed<ToldPointer> kept_;
  BestKernels best_;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable work_came_, all_over_;
  bool ends_ = false, drains_ = false;
  Ticket last_ticket_ = 0;
  std::size_t waiting_ = 0, waiting_bytes_ = 0, running_ = 0;
  double mean_judged_ms_ = 100;
  std::unordered_map<std::string, WorkPointer> works_;  // keyed by content; waiting or running
  std::unordered_map<Ticket, WorkPointer> tickets_;
  std::unordered_map<std::string, std::deque<WorkPointer>>
      lines_;                      // keyed by client; none is empty
  std::deque<std::string> turns_;  // the clients of `lines_`
  std::vector<std::thread> threads_;
};

}  // namespace krl::serve
