#include "distributed/rank_policies.hpp"

#include <chrono>

#include "distributed/distributed_policy.hpp"
#include "distributed/follower.hpp"
#include "engine/local_policy.hpp"

namespace krl::libtorch {
namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

// What must be the same on all ranks.
std::string shared_options(const EngineOptions& options) {
  std::string text = config_to_json(options.model) + options.directory + "\n" + options.device +
                     "\n" + options.dtype;
  if (options.lora) {
    text +=
        "\nLoRA " + std::to_string(options.lora->rank) + " " + std::to_string(options.lora->alpha);
  }
  return text;
}

}  // namespace

std::unique_ptr<TrainablePolicy> create_policy(const EngineOptions& options, MakeDevice make_device,
                                               TensorBackend* tensors) {
  const RankEnvironment& ranks = options.ranks;
  if (ranks.alone()) return std::make_unique<LocalPolicy>(options, make_device);
  const RankTimeouts timeouts{milliseconds(options.ranks_start_timeout_s),
                              milliseconds(options.ranks_timeout_s)};
  auto group = std::make_unique<RankGroup>(ranks, timeouts, shared_options(options), tensors);
  EngineOptions own = options;
  own.gpu += ranks.local_rank;
  auto local = std::make_unique<LocalPolicy>(own, make_device, group.get());
  if (ranks.rank > 0) {
    return std::make_unique<FollowerPolicy>(std::move(group), std::move(local));
  }
  return std::make_unique<DistributedPolicy>(std::move(group), std::move(local));
}

}  // namespace krl::libtorch
