// A host and the context of a call, for tests: records what the plugin reports.
#pragma once

#include <kernelrl/values.hpp>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace krl::testing {

// The host that create() gets: no extensions.
inline const krl_host* host() {
  static const krl_host h{
      sizeof(krl_host), KRL_ABI_MINOR,
      nullptr,          to_c("kernelrl-testing"),
      to_c("0"),        [](const krl_host*, krl_str) -> const void* { return nullptr; }};
  return &h;
}

// A krl_task_context and what came in through it. Not to be moved while a call uses it; a plugin
// may call it from any thread, a test reads it when the call has returned.
class Call {
 public:
  Call() {
    context_ = {sizeof(krl_task_context),
                0,
                this,
                0,
                [](const krl_task_context* c) -> std::int32_t { return of(c).cancelled; },
                [](const krl_task_context*, double, krl_str) {},
                [](const krl_task_context* c, std::int32_t level, krl_str message) {
                  const std::lock_guard lock(of(c).mutex_);
                  of(c).messages.emplace_back(level, view(message));
                },
                [](const krl_task_context* c, krl_status status, krl_str why) {
                  const std::lock_guard lock(of(c).mutex_);
                  of(c).why = view(why);
                  return status;
                },
                [](const krl_task_context* c, krl_str name, double value) {
                  const std::lock_guard lock(of(c).mutex_);
                  of(c).metrics[std::string(view(name))] = value;
                }};
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const krl_task_context* context() const { return &context_; }

  // Throws what a failed call said.
  void require(krl_status status) const {
    if (status == KRL_OK) return;
    throw Failure(status, why.empty() ? "failed without a reason" : why);
  }

  bool cancelled = false;                                      // what the plugin sees
  std::vector<std::pair<std::int32_t, std::string>> messages;  // level, text
  std::map<std::string, double> metrics;                       // the last value of each
  std::string why;                                             // of the last failure

 private:
  static Call& of(const krl_task_context* c) { return *static_cast<Call*>(c->ctx); }

  std::mutex mutex_;
  krl_task_context context_{};
};

}  // namespace krl::testing
