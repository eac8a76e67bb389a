#include "plugins/policies/libtorch/distributed/call_context.hpp"

#include <algorithm>

namespace krl::libtorch {

void merge_figures(Figures& into, const Figures& from) {
  for (const auto& [name, value] : from) {
    const auto [at, added] = into.emplace(name, value);
    if (!added)
      at->second = name == "logprob_diff_max" ? std::max(at->second, value) : at->second + value;
  }
}

CallContext::CallContext(const Context& outer, std::function<bool()> stop)
    : outer_(outer), stop_(std::move(stop)) {
  c_.struct_size = sizeof c_;
  c_.ctx = this;
  c_.deadline_ns = outer.deadline_ns();
  c_.cancelled = [](const krl_call* c) -> std::int32_t {
    return of(c).outer_.cancelled() || of(c).stop_() ? 1 : 0;
  };
  c_.progress = [](const krl_call* c, double done, krl_str what) {
    of(c).outer_.progress(done, view(what));
  };
  c_.log = [](const krl_call* c, std::int32_t level, krl_str line) {
    const krl_call* outer = of(c).outer_.c();
    outer->log(outer, level, line);
  };
  c_.fail = [](const krl_call* c, krl_status status, krl_str why) {
    const krl_call* outer = of(c).outer_.c();
    return outer->fail(outer, status, why);
  };
  c_.metric = [](const krl_call* c, krl_str name, double value) {
    const std::lock_guard lock(of(c).mutex_);
    of(c).figures_[std::string(view(name))] = value;
  };
}

Figures CallContext::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

}  // namespace krl::libtorch
