// Reads the clock of the GPU's multiprocessors through NVIDIA's management library.
#pragma once

namespace krl::gpu {

// Returns the current SM clock in MHz; 0 if the library is missing or does not report it. `device`:
// CUDA's index.
double sm_clock_mhz(int device);

}  // namespace krl::gpu
