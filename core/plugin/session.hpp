// The components of a front end: how they are called, and who hears of calls that take long.
// One at a time; created and destroyed on the main thread.
#pragma once

#include <optional>
#include <utility>

#include "core/plugin/active_call.hpp"
#include "core/plugin/components.hpp"

namespace krl::core {

class Session {
 public:
  // `registry` outlives the session. `notice` hears of slow calls, on a thread of the session's,
  // until it ends; null: nobody does. `scope` bounds all calls that have none of their own.
  explicit Session(const Registry& registry, CallWatch::Notice notice = {}, CallScope scope = {})
      : scope_(scope), components_(registry, scope_) {
    if (notice) watch_.emplace(std::move(notice));
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const CallScope& scope() const { return scope_; }
  // May be moved from: they are called under the session's scope all the same.
  Components& components() { return components_; }

 private:
  const CallScope scope_;
  std::optional<CallWatch> watch_;  // also sees how the components end
  Components components_;
};

}  // namespace krl::core
