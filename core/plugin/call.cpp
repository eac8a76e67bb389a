#include "core/plugin/call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/log.hpp"
#include "core/plugin/text.hpp"

namespace krl {

Code code_of(krl_status status) {
  switch (status) {
    case KRL_CANCELLED:
    case KRL_INVALID_ARGUMENT:
    case KRL_DEADLINE_EXCEEDED:
    case KRL_NOT_FOUND:
    case KRL_RESOURCE_EXHAUSTED:
    case KRL_FAILED_PRECONDITION:
    case KRL_UNIMPLEMENTED:
    case KRL_UNAVAILABLE:
      return static_cast<Code>(status);
    default:
      return Code::kInternal;
  }
}

Call::Call(const Component& component, const CallScope& scope)
    : component_(component), scope_(scope), context_{sizeof(krl_task_context),
                                                     0,
                                                     this,
                                                     scope.deadline_ns(),
                                                     cancelled,
                                                     progress,
                                                     log,
                                                     fail,
                                                     metric} {}

Status Call::finish(krl_status status, std::string_view function) const {
  if (status == KRL_OK) return {};
  const std::lock_guard lock(mutex_);
  const std::string why =
      why_.empty() ? fmt::format("failed without a reason (status {})", status) : why_;
  return failure(code_of(status), fmt::format("{} '{}' ({}): {}", name_of(component_.kind),
                                              component_.id, function, why));
}

Error Call::threw(std::string_view function, std::string_view what) const {
  return broken(function, fmt::format("it threw an exception past C: {}", what));
}

Error Call::broken(std::string_view function, std::string_view why) const {
  return {Code::kInternal,
          with_plugin(fmt::format("{} '{}' broke its contract in {}(): {}",
                                  name_of(component_.kind), component_.id, function, why),
                      component_)};
}

int32_t Call::cancelled(const krl_task_context* c) { return of(c).scope_.cancelled() ? 1 : 0; }

void Call::progress(const krl_task_context* c, double done, krl_str what) {
  krl::log(Severity::kDebug,
           fmt::format("{}: {} {:.0f} %", of(c).component_.id, view(what), 100 * done));
}

void Call::log(const krl_task_context* c, int32_t level, krl_str message) {
  const auto severity = static_cast<Severity>(std::clamp(level, KRL_LOG_TRACE, KRL_LOG_ERROR));
  krl::log(severity, fmt::format("{}: {}", of(c).component_.id, view(message)));
}

krl_status Call::fail(const krl_task_context* c, krl_status status, krl_str why) {
  Call& call = of(c);
  const std::lock_guard lock(call.mutex_);
  call.why_ = view(why);
  return status == KRL_OK ? KRL_INTERNAL : status;
}

void Call::metric(const krl_task_context* c, krl_str name, double value) {
  Call& call = of(c);
  const std::lock_guard lock(call.mutex_);
  merge_metric(call.metrics_, std::string(view(name)), value);
}

}  // namespace krl
