// Evaluations that a client asks for again and again until they are over: POST /v1/evaluate?wait=S
// and GET /v1/evaluations/ID?wait=S. Thread-safe.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "serve/judging/judge_service.hpp"
#include "serve/routing/router.hpp"

namespace krl::serve {

class PolledEvaluations {
 public:
  // The number that is remembered, and for how long.
  static constexpr std::size_t kMost = 10000;
  static constexpr std::chrono::minutes kKept{10};

  explicit PolledEvaluations(JudgeService& service) : service_(service) {}

  // Each answers with the result, or after the seconds of `wait` with {"id", "state", "position"}.
  void begin(const RoutedCall& call, const Json& body);
  void look(const RoutedCall& call);
  void cancel(const RoutedCall& call);

 private:
  struct Polled;
  using Pointer = std::shared_ptr<Polled>;

  // Gives the call if it still waits.
  static std::optional<RoutedCall> take_waiting(Polled& polled, const http::ServerCall* call);
  Pointer find(const RoutedCall& call);
  void wait(const RoutedCall& call, const Pointer& polled);
  void forget_old();
  http::Answer state_of(Polled& polled) const;

  JudgeService& service_;
  std::mutex mutex_;           // guards the members below
  std::list<Pointer> latest_;  // the oldest first
  std::unordered_map<std::string, Pointer> by_id_;
};

}  // namespace krl::serve
