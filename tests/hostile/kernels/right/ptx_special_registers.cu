// task: vector_add expect: ok
// The thread's place from special registers: %tid, %ntid, %ctaid, %nctaid, %laneid, %warpid, %lanemask_lt.
// @launch kern<<<dim3(ceil_div(n, 64), 1), dim3(32, 2)>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  unsigned tx, ty, nx, ny, cx, gx, lane, below, above, equal;
  asm("mov.u32 %0, %%tid.x;" : "=r"(tx));
  asm("mov.u32 %0, %%tid.y;" : "=r"(ty));
  asm("mov.u32 %0, %%ntid.x;" : "=r"(nx));
  asm("mov.u32 %0, %%ntid.y;" : "=r"(ny));
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(cx));
  asm("mov.u32 %0, %%nctaid.x;" : "=r"(gx));
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(above));
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(equal));
  const bool good = lane == tx && (below ^ above ^ equal) == ~0u && __popc(below) == lane && gx * nx * ny >= n;
  const unsigned i = (cx * ny + ty) * nx + lane;
  if (i < n) out[i] = good ? a[i] + b[i] : 0.0f;
}
