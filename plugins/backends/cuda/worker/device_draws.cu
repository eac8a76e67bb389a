// Defines the names that evaluator/check/draws.inc needs on a GPU.

#define KRL_DRAW __device__

// Rounded after each step, as a processor does it: no fused multiply and add.
__device__ double add_product(double sum, double a, double b) {
  return __dadd_rn(sum, __dmul_rn(a, b));
}
