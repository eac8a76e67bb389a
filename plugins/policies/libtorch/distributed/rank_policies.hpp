// The policy of a process: alone, or as one of several ranks.
#pragma once

#include <memory>

#include "plugins/policies/libtorch/engine.hpp"
#include "plugins/policies/libtorch/engine/device.hpp"

namespace krl::libtorch {

class TensorBackend;

// The local policy, where options.ranks.alone(). Else waits for the other ranks and gives, on rank
// 0, a policy that does its work on all of them, on the others one that follows. `tensors` as
// RankGroup wants it. Throws krl::Failure as RankGroup and LocalPolicy do.
std::unique_ptr<TrainablePolicy> create_policy(const EngineOptions& options, MakeDevice make_device,
                                               TensorBackend* tensors = nullptr);

}  // namespace krl::libtorch
