#include "plugins/policies/libtorch/distributed/rank_policies.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "plugins/policies/libtorch/distributed/distributed_policy.hpp"
#include "plugins/policies/libtorch/distributed/follower.hpp"
#include "plugins/policies/libtorch/engine/local_policy.hpp"

namespace krl::libtorch {
namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

using Json = nlohmann::ordered_json;

Json lora_options(const LoraOptions& options) {
  const auto& [rank, alpha, dropout, targets, seed] = options;
  return {{"lora.rank", rank},
          {"lora.alpha", alpha},
          {"lora.dropout", dropout},
          {"lora.targets", targets},
          {"lora.seed", seed}};
}

Json critic_options(const CriticOptions& options) {
  const auto& [detach, lr] = options;
  return {{"critic", true}, {"critic_detach", detach}, {"critic_lr", lr}};
}

// Lists the options that must be the same on all ranks, a line each: everything but the rank's
// number and its threads. An option that is new does not compile before it is here.
std::string shared_options(const EngineOptions& options) {
  const auto& [model, directory, chat_template, thinking, date, device, gpu, dtype, threads, slots,
               micro_batch_tokens, deterministic, recompute, lora, critic, ranks, start_timeout_s,
               timeout_s] = options;
  Json lines = {{"model.directory", directory},
                {"model.chat_template", chat_template},
                {"model.thinking", thinking},
                {"model.date", date},
                {"device", device},
                {"dtype", dtype},
                {"slots", slots},
                {"micro_batch_tokens", micro_batch_tokens},
                {"deterministic", deterministic},
                {"recompute", recompute},
                {"ranks.start_timeout_s", start_timeout_s},
                {"ranks.timeout_s", timeout_s}};
  lines.update(lora ? lora_options(*lora) : Json{{"lora.rank", 0}});
  lines.update(critic ? critic_options(*critic) : Json{{"critic", false}});
  const Json config = Json::parse(config_to_json(model));
  for (const auto& [key, value] : config.items()) lines["model." + key] = value;
  std::string text;
  for (const auto& [name, value] : lines.items()) {
    text += name + " = " + value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
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
