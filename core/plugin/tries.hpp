// When a call into a plugin is made again. KRL_UNAVAILABLE means the same for every kind of
// component: trouble of the machinery, which may pass. So a call that changes nothing, or whose
// repetition comes to the same, is made again after a pause; what is lost if that does not help is
// for the caller to say.
#pragma once

#include <atomic>

#include "core/base/result.hpp"
#include "core/plugin/call.hpp"

namespace krl {

// The tries of one call; one thread.
class Tries {
 public:
  // `given_up` belongs to the component's instance: set once a call has failed for good, until one
  // succeeds. In between each call has one try, so that a component that is gone costs its pauses
  // once, and not for every call.
  Tries(const CallScope& scope, std::atomic<bool>& given_up) : scope_(scope), given_up_(given_up) {}

  // After a failed try: waits, and gives OK if the call is to be made again. Otherwise what the
  // call has come to: the error itself, or kCancelled if the user stopped the run meanwhile.
  Status after(const Error& error);
  // After a try that did all of its work, or some: what fails from here on is counted anew.
  void succeeded();

 private:
  const CallScope& scope_;
  std::atomic<bool>& given_up_;
  int repeated_ = 0;
};

// Calls `attempt()`, which gives a Status or a Result, as often as `tries` allow.
template <class Attempt>
auto patiently(Tries tries, const Attempt& attempt) -> decltype(attempt()) {
  while (true) {
    auto result = attempt();
    if (result) {
      tries.succeeded();
      return result;
    }
    if (const Status again = tries.after(result.error()); !again) return failure(again.error());
  }
}

}  // namespace krl
