// Finds the vectors with the largest inner products with another one, exactly, by computing
// all of them. For vectors of length 1 that is their cosine. Owns a copy of the vectors.
// Thread-safe.
#pragma once

#include <cstddef>
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

  std::size_t size() const { return vectors_.size() / dimension_; }
  std::span<const float> vector(std::size_t index) const {
    return std::span(vectors_).subspan(index * dimension_, dimension_);
  }

  // The `count` nearest vectors, or all if there are fewer: the largest product first, of equal
  // ones the smaller index. REQUIRES: `query` has `dimension` floats.
  std::vector<Neighbour> search(std::span<const float> query, std::size_t count) const;

 private:
  // The products of all rows, on as many threads as are worth while.
  std::vector<float> products(const float* query) const;

  std::vector<float> vectors_;
  std::size_t dimension_, threads_;
};

}  // namespace krl::retrieval
