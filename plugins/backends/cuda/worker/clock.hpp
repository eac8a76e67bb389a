// Reads the clock of the GPU's multiprocessors through NVIDIA's management library.
#pragma once

namespace krl::gpu {

// In MHz, now; 0 where the library is missing or does not report it. `device`: as CUDA counts them.
double sm_clock_mhz(int device);

}  // namespace krl::gpu
