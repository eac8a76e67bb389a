#include "tests/unit/backends/gpu/simulated_kernel.hpp"

// In the order of kernelrl_embed_text.
// clang-format off
#include "plugins/backends/cuda/worker/device_draws.cu"
#include "plugins/backends/evaluator/check/draws.inc"
#include "plugins/backends/cuda/worker/trusted_kernels.cu"
// clang-format on

SIMULATED(krl_nothing)
SIMULATED(krl_wait)
SIMULATED(krl_fill)
SIMULATED(krl_change)
SIMULATED(krl_gather)
SIMULATED(krl_put_away)
SIMULATED(krl_fetch)
SIMULATED(krl_compare_reals)
SIMULATED(krl_compare_integers)
SIMULATED(krl_compare_launches)
SIMULATED(krl_find_changes)
SIMULATED(krl_overwrite)
SIMULATED(krl_overwrite_local_128)
SIMULATED(krl_overwrite_local_512)
SIMULATED(krl_overwrite_local_2048)
SIMULATED(krl_overwrite_local_8192)
SIMULATED(krl_overwrite_local_32768)
SIMULATED(krl_overwrite_local_65536)
SIMULATED(krl_copy)
SIMULATED(krl_add)
SIMULATED(krl_multiply_add)
