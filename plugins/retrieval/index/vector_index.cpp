#include "plugins/retrieval/index/vector_index.hpp"

#include <algorithm>
#include <thread>

#include "plugins/retrieval/index/inner_products.hpp"

namespace krl::retrieval {
namespace {

// Rows for which another thread is worth while.
constexpr std::size_t kRowsPerThread = 4096;

bool is_nearer(const Neighbour& a, const Neighbour& b) {
  return a.product != b.product ? a.product > b.product : a.index < b.index;
}

}  // namespace

VectorIndex::VectorIndex(std::span<const float> vectors, std::size_t dimension, int threads)
    : vectors_(vectors.begin(), vectors.end()),
      dimension_(dimension),
      threads_(static_cast<std::size_t>(threads)) {}

std::vector<float> VectorIndex::products(const float* query) const {
  std::vector<float> all(size());
  const std::size_t parts = std::clamp<std::size_t>(size() / kRowsPerThread, 1, threads_);
  const auto compute = [&](std::size_t part) {
    const std::size_t begin = size() * part / parts, end = size() * (part + 1) / parts;
    inner_products()(query, vectors_.data() + begin * dimension_, end - begin, dimension_,
                     all.data() + begin);
  };
  std::vector<std::jthread> others;
  for (std::size_t part = 1; part < parts; ++part) others.emplace_back(compute, part);
  compute(0);
  others.clear();  // joins
  return all;
}

std::vector<Neighbour> VectorIndex::search(std::span<const float> query, std::size_t count) const {
  if (count == 0 || size() == 0) return {};
  const std::vector<float> products = this->products(query.data());
  std::vector<Neighbour> nearest;
  nearest.reserve(products.size());
  for (std::size_t i = 0; i < products.size(); ++i) nearest.push_back({i, products[i]});
  count = std::min(count, nearest.size());
  std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(count),
                    nearest.end(), is_nearer);
  nearest.resize(count);
  return nearest;
}

}  // namespace krl::retrieval
