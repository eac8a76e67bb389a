// The differences between Tinker-compatible services. Plain data.
#pragma once

#include <string>
#include <string_view>

#include "plugins/policies/tinker/service_loss.hpp"

namespace krl::tinker {

struct ServiceKind {
  std::string name = "Tinker";  // for people
  Gradients gradients = Gradients::kSum;
  // A change of the model posted twice with the same seq_id is executed once.
  bool knows_seq_ids = true;
  // A sampler keeps the weights that it was made of while the model continues learning.
  bool keeps_samplers = true;
  // AdamParams::grad_clip_norm is heeded.
  bool clips_gradients = true;
};

// Returns the kind of service whose root ("/") answers with `body`. SkyRL identifies itself there;
// all others are taken for services like the hosted one.
ServiceKind service_kind(std::string_view body);

}  // namespace krl::tinker
