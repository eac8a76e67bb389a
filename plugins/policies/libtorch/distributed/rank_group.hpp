// The ranks of a training, connected by c10d: messages between rank 0 and the others, and sums of
// flat arrays over all.
//
// Every wait ends when a rank is lost (rank_liveness.hpp), with a krl::Failure (KRL_INTERNAL) that
// names it; the group is then unusable, and operations that hang in it are abandoned until the
// process ends. Messages: one thread per other rank may be inside send() and receive(). The rest is
// for one thread at a time, in the same order on all ranks.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "plugins/policies/libtorch/distributed/rank_environment.hpp"
#include "plugins/policies/libtorch/training/shard_exchange.hpp"

namespace krl::libtorch {

struct RankTimeouts {
  std::chrono::milliseconds start{300'000};  // for all ranks to come
  std::chrono::milliseconds lost{60'000};    // after the last sign of life of a rank
};

class TensorBackend;  // tensor_backend.hpp

class RankGroup final : public ShardExchange {
 public:
  // Waits for all ranks. `options` has lines that must be the same on all of them. `tensors` makes
  // the way of the sums and gathers of a step; null: Gloo's, for tensors on the CPU. Throws
  // krl::Failure: KRL_FAILED_PRECONDITION that names a rank that did not come, or one with other
  // options and the first of them.
  RankGroup(const RankEnvironment& environment, const RankTimeouts& timeouts,
            const std::string& options, TensorBackend* tensors = nullptr);
  ~RankGroup() override;
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  int rank() const { return environment_.rank; }
  int size() const { return environment_.size; }
  // "rank 1 (host gpu03, process 4711)".
  const std::string& name(int rank) const;

  void send(int to, std::string_view message);
  std::string receive(int from);

  Slice slice(std::int64_t total) const override;
  void reduce_scatter(const at::Tensor& flat) override;
  void all_gather(const at::Tensor& flat) override;
  double sum(double value) override;
  at::Tensor gather_on_first(const at::Tensor& slice, std::int64_t total) override;

  bool lost() const;
  void throw_if_lost() const;
  // This rank cannot continue; the group is lost, with its name and `why`.
  void fail(const std::string& why);
  // Rank 0: the others are to end command number `command` early; they see it within a second.
  void cancel(std::uint64_t command);
  std::uint64_t cancelled() const;

 private:
  struct Connections;

  RankEnvironment environment_;
  std::unique_ptr<Connections> connections_;
};

}  // namespace krl::libtorch
