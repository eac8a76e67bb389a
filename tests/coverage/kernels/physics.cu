// Lennard-Jones with cell lists, SPH density, Ising updates, lattice Boltzmann.
__global__ void lennard_jones(const float4* p, const int* cell_start, const int* cell_of, float4* force, int n, int cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 a = p[i];
  float4 f = {0, 0, 0, 0};
  for (int dc = -1; dc <= 1; ++dc) {
    const int c = (cell_of[i] + dc + cells) % cells;
    for (int j = cell_start[c]; j < cell_start[c + 1]; ++j) {
      if (j == i) continue;
      const float dx = a.x - p[j].x, dy = a.y - p[j].y, dz = a.z - p[j].z, r2 = dx * dx + dy * dy + dz * dz;
      if (r2 > 6.25f) continue;
      const float i2 = 1 / r2, i6 = i2 * i2 * i2, s = 24 * i2 * i6 * (2 * i6 - 1);
      f.x += s * dx; f.y += s * dy; f.z += s * dz; f.w += 4 * i6 * (i6 - 1);
    }
  }
  force[i] = f;
}
__global__ void ising(signed char* spins, int w, int h, int parity, float beta, unsigned seed) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w || (x + y) % 2 != parity) return;
  const int s = spins[y * w + x], sum = spins[y * w + (x + 1) % w] + spins[y * w + (x + w - 1) % w] + spins[(y + 1) % h * w + x] + spins[(y + h - 1) % h * w + x];
  unsigned r = (y * w + x) * 2654435761u ^ seed;
  r ^= r >> 15; r *= 0x2c1b3c6du; r ^= r >> 12;
  if (r * 2.3283064e-10f < __expf(-2 * beta * s * sum)) spins[y * w + x] = (signed char)-s;
}
__constant__ int kEx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, kEy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float kW[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
__global__ void lattice_boltzmann(const float* f, float* g, int w, int h, float omega) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, n = w * h;
  if (x >= w) return;
  float q[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    q[k] = f[k * n + (y - kEy[k] + h) % h * w + (x - kEx[k] + w) % w];
    rho += q[k];
    ux += q[k] * kEx[k];
    uy += q[k] * kEy[k];
  }
  ux /= rho;
  uy /= rho;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const float cu = 3 * (kEx[k] * ux + kEy[k] * uy);
    g[k * n + y * w + x] = q[k] + omega * (kW[k] * rho * (1 + cu + 0.5f * cu * cu - 1.5f * (ux * ux + uy * uy)) - q[k]);
  }
}
