// emulate: --launch 'push<<<1, 32>>>(y)' --buffer y=i32[32]
// fault: illegal_address 9
// The list's head was never set.
struct Node {
  int value;
  Node* next;
};
__device__ Node* head;
__global__ void push(int* y) { y[threadIdx.x] = head->value; }
