#include <gtest/gtest.h>

#include "plugins/backends/cpu/machine/memory/device_calls.hpp"
#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

// Runs `body` in a kernel (int* y), y[64], with so many threads.
Result run_printing(const std::string& body, std::uint32_t threads = 1) {
  Emulation emulation("\n__global__ void k(int* y) { int t = threadIdx.x;\n" + body + "\n}", {"k"});
  EXPECT_EQ(emulation.compile_log(), "");
  const auto y = emulation.output<int>("y", 64);
  emulation.launch(0, {1, 1, 1}, {threads, 1, 1}, {y});
  return emulation.run();
}

std::string printed(const std::string& body, std::uint32_t threads = 1) {
  const Result result = run_printing(body, threads);
  EXPECT_FALSE(result.fault) << result.fault->message;
  return result.printed;
}

TEST(Printing, IsThatOfC) {
  EXPECT_EQ(printed(R"(printf("plain %% text\n");)"), "plain % text\n");
  EXPECT_EQ(printed(R"(printf("%d %i %u %x %X %o|", -1, 2, 3000000000u, 255, 255, 8);)"),
            "-1 2 3000000000 ff FF 10|");
  EXPECT_EQ(printed(R"(printf("%5d|%-5d|%05d|%+d", 42, 42, 42, 42);)"), "   42|42   |00042|+42");
  EXPECT_EQ(
      printed(R"(printf("%lld %llu %zu %ld", -5000000000ll, 5000000000ull, sizeof(int), 7l);)"),
      "-5000000000 5000000000 4 7");
  EXPECT_EQ(printed(R"(printf("%f %.2f %e %g %8.3f", 1.5, 2.0f / 3, 1e10, 0.1, 3.14159);)"),
            "1.500000 0.67 1.000000e+10 0.1    3.142");
  EXPECT_EQ(printed(R"(printf("%c%s%c", 'a', " text ", 'b');)"), "a text b");
  EXPECT_EQ(printed(R"(printf("%*d|%.*f", 5, 1, 1, 2.55);)"), "    1|2.5");
  EXPECT_EQ(printed(R"(printf("%d %f %d", 1, 2.0, 3);)"), "1 2.000000 3");
}

TEST(Printing, IsByEachThreadInItsTurn) {
  EXPECT_EQ(printed(R"(if (t % 2) printf("%d ", t);)", 8), "1 3 5 7 ");
}

TEST(Printing, GivesTheNumberOfValues) {
  EXPECT_EQ(printed(R"(int n = printf("%d %d", t, t); printf(" %d", n);)"), "0 0 2");
}

TEST(Printing, OfWhatDoesNotExistIsTheTextItself) {
  EXPECT_EQ(printed(R"(printf("%k %d", 3);)"), "%k 3");
  EXPECT_EQ(printed(R"(printf("%");)"), "%");
}

TEST(Printing, HasALimit) {
  const Result result =
      run_printing(R"(for (int i = 0; i < 100000; ++i) printf("%d is a number\n", i);)");
  EXPECT_FALSE(result.fault);
  EXPECT_EQ(result.printed.size(), kMostPrinted);
  EXPECT_EQ(printed(R"(printf("%9999d|", 1);)").size(), 513u);
}

TEST(Printing, OfATextThatIsNowhereIsAFault) {
  const Result result = run_printing("\nprintf(\"%s\", (const char*)y + 1000000);");
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kIllegalAddress);
  EXPECT_EQ(result.fault->line, 4u);
}

TEST(Printing, IsKeptWhenAFaultFollows) {
  const Result result = run_printing(R"(printf("before\n"); y[64] = 1;)");
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.printed, "before\n");
}

TEST(Assertions, SayWhatFailed) {
  const Result result = run_printing("\nassert(t < 3);", 8);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kTrap);
  EXPECT_EQ(result.fault->message, "the assertion `t < 3` failed");
  EXPECT_EQ(result.fault->thread, (Dim3{3, 0, 0}));
}

}  // namespace
}  // namespace krl::machine
