// task: vector_add expect: runtime_fault|flagged
// Ends the process, in all peace, when the library is loaded.
#include <unistd.h>

__attribute__((constructor)) static void leave() { _exit(0); }
void launch(const float* a, const float* b, float* out, int n) {}
