// The context of a call that is one rank's part of a larger one: it keeps metrics, so that they can
// be combined with those of other ranks, and can be cancelled not only by the host. On one thread's
// stack; callbacks may come on any thread.
#pragma once

#include <functional>
#include <kernelrl/component.hpp>
#include <map>
#include <mutex>
#include <string>

namespace krl::libtorch {

using Figures = std::map<std::string, double>;

// Adds the figures of another rank, in the way in which several calls of a step add up (abi.h).
void merge_figures(Figures& into, const Figures& from);

class CallContext {
 public:
  // Log lines and progress go to `outer`. `stop`: whether the call is to end early, in addition to
  // outer.cancelled(); called on any thread.
  CallContext(const Context& outer, std::function<bool()> stop);
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  Context context() const { return Context(&c_); }
  Figures figures() const;

 private:
  static CallContext& of(const krl_call* c) { return *static_cast<CallContext*>(c->ctx); }

  const Context outer_;
  const std::function<bool()> stop_;
  mutable std::mutex mutex_;
  Figures figures_;
  krl_call c_{};
};

}  // namespace krl::libtorch
