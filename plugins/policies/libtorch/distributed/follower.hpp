// The other ranks' side of distributed_policy.hpp: they do what rank 0 asks until it is done.
#pragma once

#include "distributed/rank_group.hpp"
#include "distributed/rank_policy.hpp"

namespace krl::libtorch {

// Serves rank 0's commands until it closes. `local` is this rank's own policy, which has the group
// as its ShardExchange. Throws krl::Failure when a rank is lost. REQUIRES: a rank other than 0.
void follow(RankGroup& group, RankPolicy& local, const Context& context);

}  // namespace krl::libtorch
