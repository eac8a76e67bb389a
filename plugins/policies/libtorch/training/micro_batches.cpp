#include "plugins/policies/libtorch/training/micro_batches.hpp"

#include <algorithm>
#include <numeric>

namespace krl::libtorch {

std::vector<Share> share_out(std::span<const std::int64_t> lengths, int workers,
                             std::int64_t tokens) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });

  const auto count = static_cast<std::size_t>(workers);
  std::vector<Share> shares(count);
  std::vector<std::int64_t> load(count, 0);
  std::vector<std::int64_t> last_batch(count, 0);  // tokens in the worker's newest micro-batch
  for (const std::size_t example : order) {
    const auto worker =
        static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    Share& share = shares[worker];
    if (share.empty() || last_batch[worker] + lengths[example] > tokens) {
      share.emplace_back();
      last_batch[worker] = 0;
    }
    share.back().push_back(example);
    last_batch[worker] += lengths[example];
    load[worker] += lengths[example];
  }
  return shares;
}

}  // namespace krl::libtorch
