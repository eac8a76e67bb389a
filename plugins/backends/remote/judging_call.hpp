// One evaluation by a fleet: asked at one member, at a second one if the first is late, and at others
// after a failure. It ends with exactly one result, which is the first. Runs on the loop's thread.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "plugins/backends/remote/fleet.hpp"

namespace krl::remote {

class JudgingCall {
 public:
  JudgingCall(boost::asio::io_context& io, Fleet& fleet, const Settings& settings,
              const Wanted& wanted, const Patience& patience)
      : io_(io), fleet_(fleet), settings_(settings), wanted_(wanted), patience_(patience) {}

  // Throws krl::Failure: the error of the infrastructure, or what the servers refuse.
  Judged judge(Yield yield);

 private:
  struct Try;
  struct Race;

  // Returns the first try that has a result, else the last one that failed.
  Try race(const MemberPointer& first, Yield yield);
  void begin(const std::shared_ptr<Race>& race, const MemberPointer& member);
  std::optional<Judged> result_of(Try& done);
  std::optional<Judged> verdict_of(Member& member, const http::Answer& answer,
                                   Clock::time_point since);

  boost::asio::io_context& io_;
  Fleet& fleet_;
  const Settings& settings_;
  const Wanted& wanted_;
  const Patience& patience_;
  Fleet::Excluded excluded_;  // members whose infrastructure failed this request
};

}  // namespace krl::remote
