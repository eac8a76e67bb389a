// task: vector_add expect: compile_error|timeout|resource_limit|rejected
// An error whose one line names a type of megabytes.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
template <class T> struct P { typedef P<T> (*F)(T, T, T, P*); };
template <class T> using D = P<typename P<T>::F>;
template <int N, class T> struct Long { typedef typename Long<N - 1, D<T>>::type type; };
template <class T> struct Long<0, T> { typedef typename T::nothing type; };
typedef Long<9, int>::type Bomb;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  P<P<P<P<P<P<P<P<P<P<P<P<P<P<P<int>>>>>>>>>>>>>>>::nothing x;
  if (i < n) out[i] = a[i] + b[i];
}
