#include "core/plugin/instance.hpp"

#include <fmt/format.h>
#include <kernelrl/abi.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include <kernelrl/config_json.hpp>
#include "core/base/log.hpp"
#include "core/plugin/views.hpp"

namespace krl::core {
namespace {

constexpr std::string_view kName = "kernelrl";
constexpr std::string_view kVersion = KERNELRL_VERSION;

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr duration<double> kLongestPause{30};
constexpr milliseconds kCheckForStop{20};

// False if the user stopped the run before it was over.
bool wait(duration<double> pause, const CallScope& scope) {
  const auto end = CallScope::Clock::now() + pause;
  while (!scope.cancelled()) {
    const auto left = end - CallScope::Clock::now();
    if (left <= left.zero()) return true;
    std::this_thread::sleep_for(std::min<duration<double>>(left, kCheckForStop));
  }
  return false;
}

}  // namespace

const krl_host* host() {
  static const krl_host the_host{sizeof(krl_host),
                                 KRL_ABI_MINOR,
                                 nullptr,
                                 {kName.data(), kName.size()},
                                 {kVersion.data(), kVersion.size()}};
  return &the_host;
}

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
    : component_(component),
      scope_(scope),
      context_{
          sizeof(krl_call), 0, this, scope.deadline_ns(), cancelled, progress, log, fail, metric} {}

Status Call::finish(krl_status status, std::string_view function) const {
  if (status == KRL_OK) return {};
  const std::lock_guard lock(mutex_);
  const std::string why =
      why_.empty() ? fmt::format("failed without a reason (status {})", status) : why_;
  return failure(code_of(status), fmt::format("{} '{}' ({}): {}", name_of(component_.kind),
                                              component_.id, function, why));
}

Error Call::threw(std::string_view function, std::string_view what) const {
  return broken(function, fmt::format("it threw an exception across the C boundary: {}", what));
}

Error Call::broken(std::string_view function, std::string_view why) const {
  return {Code::kInternal,
          with_plugin(fmt::format("{} '{}' broke its contract in {}(): {}",
                                  name_of(component_.kind), component_.id, function, why),
                      component_)};
}

int32_t Call::cancelled(const krl_call* c) { return of(c).scope_.cancelled() ? 1 : 0; }

void Call::progress(const krl_call* c, double done, krl_str what) {
  krl::core::log(Severity::kDebug,
                 fmt::format("{}: {} {:.0f} %", of(c).component_.id, view(what), 100 * done));
}

void Call::log(const krl_call* c, int32_t level, krl_str message) {
  const auto severity = static_cast<Severity>(std::clamp(level, KRL_LOG_TRACE, KRL_LOG_ERROR));
  const std::string text = fmt::format("{}: {}", of(c).component_.id, view(message));
  const CallScope::Log* const own = of(c).scope_.log;
  own != nullptr ? (*own)(severity, text) : krl::core::log(severity, text);
}

krl_status Call::fail(const krl_call* c, krl_status status, krl_str why) {
  Call& call = of(c);
  const std::lock_guard lock(call.mutex_);
  call.why_ = view(why);
  return status == KRL_OK ? KRL_INTERNAL : status;
}

void Call::metric(const krl_call* c, krl_str name, double value) {
  Call& call = of(c);
  const std::lock_guard lock(call.mutex_);
  merge_metric(call.metrics_, std::string(view(name)), value);
}

Status Tries::after(const Error& error) {
  if (error.code != Code::kUnavailable) return failure(error);
  if (scope_.cancelled()) return failure(Code::kCancelled, "cancelled");
  if (given_up_ || repeated_ == scope_.retries.count) {
    given_up_ = true;
    return failure(error);
  }
  const double factor = std::exp2(repeated_++);
  const duration<double> pause = std::min(scope_.retries.pause * factor, kLongestPause);
  log(Severity::kWarning, fmt::format("{}; retried after {:.3g} s, {} of {} times", error.message,
                                      pause.count(), repeated_, scope_.retries.count));
  if (wait(pause, scope_)) return {};
  return failure(Code::kCancelled, "cancelled");
}

void Tries::succeeded() {
  given_up_ = false;
  repeated_ = 0;
}

Result<Instance> Instance::create(const Component& component, const nlohmann::json& table,
                                  const CallScope& scope) {
  const JsonConfig config(table);
  std::atomic<bool> given_up{false};
  return krl::core::patiently(Tries(scope, given_up), [&]() -> Result<Instance> {
    Call call(component, scope);
    void* self = nullptr;
    KRL_TRY(call.run("create",
                     [&] { return component.raw->create(host(), config.c(), call.c(), &self); }));
    if (self == nullptr) return failure(call.broken("create", "it gave no instance"));
    return Instance(component, scope, self);
  });
}

// No caller could receive an exception.
void Instance::Destroy::operator()(void* self) const {
  const auto thrown =
      enter(callee_of(*component), "destroy", [&] { component->raw->destroy(self); });
  if (!thrown) return;
  const CallScope scope;
  log(Severity::kError, Call(*component, scope).threw("destroy", *thrown).message);
}

}  // namespace krl::core
