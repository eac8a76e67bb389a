#include "plugins/retrieval/index/vector_index.hpp"

#include <faiss/IndexFlat.h>

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

struct VectorIndex::State {
  State(std::span<const float> vectors, std::size_t dimension, int threads_wanted)
      : flat(static_cast<faiss::Index::idx_t>(dimension)),
        threads(static_cast<std::size_t>(threads_wanted)) {
    flat.add(static_cast<faiss::Index::idx_t>(vectors.size() / dimension), vectors.data());
  }

  std::size_t size() const { return static_cast<std::size_t>(flat.ntotal); }
  std::size_t dimension() const { return static_cast<std::size_t>(flat.d); }
  const float* row(std::size_t index) const { return flat.get_xb() + index * dimension(); }

  // The products of all rows, on as many threads as are worth while.
  std::vector<float> products(const float* query) const {
    std::vector<float> all(size());
    const std::size_t parts = std::clamp<std::size_t>(size() / kRowsPerThread, 1, threads);
    const auto compute = [&](std::size_t part) {
      const std::size_t begin = size() * part / parts, end = size() * (part + 1) / parts;
      inner_products()(query, row(begin), end - begin, dimension(), all.data() + begin);
    };
    std::vector<std::jthread> others;
    for (std::size_t part = 1; part < parts; ++part) others.emplace_back(compute, part);
    compute(0);
    others.clear();  // joins
    return all;
  }

  faiss::IndexFlatIP flat;
  std::size_t threads;
};

VectorIndex::VectorIndex(std::span<const float> vectors, std::size_t dimension, int threads)
    : state_(std::make_unique<State>(vectors, dimension, threads)) {}
VectorIndex::~VectorIndex() = default;
VectorIndex::VectorIndex(VectorIndex&&) noexcept = default;
VectorIndex& VectorIndex::operator=(VectorIndex&&) noexcept = default;

std::size_t VectorIndex::size() const { return state_->size(); }

std::span<const float> VectorIndex::vector(std::size_t index) const {
  return {state_->row(index), state_->dimension()};
}

std::vector<Neighbour> VectorIndex::search(std::span<const float> query, std::size_t count) const {
  if (count == 0 || size() == 0) return {};
  const std::vector<float> products = state_->products(query.data());
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
