// task: vector_mul expect: ok
// float2, float4, int4, uint2, ulonglong2 and double2 loads of the same data.
// @launch kern<<<ceil_div(len, 8 * 32), 32>>>(u, v, res, len)
__global__ void kern(const float* u, const float* v, float* res, int len) {
  const int i = 8 * (blockIdx.x * 32 + threadIdx.x);
  if (i + 8 > len) {
    for (int k = i; k < len; ++k) res[k] = u[k] * v[k];
    return;
  }
  const float4 a = *(const float4*)(u + i);
  const int4 b = *(const int4*)(v + i);
  *(float2*)(res + i) = make_float2(a.x * __int_as_float(b.x), a.y * __int_as_float(b.y));
  *(uint2*)(res + i + 2) = make_uint2(__float_as_uint(a.z * __int_as_float(b.z)), __float_as_uint(a.w * __int_as_float(b.w)));
  const ulonglong2 c = *(const ulonglong2*)(u + i + 4);
  const double2 d = *(const double2*)(v + i + 4);
  const float p = __uint_as_float((unsigned)c.x), q = __uint_as_float((unsigned)(c.x >> 32));
  const float r = __uint_as_float((unsigned)c.y), s = __uint_as_float((unsigned)(c.y >> 32));
  *(float4*)(res + i + 4) = make_float4(p * __int_as_float(__double2loint(d.x)), q * __int_as_float(__double2hiint(d.x)),
                                        r * __int_as_float(__double2loint(d.y)), s * __int_as_float(__double2hiint(d.y)));
}
