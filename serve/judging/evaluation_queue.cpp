#include "serve/judging/evaluation_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/hash.hpp"
#include "core/base/log.hpp"

namespace krl::serve {
namespace {

// How many requests may wait for each work that may.
constexpr std::size_t kMostShares = 4;

double ms_between(Order::Clock::time_point from, Order::Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

std::string key_of(const Order& order) {
  return sha256_hex(fmt::format("{}\n{} {} {}\n{}", order.task->digest, order.stages, order.seed,
                                name_of(order.contract), order.source));
}

}  // namespace

std::uint64_t InputSeeds::seed_of(const Order& order) const {
  if (source == Source::kClients) return order.seed;
  return seed_for(secret, "evaluate", order.task->task.id, order.seed);
}

const char* name_of(InputSeeds::Source source) {
  constexpr const char* kNames[] = {"random", "given", "client"};
  return kNames[static_cast<int>(source)];
}

EvaluationQueue::EvaluationQueue(service::KernelJudges& judges, CallScope scope,
                                 QueueOptions options, JudgeMetrics& metrics, Alarms& alarms)
    : judges_(judges),
      scope_(scope),
      options_(options),
      metrics_(metrics),
      alarms_(alarms),
      kept_(options.kept_bytes) {
  for (std::size_t i = 0; i < judges.at_a_time(); ++i) threads_.emplace_back([this] { run(); });
}

EvaluationQueue::~EvaluationQueue() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = drains_ = true;
    for (const auto& [key, work] : works_) work->stop = true;
  }
  work_came_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// ---- orders come and go -------------------------------------------------------------------------

std::size_t EvaluationQueue::Work::bytes() const {
  const ServedTask& task = *order.task;
  return order.source.size() + (task.is_own ? 0 : task.task.definition_json.size());
}

Status EvaluationQueue::admit(const std::string& client, const Work* shared) const {
  const Error full{Code::kUnavailable, "the server has too many requests waiting; try again later"};
  if (tickets_.size() >= kMostShares * options_.most_waiting) return tl::unexpected(full);
  if (shared != nullptr && shared->waiters.size() < options_.most_waiting_of_client) return {};
  if (shared != nullptr)
    return failure(Code::kResourceExhausted, "too many requests wait for this very kernel");
  if (drains_) return failure(Code::kUnavailable, "the server is stopping; ask another one");
  if (waiting_ >= options_.most_waiting || waiting_bytes_ >= options_.most_waiting_bytes)
    return tl::unexpected(full);
  const auto line = lines_.find(client);
  if (line != lines_.end() && line->second.size() >= options_.most_waiting_of_client)
    return failure(Code::kResourceExhausted,
                   "too many of your requests are waiting; try again when some are answered");
  return {};
}

Status EvaluationQueue::admits(const std::string& client, std::chrono::seconds limit) const {
  const std::lock_guard lock(mutex_);
  KRL_TRY(admit(client));
  const auto line = lines_.find(client);
  const std::size_t works = before(line == lines_.end() ? 0 : line->second.size());
  if (expected_seconds(works) <= static_cast<double>(limit.count())) return {};
  return failure(Code::kUnavailable,
                 fmt::format("{} kernels would be judged first; try again later", works));
}

EvaluationQueue::Ticket EvaluationQueue::submit(Order order, Done done, Started started) {
  const auto refuse = [&](Error why) {
    metrics_.count_refused();
    done({failure(std::move(why))});
    return Ticket{0};
  };
  if (order.source.size() > kMostSource)
    return refuse({Code::kInvalidArgument, fmt::format("a source may have {} bytes", kMostSource)});
  const std::string key = key_of(order);
  if (ToldPointer told = kept_.find(key)) {
    metrics_.count_kept();
    done({std::move(told), true});
    return 0;
  }
  std::unique_lock lock(mutex_);
  const auto found = works_.find(key);
  const WorkPointer shared = found == works_.end() ? nullptr : found->second;
  if (const Status admitted = admit(order.client, shared.get()); !admitted) {
    lock.unlock();
    return refuse(admitted.error());
  }
  const Ticket ticket = ++last_ticket_;
  Waiter waiter{std::move(done), started, Clock::now(), shared != nullptr, {}};
  if (order.deadline != Clock::time_point::max()) {
    waiter.deadline = alarms_.set(order.deadline, [this, ticket] {
      end(ticket,
          {Code::kDeadlineExceeded, "the deadline of the request passed before its verdict"});
    });
  }
  const bool begins = shared && shared->is_running && started;
  const WorkPointer work = shared ? shared : enqueue(key, std::move(order));
  work->waiters.emplace(ticket, std::move(waiter));
  tickets_[ticket] = work;
  lock.unlock();
  if (begins) started();
  return ticket;
}

EvaluationQueue::WorkPointer EvaluationQueue::enqueue(const std::string& key, Order order) {
  const auto work = std::make_shared<Work>();
  work->key = key;
  work->order = std::move(order);
  works_[key] = work;
  auto& line = lines_[work->order.client];
  if (line.empty()) turns_.push_back(work->order.client);
  line.push_back(work);
  waiting_bytes_ += work->bytes();
  metrics_.set_waiting(++waiting_);
  work_came_.notify_one();
  return work;
}

void EvaluationQueue::wait_no_more(const Work& work) {
  waiting_bytes_ -= work.bytes();
  metrics_.set_waiting(--waiting_);
}

EvaluationQueue::Done EvaluationQueue::remove(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const auto found = tickets_.find(ticket);
  if (found == tickets_.end()) return {};
  const WorkPointer work = found->second;
  tickets_.erase(found);
  const auto waiter = work->waiters.find(ticket);
  Done done = std::move(waiter->second.done);
  work->waiters.erase(waiter);
  if (!work->waiters.empty()) return done;
  // A later order of the same kind begins anew.
  work->stop = true;
  works_.erase(work->key);
  if (!work->is_running) leave_line(work);
  all_over_.notify_all();
  return done;
}

void EvaluationQueue::leave_line(const WorkPointer& work) {
  wait_no_more(*work);
  const auto line = lines_.find(work->order.client);
  std::erase(line->second, work);
  if (!line->second.empty()) return;
  std::erase(turns_, line->first);
  lines_.erase(line);
}

void EvaluationQueue::end(Ticket ticket, Error why) {
  if (const Done done = remove(ticket)) done({failure(std::move(why))});
}

void EvaluationQueue::cancel(Ticket ticket) {
  const Done done = remove(ticket);
  if (!done) return;
  metrics_.count_cancelled();
  done({failure(Code::kCancelled, "cancelled")});
}

// ---- judging ------------------------------------------------------------------------------------

EvaluationQueue::WorkPointer EvaluationQueue::next() {
  if (turns_.empty()) return nullptr;
  const std::string client = std::move(turns_.front());
  turns_.pop_front();
  auto& line = lines_[client];
  const WorkPointer work = std::move(line.front());
  line.pop_front();
  if (line.empty()) {
    lines_.erase(client);
  } else {
    turns_.push_back(client);
  }
  return work;
}

void EvaluationQueue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    WorkPointer work;
    work_came_.wait(lock, [&] { return ends_ || (work = next()) != nullptr; });
    if (ends_) return;
    work->is_running = true;
    wait_no_more(*work);
    ++running_;
    std::vector<Started> started;
    for (const auto& [ticket, waiter] : work->waiters) {
      if (waiter.started) started.push_back(waiter.started);
    }
    lock.unlock();
    for (const Started& tell : started) tell();
    started.clear();  // they keep calls, which may have ended before the judge does
    judge(work);
    work = nullptr;
    lock.lock();
    --running_;
  }
}

void EvaluationQueue::judge(const WorkPointer& work) {
  const Order& order = work->order;
  CallScope scope = scope_;
  scope.stop = &work->stop;
  EvaluateOptions options = judges_.options();
  options.stages = order.stages;
  options.seed = options_.seeds.seed_of(order);
  options.contract = order.contract;
  options.scope = &scope;
  const Clock::time_point begin = Clock::now();
  auto judged = judges_.judge(order.task->task, order.source, options);
  const double judged_ms = ms_between(begin, Clock::now());
  Result<ToldPointer> told = failure(Code::kInternal, "");
  if (!judged) {
    told = failure(std::move(judged).error());
  } else if (judged->evaluation.infra_error()) {
    told = failure(Code::kInternal, judged->evaluation.why);
  } else {
    metrics_.count_verdict(judged->evaluation.verdict, judged_ms / 1000);
    told = tell(*order.task, order.source, std::move(*judged));
    kept_.keep(work->key, *told, bytes_of(**told));
    if ((order.stages & KRL_STAGE_CHECK) != 0)
      best_.consider(order.client, order.task, order.source, *told);
  }
  if (!told && !work->stop) metrics_.count_failure();
  finish(work, std::move(told), judged_ms);
}

void EvaluationQueue::finish(const WorkPointer& work, Result<ToldPointer> told, double judged_ms) {
  std::map<Ticket, Waiter> waiters;
  {
    const std::lock_guard lock(mutex_);
    waiters.swap(work->waiters);
    for (const auto& [ticket, waiter] : waiters) tickets_.erase(ticket);
    if (!waiters.empty()) works_.erase(work->key);  // else it is forgotten already
    if (told) mean_judged_ms_ += 0.1 * (judged_ms - mean_judged_ms_);
    all_over_.notify_all();
  }
  const Clock::time_point now = Clock::now();
  for (auto& [ticket, waiter] : waiters) {
    const double queued_ms = std::max(0.0, ms_between(waiter.since, now) - judged_ms);
    metrics_.observe_queued(queued_ms / 1000);
    try {
      waiter.done({told, waiter.shares, queued_ms, judged_ms});
    } catch (const std::exception& error) {
      log(Severity::kError, std::string("an outcome was not told: ") + error.what());
    }
  }
}

// ---- what others may know -----------------------------------------------------------------------

std::size_t EvaluationQueue::position(Ticket ticket) const {
  const std::lock_guard lock(mutex_);
  const auto found = tickets_.find(ticket);
  if (found == tickets_.end() || found->second->is_running) return 0;
  const auto line = lines_.find(found->second->order.client);
  if (line == lines_.end()) return 0;
  const auto own = static_cast<std::size_t>(std::ranges::find(line->second, found->second) -
                                            line->second.begin());
  return before(own);
}

std::size_t EvaluationQueue::before(std::size_t own) const {
  std::size_t before = 0;
  for (const auto& [client, works] : lines_) before += std::min(works.size(), own + 1);
  return before;
}

double EvaluationQueue::expected_seconds(std::size_t works) const {
  return static_cast<double>(works) * mean_judged_ms_ / 1000 / static_cast<double>(threads_.size());
}

std::size_t EvaluationQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

std::size_t EvaluationQueue::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

std::chrono::seconds EvaluationQueue::retry_after() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::seconds(std::clamp<long>(std::lround(expected_seconds(waiting_)), 1, 60));
}

bool EvaluationQueue::drain(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  drains_ = true;
  return all_over_.wait_for(lock, patience, [this] { return works_.empty(); });
}

}  // namespace krl::serve
