// Evaluations that a client asks for again and again until they are over: POST /v1/evaluate?wait=S
// and GET /v1/evaluations/ID?wait=S. Thread-safe.
#pragma once

#include <memory>

#include "serve/judging/clients_own.hpp"
#include "serve/judging/judge_service.hpp"
#include "serve/routing/router.hpp"

namespace krl::serve {

class PolledEvaluations {
 public:
  // Memory for those that are remembered, the latest asked for.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  explicit PolledEvaluations(JudgeService& service) : service_(service) {}

  // Each answers with the result, or after the seconds of `wait` with {"id", "state", "position"}.
  void begin(const RoutedCall& call, const Json& body);
  void look(const RoutedCall& call);
  void cancel(const RoutedCall& call);

 private:
  struct Polled;
  using Pointer = std::shared_ptr<Polled>;

  Pointer find(const RoutedCall& call);
  void wait(const RoutedCall& call, const Pointer& polled);
  http::Answer state_of(const Polled& polled) const;

  JudgeService& service_;
  ClientsOwn<Pointer> kept_{kMostBytes};
};

}  // namespace krl::serve
