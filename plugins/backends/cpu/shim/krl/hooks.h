/* What a compiled candidate asks of the emulator, beside the hooks of the compiler's instrumentation. The shim and the
 * emulator both include this file: it is the boundary between them. No standard header: compiling a kernel stays cheap. */
#pragma once

/* Operations of a whole warp: every lane of `mask` gives a value and gets one back. */
enum krl_warp_operation {
  KRL_SHUFFLE, /* gets the value of lane `source`, or its own if source is its own lane */
  KRL_BALLOT,  /* gets the mask of the lanes whose value is not 0 */
  KRL_MATCH_ANY,
  KRL_MATCH_ALL,
  KRL_REDUCE_ADD,
  KRL_REDUCE_MIN, /* signed 32 bits */
  KRL_REDUCE_MAX,
  KRL_REDUCE_UMIN, /* unsigned 32 bits */
  KRL_REDUCE_UMAX,
  KRL_REDUCE_AND,
  KRL_REDUCE_OR,
  KRL_REDUCE_XOR,
  KRL_WARP_BARRIER
};

enum krl_atomic_operation {
  KRL_ATOMIC_ADD,
  KRL_ATOMIC_SUB,
  KRL_ATOMIC_EXCHANGE,
  KRL_ATOMIC_MIN,
  KRL_ATOMIC_MAX,
  KRL_ATOMIC_INCREMENT,
  KRL_ATOMIC_DECREMENT,
  KRL_ATOMIC_COMPARE_AND_SWAP,
  KRL_ATOMIC_AND,
  KRL_ATOMIC_OR,
  KRL_ATOMIC_XOR
};

enum krl_atomic_type {
  KRL_INT32,
  KRL_UINT32,
  KRL_INT64,
  KRL_UINT64,
  KRL_UINT16,
  KRL_FLOAT,
  KRL_DOUBLE,
  KRL_HALF,
  KRL_HALF2,
  KRL_BFLOAT16,
  KRL_BFLOAT162
};

/* One parameter of a kernel, and a kernel; exported by KRL_KERNEL. */
struct krl_parameter {
  unsigned kind; /* 0 pointer, 1 integer, 2 floating, 3 other */
  unsigned size; /* bytes */
  unsigned const_pointee;
  unsigned pointee_size;
};
struct krl_kernel_record {
  void (*entry)();  /* the __global__ function */
  void (*invoke)(); /* calls it with krl_arguments */
  unsigned parameter_count;
  const struct krl_parameter* parameters;
};

enum { KRL_MAX_ARGUMENTS = 64 };

extern "C" {
/* The arguments of the launch that runs, each in the low bytes of a word. A constant to the compiler, like threadIdx:
 * reading it is no access to memory. */
extern const unsigned long long krl_arguments[KRL_MAX_ARGUMENTS];

void __syncthreads();
int __syncthreads_count(int predicate);
int __syncthreads_and(int predicate);
int __syncthreads_or(int predicate);

unsigned long long krl_warp_exchange(unsigned operation, unsigned mask, unsigned long long value, unsigned source);
unsigned krl_activemask();
/* Values are passed in the low bytes of a 64-bit word; returns what was there before. */
unsigned long long krl_atomic(unsigned operation, unsigned type, void* address, unsigned long long value,
                              unsigned long long compare);
void krl_fence();
void krl_printf();
unsigned long long krl_clock();
[[noreturn]] void krl_trap();
[[noreturn]] void krl_assert_fail(const char* expression);
}
