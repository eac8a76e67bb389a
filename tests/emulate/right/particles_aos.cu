// emulate: --launch 'make<<<2, 64>>>(p, 100)' --launch 'move<<<2, 64>>>(p, x, 100, dt)' --value dt=0.5 --buffer p=f32[700] --buffer x=f32[100]
// holds: x = 0 1.5 3 4.5 6 7.5 9 10.5
// An array of structures with a member function.
struct Particle {
  float pos[3], vel[3];
  int alive;
  __device__ void step(float dt) {
    for (int d = 0; d < 3; ++d) pos[d] += vel[d] * dt;
  }
};
__global__ void make(Particle* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = i;
  p[i] = Particle{{v, 0, 0}, {v, 1, 2}, 1};
}
__global__ void move(Particle* p, float* x, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (p[i].alive) p[i].step(dt);
  x[i] = p[i].pos[0];
}
