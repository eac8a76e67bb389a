// Spheres and a plane by signed distances; rays against triangles.
struct V { float x, y, z; };
__device__ V operator+(V a, V b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ V operator-(V a, V b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ V operator*(V a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ float dot(V a, V b) { return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z)); }
__device__ V cross(V a, V b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
__device__ V unit(V a) { return a * rsqrtf(dot(a, a)); }
__device__ float scene(V p) { return fminf(p.y + 1, sqrtf(dot(p, p)) - 1); }
__global__ void march(float* depth, V eye, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const V d = unit({(x - w / 2.f) / h, (y - h / 2.f) / h, 1});
  float t = 0;
  for (int k = 0; k < 128; ++k) {
    const float s = scene(eye + d * t);
    if (s < 1e-3f || t > 100) break;
    t += s;
  }
  depth[y * w + x] = t;
}
__global__ void hit_triangles(const V* origin, const V* direction, const V* vertices, int triangles, float* t_out, int* which, int rays) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rays) return;
  float best = 1e30f;
  int at = -1;
  for (int k = 0; k < triangles; ++k) {
    const V a = vertices[3 * k], e1 = vertices[3 * k + 1] - a, e2 = vertices[3 * k + 2] - a, p = cross(direction[r], e2);
    const float det = dot(e1, p);
    if (fabsf(det) < 1e-8f) continue;
    const V s = origin[r] - a;
    const float u = dot(s, p) / det;
    if (u < 0 || u > 1) continue;
    const V q = cross(s, e1);
    const float v = dot(direction[r], q) / det, t = dot(e2, q) / det;
    if (v >= 0 && u + v <= 1 && t > 0 && t < best) best = t, at = k;
  }
  t_out[r] = best;
  which[r] = at;
}
