// The policy of a process: alone, or as one of several ranks.
#pragma once

#include <memory>

#include "plugins/policies/libtorch/engine.hpp"
#include "plugins/policies/libtorch/engine/device.hpp"

namespace krl::libtorch {

class TensorBackend;

// Creates the local policy, if options.ranks.alone(). Otherwise waits for the other ranks and
// returns, on rank 0, a policy that does its work on all of them, on the others one that follows.
// `tensors`: passed to RankGroup. Throws krl::Failure as RankGroup and LocalPolicy do.
std::unique_ptr<TrainablePolicy> create_policy(const EngineOptions& options, MakeDevice make_device,
                                               TensorBackend* tensors = nullptr);

}  // namespace krl::libtorch
