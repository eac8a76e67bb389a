// emulate: --launch 'newton<<<1, 64>>>(y, 64)' --buffer y=f64[64]
// holds: y = 0 1 2 3 4 5 6 7
// Newton's method in double precision finds the roots of the squares.
__global__ void newton(double* y, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  double a = double(i) * i, x = a > 1 ? a : 1;
  for (int k = 0; k < 200 && fabs(x * x - a) > 1e-13 * a; ++k) x = 0.5 * (x + a / x);
  y[i] = i == 0 ? 0 : x;
}
