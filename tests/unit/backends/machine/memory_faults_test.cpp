#include <gtest/gtest.h>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

struct MemoryFault {
  const char* name;
  const char* source;  // kernel k(float* x, int n), x of 64 elements, n = 64; 64 threads, 64 bytes
                       // of dynamic shared memory
  FaultKind kind;
  std::uint32_t line;
  const char* message;  // a part of it
};

class MemoryFaults : public ::testing::TestWithParam<MemoryFault> {};

TEST_P(MemoryFaults, AreFoundWithTheirLine) {
  const MemoryFault& c = GetParam();
  Emulation emulation(c.source, {"k"});
  emulation.job.work_limit = 200'000;
  const auto x = emulation.output<float>("x", 64, 1.0f);
  emulation.launch(0, {1, 1, 1}, {64, 1, 1}, {x, std::int32_t{64}}, 64);
  const Result result = emulation.run();
  ASSERT_TRUE(result.fault) << emulation.compile_log();
  EXPECT_EQ(name_of(result.fault->kind), name_of(c.kind)) << result.fault->message;
  EXPECT_EQ(result.fault->line, c.line) << result.fault->message;
  EXPECT_NE(result.fault->message.find(c.message), std::string::npos) << result.fault->message;
}

#define HEAD "__global__ void k(float* x, int n) {\n"

INSTANTIATE_TEST_SUITE_P(
    Memory, MemoryFaults,
    ::testing::Values(
        MemoryFault{"past_the_end", HEAD R"(  int i = threadIdx.x;
  x[i + 1] = 2;
})",
                    FaultKind::kIllegalAddress, 3, "x[64] is out of bounds: x has 64 elements"},
        MemoryFault{"before_the_start", HEAD R"(  float v = x[(int)threadIdx.x - 2];
  x[threadIdx.x] = v;
})",
                    FaultKind::kIllegalAddress, 2, "x[-2] is out of bounds"},
        MemoryFault{"far_away", HEAD R"(  float s = 0;
  for (int i = 0; i < n; i++)
    s += x[-1024 * i];
  x[0] = s;
})",
                    FaultKind::kIllegalAddress, 4, "x[-1024]"},
        MemoryFault{"partly_outside", HEAD R"(  double* d = (double*)(x + 62);
  d[threadIdx.x] = 1;
})",
                    FaultKind::kIllegalAddress, 3, "x[64]"},
        MemoryFault{"null",
                    HEAD
                    R"(  float* p = (float*)(unsigned long long)(n - 64);
  p[threadIdx.x] = 1;
})",
                    FaultKind::kIllegalAddress, 3, "null pointer"},
        MemoryFault{"wild", HEAD "\n  *(float*)(0x7fff00000000ull + n) = 1;\n}",
                    FaultKind::kIllegalAddress, 3, "belongs to no buffer"},
        MemoryFault{"static_shared", HEAD R"(  __shared__ float s[32];
  s[threadIdx.x] = 1;
  __syncthreads();
  x[0] = s[0];
})",
                    FaultKind::kIllegalAddress, 3, "at byte 192 of shared memory, of which the"},
        MemoryFault{"dynamic_shared", HEAD R"(  extern __shared__ float s[];
  s[threadIdx.x] = 1;
})",
                    FaultKind::kIllegalAddress, 3, "of which the block has 64 bytes"},
        MemoryFault{"local_array", HEAD R"(  float a[4];
  for (int i = 0; i < 4; i++) a[i] = x[i];
  int j = (int)x[0] + n;
  x[threadIdx.x] = a[j];
})",
                    FaultKind::kIllegalAddress, 5, "at byte 260 of the thread's local variables"},
        MemoryFault{"misaligned",
                    HEAD "  float4* p = (float4*)(x + 1);\n  *p = make_float4(1, 2, 3, 4);\n}",
                    FaultKind::kMisaligned, 3, "16 bytes"},
        MemoryFault{"missing_barrier",
                    HEAD
                    R"(  __shared__ float s[64];
  s[threadIdx.x] = 1;
  x[threadIdx.x] = s[63 - threadIdx.x] + s[threadIdx.x];
})",
                    FaultKind::kUninitialisedShared, 4, "shared s[63]"},
        MemoryFault{"atomic_outside", HEAD R"(

  atomicAdd(x + n, 1.0f);
})",
                    FaultKind::kIllegalAddress, 4, "x[64]"},
        MemoryFault{"copy_not_waited_for", HEAD R"(  __shared__ float s[64];
  unsigned at = (unsigned)__cvta_generic_to_shared(s + threadIdx.x);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(x + threadIdx.x));
  x[threadIdx.x] = s[threadIdx.x];
})",
                    FaultKind::kDataRace, 5, "has not waited for its asynchronous copy"}),
    [](const auto& info) { return std::string(info.param.name); });

#undef HEAD

TEST(MemoryFaults, StoreToAnInputIsNamed) {
  Emulation emulation(R"(__global__ void k(float* x) {
  x[3] = 1;
})",
                      {"k"});
  const auto x = emulation.input<float>("x", std::vector<float>(8, 2.0f));
  emulation.launch(0, {1, 1, 1}, {1, 1, 1}, {x});
  const Result result = emulation.run();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->message, "x[3] is written, but x may only be read");
  EXPECT_EQ(result.fault->line, 2u);
}

}  // namespace
}  // namespace krl::machine
