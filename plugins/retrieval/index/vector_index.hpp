// Finds the vectors with the largest inner products with another one, exactly: a flat FAISS index.
// For vectors of length 1 that is their cosine. Owns a copy of the vectors. Immutable, hence
// thread-safe.
//
// The search itself is ours: Debian's FAISS compares single vectors by SSE on one thread, which
// takes three times as long (bench/README.md, retrieval_bench).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace krl::retrieval {

struct Neighbour {
  std::size_t index;  // index of the vector
  float product;
};

class VectorIndex {
 public:
  // `vectors`: any number of vectors of `dimension` floats, one after the other. REQUIRES:
  // dimension > 0, threads > 0.
  VectorIndex(std::span<const float> vectors, std::size_t dimension, int threads);
  ~VectorIndex();
  VectorIndex(VectorIndex&&) noexcept;
  VectorIndex& operator=(VectorIndex&&) noexcept;

  std::size_t size() const;
  std::span<const float> vector(std::size_t index) const;

  // The `count` nearest vectors, or all if there are fewer: the largest product first, of equal
  // ones the smaller index. REQUIRES: `query` has `dimension` floats.
  std::vector<Neighbour> search(std::span<const float> query, std::size_t count) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krl::retrieval
