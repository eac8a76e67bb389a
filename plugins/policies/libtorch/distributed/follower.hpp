// The other ranks' side of distributed_policy.hpp: a policy that executes the commands of rank 0
// until that is done, and does nothing by itself. One call: follow().
#pragma once

#include <memory>

#include "plugins/policies/libtorch/distributed/rank_group.hpp"
#include "plugins/policies/libtorch/engine/rank_policy.hpp"

namespace krl::libtorch {

class FollowerPolicy final : public TrainablePolicy {
 public:
  // `local` is this rank's own policy, which has the group as its ShardExchange. REQUIRES: a rank
  // other than 0.
  FollowerPolicy(std::unique_ptr<RankGroup> group, std::unique_ptr<RankPolicy> local)
      : group_(std::move(group)), local_(std::move(local)) {}

  // Returns when rank 0 closes. Throws krl::Failure when a rank is lost.
  void follow(const Context& context) override;

  // All other calls are KRL_FAILED_PRECONDITION.
  PolicyInfo describe() override { refuse(); }
  void sample(const Requests&, const SampleSink&, const Context&) override { refuse(); }
  void tokenize(const Messages&, std::string_view, const SampleSink&, const Context&) override {
    refuse();
  }
  void logprobs(double, const Examples&, const LogprobSink&, const Context&) override { refuse(); }
  void forward_backward(const Loss&, const Examples&, const Context&) override { refuse(); }
  void optimizer_step(const krl_optimizer&, const Context&) override { refuse(); }
  void save(std::string_view, const Context&) override { refuse(); }
  void load(std::string_view, const Context&) override { refuse(); }

 private:
  [[noreturn]] void refuse() const;

  std::unique_ptr<RankGroup> group_;
  std::unique_ptr<RankPolicy> local_;  // uses the group
};

}  // namespace krl::libtorch
