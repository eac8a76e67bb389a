// The judge's kernels, compiled by g++ and run one thread after the other, against the host's own
// inputs and comparison.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <set>

#include "plugins/backends/cuda/worker/device_types.hpp"
#include "plugins/backends/cuda/worker/guards.hpp"
#include "plugins/backends/evaluator/check/comparison.hpp"
#include "plugins/backends/evaluator/check/inputs.hpp"
#include "plugins/backends/evaluator/check/poison.hpp"

struct SimulatedIndex {
  unsigned x, y, z;
};
unsigned krl_shared[1024];
extern "C" {
SimulatedIndex simulated_thread, simulated_block, simulated_block_size, simulated_grid_size;
void krl_fill_simulated(void** arguments, std::function<void()>* call);
void krl_change_simulated(void** arguments, std::function<void()>* call);
void krl_compare_reals_simulated(void** arguments, std::function<void()>* call);
void krl_compare_integers_simulated(void** arguments, std::function<void()>* call);
void krl_find_changes_simulated(void** arguments, std::function<void()>* call);
void krl_put_away_simulated(void** arguments, std::function<void()>* call);
void krl_fetch_simulated(void** arguments, std::function<void()>* call);
void krl_compare_launches_simulated(void** arguments, std::function<void()>* call);
}

namespace krl::cuda {
using namespace evaluator;
namespace {

void launch(void (*kernel)(void**, std::function<void()>*), unsigned rows,
            std::vector<void*> arguments) {
  std::function<void()> call;
  kernel(arguments.data(), &call);
  simulated_grid_size = {3, rows, 1};
  simulated_block_size = {32, 1, 1};
  for (unsigned y = 0; y < rows; ++y) {
    for (unsigned x = 0; x < 3; ++x) {
      for (unsigned thread = 0; thread < 32; ++thread) {
        simulated_block = {x, y, 0};
        simulated_thread = {thread, 0, 0};
        call();
      }
    }
  }
}

constexpr std::uint64_t kStart = 0x123456789, kMask = 0x987654321;

// Of one tensor, by a kernel that gets its seed sealed.
void launch_fill(void (*kernel)(void**, std::function<void()>*), std::byte* base,
                 gpu::DeviceFill fill) {
  fill.seal = 1234;
  fill.seed ^= gpu::guard_at(fill.seal, {kStart, kMask});
  const gpu::DeviceFill* fills = &fill;
  std::uint64_t start = kStart, mask = kMask;
  launch(kernel, 1, {&base, &fills, &start, &mask});
}

std::vector<bool> changes_in(const std::vector<std::byte>& memory,
                             const std::vector<gpu::DeviceRange>& ranges) {
  std::vector<std::uint64_t> counts(ranges.size());
  const std::byte* base = memory.data();
  const gpu::DeviceRange* first = ranges.data();
  std::uint64_t *found = counts.data(), start = kStart, mask = kMask;
  launch(krl_find_changes_simulated, static_cast<unsigned>(ranges.size()),
         {&base, &first, &found, &start, &mask});
  std::vector<bool> changed;
  for (const std::uint64_t count : counts) changed.push_back(count != 0);
  return changed;
}

void put_away(std::vector<std::byte>& arena, const std::vector<gpu::DeviceMove>& moves,
              std::uint64_t bytes) {
  std::byte* at = arena.data();
  const gpu::DeviceMove* first = moves.data();
  std::uint64_t start = kStart, mask = kMask;
  launch(krl_put_away_simulated, static_cast<unsigned>(moves.size()),
         {&at, &first, &bytes, &start, &mask});
}

ResolvedTensor tensor(DType dtype, ValueKind values, std::vector<std::int64_t> shape) {
  ResolvedTensor t;
  t.name = "x";
  t.dtype = dtype;
  t.values = values;
  t.shape = std::move(shape);
  t.elements = 1;
  for (const std::int64_t size : t.shape) t.elements *= size;
  t.low = -7.5;
  t.high = 23;
  return t;
}

std::vector<std::byte> filled_by_kernel(const ResolvedTensor& t, std::uint64_t seed,
                                        Distribution distribution) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(t.bytes()));
  const gpu::DeviceFill fill{0,
                             static_cast<std::uint64_t>(t.elements),
                             static_cast<std::uint64_t>(t.shape.back()),
                             mix_seed(seed, t.name),
                             t.low,
                             t.high,
                             static_cast<std::int32_t>(t.dtype),
                             static_cast<std::int32_t>(t.values),
                             static_cast<std::int32_t>(t.structure),
                             static_cast<std::int32_t>(distribution)};
  std::byte* base = bytes.data();
  launch_fill(krl_fill_simulated, base, fill);
  return bytes;
}

TEST(TrustedKernels, DrawTheInputsThatTheHostDraws) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kInt32,
                            DType::kInt64, DType::kBool}) {
    for (const ValueKind values :
         {ValueKind::kNormal, ValueKind::kUniform, ValueKind::kUniformSigned, ValueKind::kIntegers,
          ValueKind::kPermutation, ValueKind::kOneHot, ValueKind::kZeros, ValueKind::kBernoulli,
          ValueKind::kSorted, ValueKind::kOffsets, ValueKind::kFlags}) {
      for (std::size_t d = 0; d < kDistributions; ++d) {
        const auto distribution = static_cast<Distribution>(d);
        ResolvedTensor t = tensor(dtype, values, {5, 67});
        if (values == ValueKind::kNormal) t.low = d == 1 ? 3 : 0, t.high = 0.7;
        if (values == ValueKind::kBernoulli || values == ValueKind::kFlags) t.high = 0.1;
        std::vector<std::byte> right(static_cast<std::size_t>(t.bytes()));
        fill_input(t, 42, distribution, right);
        EXPECT_EQ(filled_by_kernel(t, 42, distribution), right)
            << name_of(dtype) << " values " << static_cast<int>(values);
      }
    }
  }
}

std::vector<std::byte> changed(std::vector<std::byte> bytes, ValueKind values,
                               std::uint64_t change) {
  const gpu::DeviceFill fill{0,
                             bytes.size() / 4,
                             100,
                             0,
                             0,
                             1,
                             static_cast<std::int32_t>(DType::kFloat32),
                             static_cast<std::int32_t>(values),
                             0,
                             0,
                             change};
  std::byte* base = bytes.data();
  launch_fill(krl_change_simulated, base, fill);
  return bytes;
}

TEST(TrustedKernels, ChangeOneElementInSixtyFourToACopyOfAnother) {
  const ResolvedTensor t = tensor(DType::kFloat32, ValueKind::kNormal, {30, 100});
  const std::vector<std::byte> bytes = filled_by_kernel(t, 42, Distribution::kAsGiven);
  std::vector<float> before(3000), after(3000);
  std::memcpy(before.data(), bytes.data(), bytes.size());
  const std::set<float> values(before.begin(), before.end());
  std::set<std::size_t> places;
  for (const std::uint64_t change : {1, 2}) {
    const std::vector<std::byte> other = changed(bytes, ValueKind::kNormal, change);
    EXPECT_EQ(other, changed(bytes, ValueKind::kNormal, change));
    std::memcpy(after.data(), other.data(), other.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (after[i] != before[i]) places.insert(i);
      EXPECT_EQ(values.count(after[i]), 1u);
    }
  }
  EXPECT_GT(places.size(), 46u);
  EXPECT_LE(places.size(), 2 * 46u);
  EXPECT_EQ(changed(bytes, ValueKind::kSorted, 1), bytes);
  EXPECT_EQ(changed(bytes, ValueKind::kNormal, 0), bytes);
}

TEST(TrustedKernels, DrawTheMatricesThatTheHostDraws) {
  for (const auto& [name, structure] : kStructures) {
    for (const ValueKind values : {ValueKind::kNormal, ValueKind::kUniform, ValueKind::kIntegers}) {
      ResolvedTensor t = tensor(DType::kFloat32, values, {3, 9, 9});
      t.structure = structure;
      std::vector<std::byte> right(static_cast<std::size_t>(t.bytes()));
      fill_input(t, 42, Distribution::kStructured, right);
      EXPECT_EQ(filled_by_kernel(t, 42, Distribution::kStructured), right)
          << name << " " << name_of(values);
    }
  }
}

struct Found {
  gpu::DeviceReport kernel{};
  Comparison host;
};

// Compares `got` with expected values of which some are special, by both.
Found compare_reals(DType dtype, std::vector<std::byte> got, const ExpectedOutput& expected,
                    const Tolerance& tolerance) {
  Found found;
  const ResolvedTensor t =
      tensor(dtype, ValueKind::kNormal, {static_cast<std::int64_t>(expected.reals.size())});
  found.host = compare_output(t, got, expected, tolerance);
  const std::byte* bytes = got.data();
  auto type = static_cast<std::int32_t>(dtype);
  std::uint64_t elements = expected.reals.size();
  const double* reals = expected.reals.data();
  const float* rounding = expected.rounding.data();
  double atol = tolerance.atol, rtol = tolerance.rtol;
  gpu::DeviceReport* report = &found.kernel;
  launch(krl_compare_reals_simulated, 1,
         {&bytes, &type, &elements, &reals, &rounding, &atol, &rtol, &report});
  return found;
}

TEST(TrustedKernels, CompareRealsAsTheHostDoes) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  constexpr double kSpecial[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-6, 7e4};
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    ExpectedOutput expected;
    std::vector<std::byte> got(500 * static_cast<std::size_t>(size_of(dtype)));
    for (std::byte& byte : got) byte = static_cast<std::byte>(random());  // NaN among them
    for (std::size_t i = 0; i < 500; ++i) {
      expected.reals.push_back(i % 10 == 0 ? kSpecial[i / 10 % 7] : normal(random));
      expected.rounding.push_back(i % 13 == 0 ? 0 : 1e-3f);
    }
    const Found found = compare_reals(dtype, got, expected, {0.5, 0.5});
    EXPECT_GT(found.host.wrong, 0);
    EXPECT_LT(found.host.wrong, 500);
    EXPECT_EQ(found.kernel.wrong, static_cast<std::uint64_t>(found.host.wrong)) << name_of(dtype);
    EXPECT_EQ(found.kernel.max_abs_error, found.host.max_abs_error) << name_of(dtype);
    EXPECT_EQ(found.kernel.max_rel_error, found.host.max_rel_error) << name_of(dtype);
  }
}

TEST(TrustedKernels, ReadEveryHalfAsTheHostDoes) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    ExpectedOutput expected;
    std::vector<std::byte> got(2 << 16);
    for (std::uint32_t bits = 0; bits < 1 << 16; ++bits) {
      const auto half = static_cast<std::uint16_t>(bits);
      std::memcpy(got.data() + 2 * bits, &half, sizeof half);
      // The value itself: not one may be wrong, at no tolerance.
      expected.reals.push_back(
          dtype == DType::kFloat16
              ? (((bits >> 10) & 31) == 31
                     ? ((bits & 1023) != 0     ? NAN
                        : (bits & 0x8000) != 0 ? -INFINITY
                                               : INFINITY)
                     : ((bits & 0x8000) != 0 ? -1.0 : 1.0) *
                           (((bits >> 10) & 31) == 0
                                ? std::ldexp(bits & 1023, -24)
                                : std::ldexp((bits & 1023) + 1024,
                                             static_cast<int>((bits >> 10) & 31) - 25)))
              : static_cast<double>(std::bit_cast<float>(bits << 16)));
      expected.rounding.push_back(0);
    }
    EXPECT_EQ(compare_reals(dtype, got, expected, {0, 0}).kernel.wrong, 0u) << name_of(dtype);
  }
}

TEST(TrustedKernels, CompareIntegersExactly) {
  std::vector<std::int32_t> got = {0, 1, -5, 7, 2147483647};
  std::vector<std::int64_t> right = {0, 1, -4, 7, 2147483648, 3, 0, -5, 7, 0};
  const std::int32_t* values = got.data();
  const std::int64_t* expected = right.data();
  auto type = static_cast<std::int32_t>(DType::kInt32);
  for (std::uint64_t choices : {1, 2}) {
    std::uint64_t elements = got.size();
    gpu::DeviceReport report{}, *at = &report;
    launch(krl_compare_integers_simulated, 1,
           {&values, &type, &elements, &expected, &choices, &at});
    EXPECT_EQ(report.wrong, 3 - choices);
    EXPECT_EQ(report.max_abs_error, 1);
  }
}

TEST(TrustedKernels, FindWhatIsNoLongerPoisonOrAsItWas) {
  std::vector<std::byte> memory(256, std::byte{0xff}), original(40, std::byte{3});
  std::memcpy(memory.data() + 64, original.data(), original.size());
  const auto changed = [&] {
    return changes_in(
        memory, {{64, 40, reinterpret_cast<std::uint64_t>(original.data())}, {0, 64}, {104, 99}});
  };
  EXPECT_EQ(changed(), (std::vector<bool>{false, false, false}));
  for (const auto& [at, expected] :
       std::vector<std::pair<std::size_t, std::vector<bool>>>{{64, {true, false, false}},
                                                              {103, {true, false, false}},
                                                              {0, {false, true, false}},
                                                              {63, {false, true, false}},
                                                              {104, {false, false, true}},
                                                              {202, {false, false, true}},
                                                              {203, {false, false, false}}}) {
    const std::byte before = std::exchange(memory[at], std::byte{0x7f});
    EXPECT_EQ(changed(), expected) << at;
    memory[at] = before;
  }
}

TEST(TrustedKernels, PutThePoisonThatIsDefined) {
  for (std::uint64_t number = 0; number < 12; ++number) {
    std::vector<std::byte> memory(40), right(40);
    for (std::uint64_t i = 0; i < 10; ++i) {
      const std::uint32_t word = poison_word(poison_of(number, 0), number, i);
      std::memcpy(right.data() + 4 * i, &word, sizeof word);
    }
    right[39] = std::byte{};
    const gpu::DeviceFill fill{0, 39, 1, number, 0, 0, 0, gpu::kFillPoison};
    std::byte* base = memory.data();
    launch_fill(krl_fill_simulated, base, fill);
    EXPECT_EQ(memory, right) << number;
    const gpu::DeviceRange range{0, 39, 0, gpu::kNone, number},
        other{0, 39, 0, gpu::kNone, number + 1};
    EXPECT_EQ(changes_in(memory, {range, other}), (std::vector<bool>{false, true})) << number;
  }
}

// Guards that begin and end anywhere, as they do behind a tensor.
TEST(TrustedKernels, FindEveryByteOfAGuardThatChanged) {
  std::vector<std::byte> arena(512);
  put_away(arena, {{0, gpu::kNone}}, arena.size());
  for (const auto& [offset, bytes] :
       {std::pair<std::uint64_t, std::uint64_t>{0, 512}, {3, 100}, {8, 64}, {13, 3}, {501, 11}}) {
    const std::vector<gpu::DeviceRange> guard = {{offset, bytes, 0, offset}};
    EXPECT_EQ(changes_in(arena, guard), std::vector<bool>{false}) << offset;
    for (std::uint64_t at = 0; at < arena.size(); ++at) {
      const std::byte before = std::exchange(arena[at], ~arena[at]);
      EXPECT_EQ(changes_in(arena, guard).front(), at >= offset && at < offset + bytes) << at;
      arena[at] = before;
    }
  }
}

TEST(TrustedKernels, NoTwoWordsOfGuardsAreEqualAndNoneIsPoison) {
  std::vector<std::byte> arena(1 << 16);
  put_away(arena, {{0, gpu::kNone}}, arena.size());
  std::set<std::uint64_t> words = {~std::uint64_t{0}};
  for (std::size_t i = 0; i < arena.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, arena.data() + i, sizeof word);
    EXPECT_EQ(word, gpu::guard_at(i / 8, {kStart, kMask}));
    words.insert(word);
  }
  EXPECT_EQ(words.size(), arena.size() / 8 + 1);
}

// What is kept shows neither where it was nor where it is; who has the key finds it again.
TEST(TrustedKernels, PutSetsAwayAndFetchThem) {
  std::vector<std::byte> arena(2048);
  put_away(arena, {{0, gpu::kNone}}, arena.size());
  const std::vector<std::byte> guards = arena;
  std::vector<std::byte> set(128);
  for (std::size_t i = 0; i < set.size(); ++i) set[i] = static_cast<std::byte>(i);
  const std::vector<gpu::DeviceMove> moves = {{256, 1024}, {768, 1536}};
  for (const gpu::DeviceMove& move : moves) {
    std::memcpy(arena.data() + move.place, set.data(), set.size());
  }
  put_away(arena, moves, set.size());
  EXPECT_TRUE(std::equal(arena.begin(), arena.begin() + 1024, guards.begin()));
  EXPECT_FALSE(std::equal(arena.begin() + 1024, arena.begin() + 1152, set.begin()));
  EXPECT_FALSE(std::equal(arena.begin() + 1024, arena.begin() + 1152, arena.begin() + 1536));

  std::vector<std::byte> copies(2 * set.size());
  std::byte *at = arena.data(), *to = copies.data();
  const gpu::DeviceMove* first = moves.data();
  std::uint64_t bytes = set.size(), start = kStart, mask = kMask;
  launch(krl_fetch_simulated, 2, {&at, &first, &bytes, &start, &mask, &to});
  EXPECT_TRUE(std::equal(set.begin(), set.end(), copies.begin()));
  EXPECT_TRUE(std::equal(set.begin(), set.end(), copies.begin() + 128));
  EXPECT_EQ(arena, guards);
}

std::uint64_t wrong_elements(DType dtype, const std::vector<float>& got,
                             const std::vector<float>& right, double atol, double rtol,
                             std::vector<float> rounding = {}) {
  const bool rounds = !rounding.empty();
  rounding.resize(right.size());
  const gpu::DeviceComparison comparison{
      reinterpret_cast<std::uint64_t>(got.data()),
      reinterpret_cast<std::uint64_t>(right.data()),
      rounds ? reinterpret_cast<std::uint64_t>(rounding.data()) : 0,
      got.size(),
      atol,
      rtol,
      static_cast<std::int32_t>(dtype),
      is_floating(dtype) ? 1 : 0};
  const gpu::DeviceComparison* first = &comparison;
  std::uint64_t wrong = 0, *at = &wrong;
  launch(krl_compare_launches_simulated, 1, {&first, &at});
  return wrong;
}

TEST(TrustedKernels, CompareLaunchesWithinATolerance) {
  const std::vector<float> right = {0, 1, -2, INFINITY, NAN, 3};
  EXPECT_EQ(wrong_elements(DType::kFloat32, right, right, 0, 0), 0u);
  EXPECT_EQ(wrong_elements(DType::kInt32, right, right, 0, 0), 0u);
  const std::vector<float> near = {0.1f, 1.1f, -2.3f, INFINITY, NAN, 3};
  EXPECT_EQ(wrong_elements(DType::kFloat32, near, right, 0.11, 0.1), 0u);
  EXPECT_EQ(wrong_elements(DType::kFloat32, near, right, 0.11, 0), 1u);
  EXPECT_EQ(wrong_elements(DType::kFloat32, near, right, 0.11, 0, {0, 0, 0.2f}), 0u);
  EXPECT_EQ(wrong_elements(DType::kFloat32, near, right, 0.11, 0, {0.2f}), 1u) << "another's";
  EXPECT_EQ(wrong_elements(DType::kInt32, near, right, 9, 9), 3u);
  const std::vector<float> special = {NAN, INFINITY, -2, -INFINITY, 0, NAN};
  EXPECT_EQ(wrong_elements(DType::kFloat32, special, right, 9, 9), 5u);
}

}  // namespace
}  // namespace krl::cuda
