#include "plugins/policies/libtorch/distributed/sharing.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "plugins/policies/libtorch/training/micro_batches.hpp"

namespace krl::libtorch {
namespace {

// Returns the requests grouped by prompt, prompts in the order in which they come.
std::vector<std::size_t> by_prompt(const Requests& requests) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> prompt(requests.size()), order(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    prompt[i] = numbers.emplace(prompt_key(requests[i]), numbers.size()).first->second;
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return prompt[a] < prompt[b]; });
  return order;
}

}  // namespace

std::string prompt_key(const Request& request) {
  if (const auto tokens = request.prompt_tokens(); !tokens.empty()) {
    const auto* bytes = reinterpret_cast<const char*>(tokens.data());
    return "tokens:" + std::string(bytes, tokens.size() * sizeof tokens[0]);
  }
  std::string key;
  for (const Message message : request.messages()) {
    key += std::to_string(message.role()) + ":" + std::to_string(message.text().size()) + ":";
    key += message.text();
  }
  return key;
}

std::vector<RankShare> share_requests(const Requests& requests, int ranks) {
  std::uint64_t total = 0;
  for (const Request request : requests) total += request.n_samples();
  std::vector<RankShare> shares(static_cast<std::size_t>(ranks));
  const auto count = static_cast<std::uint64_t>(ranks);
  std::uint64_t before = 0;
  for (const std::size_t i : by_prompt(requests)) {
    // The rank in whose part of all samples the middle of this request is.
    const std::uint64_t samples = requests[i].n_samples();
    const std::uint64_t middle = 2 * before + samples;
    const std::uint64_t rank = total > 0 ? middle * count / (2 * total) : 0;
    shares[std::min(rank, count - 1)].push_back(i);
    before += samples;
  }
  for (RankShare& share : shares) std::sort(share.begin(), share.end());
  return shares;
}

std::vector<RankShare> share_examples(std::span<const std::int64_t> lengths, int ranks) {
  std::vector<RankShare> shares;
  for (const Share& share : share_out(lengths, ranks, 1)) {
    RankShare& indices = shares.emplace_back();
    for (const MicroBatch& batch : share) indices.insert(indices.end(), batch.begin(), batch.end());
    std::sort(indices.begin(), indices.end());
  }
  return shares;
}

}  // namespace krl::libtorch
