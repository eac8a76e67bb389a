// The index against a search that looks at everything in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "plugins/retrieval/index/inner_products.hpp"
#include "plugins/retrieval/index/vector_index.hpp"

namespace krl::retrieval {
namespace {

std::vector<float> random_vectors(std::size_t count, std::uint32_t seed) {
  std::mt19937 source(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(source);
  return values;
}

double exact_product(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Every vector in the order of its product with the query.
std::vector<std::size_t> brute_force(std::span<const float> vectors, std::span<const float> query) {
  const std::size_t width = query.size(), count = vectors.size() / width;
  std::vector<double> products(count);
  for (std::size_t i = 0; i < count; ++i) {
    products[i] = exact_product(vectors.subspan(i * width, width), query);
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return products[a] > products[b]; });
  return order;
}

class VectorIndexSizes : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(VectorIndexSizes, EqualsBruteForce) {
  const auto [count, width] = GetParam();
  const auto vectors = random_vectors(count * width, 1), queries = random_vectors(5 * width, 2);
  for (const int threads : {1, 3}) {
    const VectorIndex index(vectors, width, threads);
    ASSERT_EQ(index.size(), count);
    for (std::size_t q = 0; q < 5; ++q) {
      const std::span query = std::span(queries).subspan(q * width, width);
      const auto wanted = brute_force(vectors, query);
      const auto got = index.search(query, 50);
      ASSERT_EQ(got.size(), std::min<std::size_t>(50, count));
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].index, wanted[i]);
        EXPECT_NEAR(got[i].product, exact_product(index.vector(wanted[i]), query), 1e-4);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Retrieval, VectorIndexSizes,
                         ::testing::Values(std::tuple(1, 1), std::tuple(7, 3), std::tuple(100, 33),
                                           std::tuple(20'000, 64), std::tuple(3000, 384)));

TEST(VectorIndex, EqualProductsKeepTheOrderOfTheVectors) {
  const std::vector<float> vectors = {1, 2, 1, 2, 0}, query = {1};
  const auto got = VectorIndex(vectors, 1, 1).search(query, 4);
  std::vector<std::size_t> order;
  for (const Neighbour& neighbour : got) order.push_back(neighbour.index);
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 3, 0, 2}));
}

TEST(VectorIndex, MayBeEmpty) {
  const std::vector<float> query = {1, 2};
  EXPECT_TRUE(VectorIndex({}, 2, 1).search(query, 3).empty());
}

TEST(InnerProducts, BothWaysAgree) {
  for (const std::size_t width : {1, 15, 16, 31, 32, 70, 384}) {
    const auto rows = random_vectors(40 * width, 3), query = random_vectors(width, 4);
    std::vector<float> portable(40), chosen(40);
    portable_inner_products(query.data(), rows.data(), 40, width, portable.data());
    inner_products()(query.data(), rows.data(), 40, width, chosen.data());
    for (std::size_t i = 0; i < 40; ++i) EXPECT_NEAR(portable[i], chosen[i], 1e-4);
  }
}

}  // namespace
}  // namespace krl::retrieval
