// The core's values in the boundary's terms.
#pragma once

#include <fmt/format.h>
#include <kernelrl/growth.hpp>
#include <kernelrl/values.hpp>

#include <string>
#include <utility>

#include "core/task/task.hpp"

namespace krl::core {

// Borrows from the task.
krl_task view_of(const Task& task);

// A component's description of itself in a call: pushed exactly once, copied while the call runs.
//
// `Sink`: the C sink, whose `info` takes an `Info`. `Kept`: the copy of one, texts included.
template <class Sink, class Info, class Kept>
class SelfDescription {
 public:
  explicit SelfDescription(Kept (*convert)(const Info&)) : convert_(convert) {
    sink_.struct_size = sizeof sink_;
    sink_.ctx = this;
    sink_.info = push;
  }
  SelfDescription(const SelfDescription&) = delete;

  const Sink* sink() const { return &sink_; }
  // Empty if the component has pushed everything that is required.
  std::string complaint() const {
    if (!complaint_.empty() || pushes_ == 1) return complaint_;
    return fmt::format("it pushed its description {} times", pushes_);
  }
  const Info& info() const { return info_; }  // its texts are gone
  Kept take() { return std::move(kept_); }

 private:
  static krl_status push(const Sink* sink, const Info* info) {
    auto* self = static_cast<SelfDescription*>(sink->ctx);
    ++self->pushes_;
    if (const std::string fault = fault_in(info); !fault.empty()) {
      self->complaint_ = "it pushed a description " + fault;
      return KRL_INVALID_ARGUMENT;
    }
    self->info_ = whole(*info);
    self->kept_ = self->convert_(self->info_);
    return KRL_OK;
  }

  Kept (*convert_)(const Info&);
  Sink sink_{};
  Info info_{};
  Kept kept_;
  int pushes_ = 0;
  std::string complaint_;
};

}  // namespace krl::core
