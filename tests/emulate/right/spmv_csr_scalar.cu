// emulate: --launch 'offsets<<<1, 128>>>(row, 101)' --launch 'spmv<<<1, 128>>>(100, row, col, val, x, y)'
// emulate: --buffer row=i32[101] --buffer 'col=i32[300]:integers(0,100)' --buffer val=f64[300]:ones --buffer x=f64[100]:2 --buffer y=f64[100]
// holds: y = 6 6 6 6
// A sparse matrix with three entries in each row, one thread per row.
__global__ void offsets(int* row, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) row[i] = 3 * i;
}
__global__ void spmv(int rows, const int* row, const int* col, const double* val, const double* x, double* y) {
  int r = blockDim.x * blockIdx.x + threadIdx.x;
  if (r < rows) {
    double dot = 0;
    for (int k = row[r]; k < row[r + 1]; k++) dot += val[k] * x[col[k]];
    y[r] = dot;
  }
}
