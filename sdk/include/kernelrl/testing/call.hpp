// A host and the context of a call, for tests: records what the plugin reports.
#pragma once

#include <kernelrl/values.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace krl::testing {

// The host passed to create().
inline const krl_host* host() {
  static const krl_host h{sizeof(krl_host), KRL_ABI_MINOR, nullptr, to_c("kernelrl-testing"),
                          to_c("0")};
  return &h;
}

// A krl_call that records what the plugin reports through it. Must not move while a call
// uses it; a plugin may call it from any thread, a test reads it once the call has returned.
class Call {
 public:
  Call() {
    context_ = {sizeof(krl_call),
                0,
                this,
                0,
                [](const krl_call* c) -> std::int32_t { return of(c).cancelled; },
                [](const krl_call*, double, krl_str) {},
                [](const krl_call* c, std::int32_t level, krl_str message) {
                  const std::lock_guard lock(of(c).mutex_);
                  of(c).messages.emplace_back(level, view(message));
                },
                [](const krl_call* c, krl_status status, krl_str why) {
                  const std::lock_guard lock(of(c).mutex_);
                  of(c).why = view(why);
                  return status;
                },
                [](const krl_call* c, krl_str name, double value) {
                  const std::lock_guard lock(of(c).mutex_);
                  of(c).metrics[std::string(view(name))] = value;
                }};
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const krl_call* context() const { return &context_; }

  // Throws the error of a failed call.
  void require(krl_status status) const {
    if (status == KRL_OK) return;
    throw Failure(status, why.empty() ? "failed without a reason" : why);
  }

  std::atomic<bool> cancelled = false;  // the plugin's view; set by any thread
  std::vector<std::pair<std::int32_t, std::string>> messages;  // level, text
  std::map<std::string, double> metrics;                       // the last value of each
  std::string why;                                             // reason for the last failure

 private:
  static Call& of(const krl_call* c) { return *static_cast<Call*>(c->ctx); }

  std::mutex mutex_;
  krl_call context_{};
};

}  // namespace krl::testing
