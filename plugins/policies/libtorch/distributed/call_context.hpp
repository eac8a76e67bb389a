// The context of a call that is one rank's part of a larger one: figures are kept, so that they can
// be put together with those of other ranks, and it can be cancelled by more than the host.
// Lives on one thread's stack; its callbacks may come on any thread.
#pragma once

#include <functional>
#include <kernelrl/component.hpp>
#include <map>
#include <mutex>
#include <string>

namespace krl::libtorch {

using Figures = std::map<std::string, double>;

// Adds the figures of another rank, as those of several calls of a step add up (abi.h).
void merge_figures(Figures& into, const Figures& from);

class CallContext {
 public:
  // Log lines and progress go to `outer`. `stop`: whether the call is to end early, beside
  // outer.cancelled(); called on any thread.
  CallContext(const Context& outer, std::function<bool()> stop);
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  Context context() const { return Context(&c_); }
  Figures figures() const;

 private:
  static CallContext& of(const krl_task_context* c) { return *static_cast<CallContext*>(c->ctx); }

  const Context outer_;
  const std::function<bool()> stop_;
  mutable std::mutex mutex_;
  Figures figures_;
  krl_task_context c_{};
};

}  // namespace krl::libtorch
