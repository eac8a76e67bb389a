#include "core/measure/structure.hpp"

#include <gtest/gtest.h>

namespace krl::core {
namespace {

TEST(Structure, DescribesWhatWasExecuted) {
  Evaluation evaluation;
  evaluation.kernels.resize(2);
  evaluation.kernels[1].shared_bytes = 1100;
  evaluation.values = {{0, "launches", "", 2},        {0, "blocks", "", 130},
                       {0, "threads", "", 130 * 128}, {0, "shuffles", "", 5},
                       {0, "atomics", "", 0.0},       {0, "vector_accesses", "", 1}};
  EXPECT_EQ(structure_of(evaluation),
            "2 launches, shared 1024, shuffles, vectors, blocks of 64, grid 64");
}

TEST(Structure, LeavesOutWhatIsNotReported) {
  Evaluation evaluation;
  evaluation.kernels.resize(1);
  EXPECT_EQ(structure_of(evaluation), "1 launches");
}

}  // namespace
}  // namespace krl::core
