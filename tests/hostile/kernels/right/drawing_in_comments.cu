// task: vector_add expect: ok
// Drawings in comments end in a backslash and a blank; what follows is a comment anyway.
//    /\ 
//   /  \	
//  a + b

/*  \ 
   \
   / */
// \ 

// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
