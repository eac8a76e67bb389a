// Estimates for k samples of a task, from n ≥ k of them. Pure functions, in double precision; any
// thread.
#pragma once

#include <cstddef>
#include <vector>

namespace krl::core {

// Returns the expected largest of k of `values`, drawn without replacement: an unbiased estimate of
// the best of k samples. With the values x_1 ≤ … ≤ x_n in order,
//   Σ_{i=k..n} x_i · C(i−1, k−1) / C(n, k)
// as x_i is the largest of C(i−1, k−1) of the C(n, k) choices. If all values are 0 or 1, c of them
// 1, this is pass@k = 1 − C(n−c, k) / C(n, k) (Chen et al., "Evaluating Large Language Models
// Trained on Code", arXiv 2107.03374, equation 1). For k = 1 it is the mean. REQUIRES: 1 ≤ k ≤
// values.size().
double best_at_k(std::vector<double> values, std::size_t k);

}  // namespace krl::core
