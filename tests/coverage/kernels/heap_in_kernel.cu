// malloc and new: linked lists per thread.
struct Node { int value; Node* next; };
__global__ void lists(const int* x, int* y, int each) {
  Node* head = nullptr;
  for (int k = 0; k < each; ++k) {
    Node* n = new Node{x[(blockIdx.x * blockDim.x + threadIdx.x) * each + k], head};
    head = n;
  }
  int s = 0;
  while (head) {
    Node* next = head->next;
    s += head->value;
    delete head;
    head = next;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
