// The functions of BLAS and LAPACK that FAISS's flat index refers to, hidden in the program or
// plugin
// that links it.
//
// libtorch defines functions of these names for itself and calls them by name, so a BLAS that comes
// before it in a program or plugin takes over its matrix products: with Debian's reference BLAS the
// encoder is more than ten times slower. Hidden functions leave it alone. The index searches for
// single vectors by its own loop and rotates nothing, so it calls none of these.
#include <cstddef>
#include <kernelrl/values.hpp>

#define KRL_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

// C = alpha op(A) op(B) + beta C, column-major: the interface of BLAS, level 3.
KRL_HIDDEN int sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                      const int* k, const float* alpha, const float* a, const int* lda,
                      const float* b, const int* ldb, const float* beta, float* c, const int* ldc) {
  const auto at = [](const float* matrix, int leading, bool transposed, int row, int column) {
    const auto index = transposed ? std::ptrdiff_t{row} * leading + column
                                  : std::ptrdiff_t{column} * leading + row;
    return matrix[index];
  };
  const bool a_transposed = *transpose_a != 'N' && *transpose_a != 'n';
  const bool b_transposed = *transpose_b != 'N' && *transpose_b != 'n';
  for (int column = 0; column < *n; ++column) {
    for (int row = 0; row < *m; ++row) {
      float sum = 0;
      for (int i = 0; i < *k; ++i) {
        sum += at(a, *lda, a_transposed, row, i) * at(b, *ldb, b_transposed, i, column);
      }
      float& to = c[std::ptrdiff_t{column} * *ldc + row];
      to = *alpha * sum + (*beta == 0 ? 0 : *beta * to);
    }
  }
  return 0;
}

// Decompositions, for FAISS's random rotations.
KRL_HIDDEN int sgeqrf_(...) {
  throw krl::Failure(KRL_UNIMPLEMENTED, "FAISS was built in without decompositions of matrices");
}
KRL_HIDDEN int sorgqr_(...) {
  throw krl::Failure(KRL_UNIMPLEMENTED, "FAISS was built in without decompositions of matrices");
}

}  // extern "C"
