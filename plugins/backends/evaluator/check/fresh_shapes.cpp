#include "plugins/backends/evaluator/check/fresh_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/values.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "plugins/backends/evaluator/check/inputs.hpp"
#include "plugins/backends/evaluator/task_origin.hpp"

namespace krl::evaluator {
namespace {

enum SizeKind : std::size_t { kLeast, kFew, kOdd, kBeyond, kFarthest };

// A shape is large from this share of the limit on.
constexpr double kLarge = 0.8;

// Attempts to draw a new shape within the work limit; whatever was found by then is used.
constexpr int kAttempts = 200;

// Elements of a tensor that 16 bits cannot count, in a shape of kLarge times as much.
constexpr double kBeyond16Bits = 66'000 / kLarge;

// Shapes of a set whose axes all lie at borders of tiles.
constexpr std::size_t kCorners = 2;

// Pools smaller than this are filled with arbitrary shapes.
constexpr std::size_t kFewShapes = 3 * kShapeSets;

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}

  // Draws from 0 … bound - 1.
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(mix_seed(seed_, counter_++) %
                                     static_cast<std::uint64_t>(bound));
  }
  // Draws from low … high with a uniformly distributed logarithm.
  std::int64_t spread(std::int64_t low, std::int64_t high) {
    if (high <= low) return low;
    const double share = static_cast<double>(below(1 << 20)) / (1 << 20);
    const double first = static_cast<double>(low), end = static_cast<double>(high) + 1;
    return std::min(high, static_cast<std::int64_t>(first * std::pow(end / first, share)));
  }

 private:
  const std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

// `shown`: the largest size that the axis has in a small case; `most`: that the work allows.
std::int64_t size_of_kind(SizeKind kind, const AxisRange& range, std::int64_t shown,
                          std::int64_t most, Random& random) {
  switch (kind) {
    case kLeast:
      return range.low;
    case kFew:
      return range.low + range.step * random.spread(1, 30);
    case kOdd:
      return random.spread(std::min<std::int64_t>(33, shown), shown) | 1;
    case kBeyond:
      return random.spread(shown + 1, most) | 1;
    case kFarthest:
      break;
  }
  return std::max(shown + 1, most - random.below(std::max<std::int64_t>(most / 16, 1)));
}

struct Tiles {
  std::int64_t size, count;
};

// The largest tile that fits, and is no larger than `tile`, as often as it fits; 0 if none does.
Tiles tiles_within(std::int64_t most, std::int64_t tile) {
  while (tile > most) tile /= 2;
  return tile < 8 ? Tiles{0, 0} : Tiles{tile, most / tile};
}

std::int64_t within(const AxisRange& range, std::int64_t size) {
  size = std::clamp(size, range.low, range.high);
  return size - (size - range.low) % range.step;
}

// The work of an evaluation: a product of matrices is more than its elements, and a square more
// than its sides.
struct Work {
  double product = 1;  // product of the variable axes
  double elements = 0, operations = 0;

  Work() = default;
  Work(const TaskDefinition& task, const ResolvedCase& shape)
      : elements(static_cast<double>(elements_of(shape))), operations(shape.operations) {
    for (const AxisRange& range : task.ranges)
      product *= static_cast<double>(shape.axes.at(range.axis));
  }

  // Returns this work relative to `times` the other work and `times_operations` its operations:
  // above 1 if it is more.
  double share_of(const Work& other, double times, double times_operations) const {
    const bool is_linear = operations * other.elements <= other.operations * elements;
    return std::max({product / (times * other.product), elements / (times * other.elements),
                     is_linear ? 0 : operations / (times_operations * other.operations)});
  }
};

// Limits on the work of a shape, as multiples of the largest case.
struct Budget {
  double work, operations;
};

class PoolMaker {
 public:
  PoolMaker(const TaskDefinition& task, const PoolLimits& limits)
      : task_(task), limits_(limits), random_(mix_seed(0, task.id)) {
    for (const auto* list : {&task.cases, &task.real, &task.holdout}) {
      for (const IntegerNames& values : *list) named_.push_back(values);
    }
    double longest_tensor = 1;
    for (const IntegerNames& values : task.*limits.cases) {
      const ResolvedCase shape = resolved(values);
      const Work work(task, shape);
      for (const ResolvedTensor& tensor : shape.tensors)
        longest_tensor = std::max(longest_tensor, static_cast<double>(tensor.elements));
      largest_.product = std::max(largest_.product, work.product);
      largest_.elements = std::max(largest_.elements, work.elements);
      largest_.operations = std::max(largest_.operations, work.operations);
    }
    far_ = std::clamp(kBeyond16Bits / longest_tensor, limits.work, limits.far);
    set_longest();
  }

  FreshPool make() {
    for (std::size_t s = 0; s < kShapeSets; ++s) {
      std::vector<std::size_t>& set = pool_.sets.emplace_back();
      for (std::size_t first = 0; first < kSizeKinds; ++first) {
        add_once(find(first, 1 + s % (kSizeKinds - 1)), set);
      }
      add_borders(set);
      if (far_ > limits_.work) add_large(s, set);
    }
    if (pool_.shapes.size() < kFewShapes) fill_up();
    std::erase_if(pool_.sets, [](const auto& set) { return set.empty(); });
    return std::move(pool_);
  }

 private:
  static void add_once(std::optional<std::size_t> shape, std::vector<std::size_t>& set) {
    if (shape && std::find(set.begin(), set.end(), *shape) == set.end()) set.push_back(*shape);
  }

  ResolvedCase resolved(const IntegerNames& values) const {
    auto shape = resolve_case(task_, values);
    if (shape) return *std::move(shape);
    std::string sizes;
    for (const AxisRange& range : task_.ranges)
      sizes += range.axis + " = " + std::to_string(values.at(range.axis)) + ", ";
    invalid_argument(origin_of(task_, "ranges") + ": at " + sizes + "which the ranges allow, " +
                     shape.error().path + ": " + shape.error().message);
  }

  static std::int64_t largest(const std::vector<IntegerNames>& cases, const std::string& axis) {
    std::int64_t most = 1;
    for (const IntegerNames& values : cases) most = std::max(most, values.at(axis));
    return most;
  }
  std::int64_t largest_shown(const std::string& axis) const { return largest(task_.cases, axis); }

  void set_longest() {
    IntegerNames least;
    for (const AxisRange& range : task_.ranges) least[range.axis] = range.low;
    for (const AxisRange& range : task_.ranges) {
      IntegerNames longer = least;
      longer[range.axis] = std::min(range.low + range.step, range.high);
      const bool along_rows = has_longer_rows(resolved(longer), resolved(least));
      if (along_rows) along_rows_.insert(range.axis);
      longest_[range.axis] = std::max(along_rows ? limits_.row : 0,
                                      limits_.stretch * largest(task_.*limits_.cases, range.axis));
    }
  }

  static bool has_longer_rows(const ResolvedCase& after, const ResolvedCase& before) {
    for (std::size_t t = 0; t < before.tensors.size(); ++t) {
      const auto& shape = before.tensors[t].shape;
      if (shape.size() > 1 && shape.back() != after.tensors[t].shape.back()) return true;
    }
    return false;
  }

  bool is_stretched(const IntegerNames& values) const {
    return std::any_of(values.begin(), values.end(),
                       [&](const auto& axis) { return axis.second > longest_.at(axis.first); });
  }

  Budget usual() const { return {limits_.work, limits_.work}; }

  // The budget of a shape with an axis of kind kFarthest.
  Budget far(bool is_first_axis) {
    constexpr std::int64_t kSteps = 1 << 10;
    const double share =
        is_first_axis ? 1 : static_cast<double>(random_.below(kSteps)) / double{kSteps};
    return {limits_.work * std::pow(far_ / limits_.work, share),
            limits_.work * std::pow(limits_.far_operations / limits_.work, share)};
  }

  double share_of(const ResolvedCase& shape, const Budget& budget) const {
    return Work(task_, shape).share_of(largest_, budget.work, budget.operations);
  }

  // The longest that an axis may be beside the others, about. As work grows with it, the next guess
  // is in proportion, or after one that was too long halfway by the number of digits.
  std::int64_t most_within(IntegerNames values, const AxisRange& range,
                           const Budget& budget) const {
    const auto share_at = [&](std::int64_t size) {
      values[range.axis] = size;
      return share_of(resolved(values), budget);
    };
    std::int64_t fits = range.low, too_long = std::min(longest_.at(range.axis), range.high) + 1;
    double share = share_at(fits), factor = 1 / share;
    while (share < 0.97) {
      const double guess = std::min(static_cast<double>(fits) * factor, 1.0 * (too_long - 1));
      const std::int64_t next = within(range, std::max<std::int64_t>(guess, fits + range.step));
      if (next <= fits || next >= too_long) break;
      if (const double share_there = share_at(next); share_there > 1) {
        too_long = next;
        factor = std::sqrt(static_cast<double>(too_long) / static_cast<double>(fits));
      } else {
        fits = next;
        share = share_there;
        factor = 1 / share;
      }
    }
    return fits;
  }

  SizeKind kind_of(std::size_t first, std::size_t axis, std::size_t shift) const {
    return static_cast<SizeKind>((first + axis * shift) % kSizeKinds);
  }

  Budget budget_of(std::size_t first, std::size_t shift) {
    for (std::size_t a = 0; a < task_.ranges.size(); ++a)
      if (kind_of(first, a, shift) == kFarthest) return far(a == 0);
    return usual();
  }

  // Sizes beyond the shown ones come last, as large as the others permit.
  IntegerNames draw(std::size_t first, std::size_t shift, const Budget& budget) {
    IntegerNames values;
    for (const AxisRange& range : task_.ranges) values[range.axis] = range.low;
    for (const bool beyond : {false, true}) {
      for (std::size_t a = 0; a < task_.ranges.size(); ++a) {
        const AxisRange& range = task_.ranges[a];
        const SizeKind kind = kind_of(first, a, shift);
        if ((kind >= kBeyond) != beyond) continue;
        const std::int64_t most = beyond ? most_within(values, range, budget) : 0;
        values[range.axis] =
            within(range, size_of_kind(kind, range, largest_shown(range.axis), most, random_));
      }
    }
    return values;
  }

  // Adds shapes that leave a partial tile at the end of one axis, and of all axes at once.
  void add_borders(std::vector<std::size_t>& set) {
    for (const AxisRange& range : task_.ranges) {
      for (const bool behind : {false, true}) add_once(find_border(range, behind), set);
    }
    for (std::size_t c = 0; task_.ranges.size() > 1 && c < kCorners; ++c)
      add_once(find_corner(), set);
  }

  // Chooses the size of an `other` axis next to a long `axis`. Two and six leave a remainder where
  // four elements are read at once. Next to a row, two and one leave it as long as possible, unless
  // elements of rows are multiplied.
  std::int64_t few_beside(const AxisRange& axis, const AxisRange& other) {
    if (along_rows_.contains(axis.axis) && task_.work.operations.empty())
      return &other == &task_.ranges.front() ? 2 : 1;
    return task_.ranges.size() < 3 && random_.below(2) == 0 ? 6 : 2;
  }

  // An axis that ends with a tile, one of the last that the work allows, or one step behind any;
  // with few of all others.
  std::optional<std::size_t> find_border(const AxisRange& range, bool behind) {
    std::optional<std::size_t> known;
    for (int attempt = 0; attempt < kAttempts && !known; ++attempt) {
      IntegerNames values;
      for (const AxisRange& other : task_.ranges)
        values[other.axis] =
            within(other, behind ? random_.spread(1, 8) : few_beside(range, other));
      const std::int64_t beyond = behind ? range.step : 0;
      const std::int64_t most = most_within(values, range, usual()) - beyond;
      const bool by_largest = task_.ranges.size() == 1 && random_.below(2) == 0;
      const Tiles tiles = tiles_within(most, by_largest ? 16384 : 1024);
      if (tiles.count == 0) continue;
      const std::int64_t least = behind ? 1 : (3 * tiles.count + 1) / 4;
      values[range.axis] = within(range, tiles.size * random_.spread(least, tiles.count) + beyond);
      if (const auto at = places_.find(values); at != places_.end()) known = at->second;
      if (const auto added = add(values, usual())) return added;
    }
    return known;
  }

  // Axes that end with a tile of 32 to 128, or one step behind it; a quarter of them short.
  std::optional<std::size_t> find_corner() {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      IntegerNames values;
      for (const AxisRange& range : task_.ranges) {
        const std::int64_t tile = 32 << random_.below(3), beyond = random_.below(2) * range.step;
        const bool is_short = random_.below(4) == 0;
        values[range.axis] = within(range, is_short ? random_.spread(1, 8) : tile + beyond);
      }
      if (const auto added = add(values, usual())) return added;
    }
    return {};
  }

  // A set whose shapes with an axis far beyond are all thin gets one that is not.
  void add_large(std::size_t turn, std::vector<std::size_t>& set) {
    const Budget most = far(true), nearly{kLarge * most.work, kLarge * most.operations};
    const bool has_one = std::any_of(set.begin(), set.end(), [&](std::size_t shape) {
      return share_of(pool_.shapes[shape], nearly) > 1;
    });
    for (int attempt = 1; !has_one && attempt <= kAttempts; ++attempt) {
      IntegerNames values;
      for (const AxisRange& range : task_.ranges) {
        const std::int64_t shown = largest_shown(range.axis);
        values[range.axis] = within(range, random_.spread((shown + 1) / 2, shown) | 1);
      }
      const AxisRange& longest = task_.ranges[turn++ % task_.ranges.size()];
      values[longest.axis] = most_within(values, longest, most);
      if (share_of(resolved(values), nearly) <= 1 && attempt < kAttempts) continue;
      if (const auto shape = add(values, most)) return set.push_back(*shape);
    }
  }

  // With many axes, shapes of the wanted kinds rarely fit the work limit. Falls back to sizes of
  // arbitrary kinds, each cut to the work that the remaining axes leave if they are small.
  void fill_up() {
    for (std::vector<std::size_t>& set : pool_.sets) {
      for (int attempt = 0; attempt < kAttempts && set.size() < kSizeKinds; ++attempt) {
        if (const auto shape = add(draw_within_work(), usual())) set.push_back(*shape);
      }
    }
  }

  IntegerNames draw_within_work() {
    IntegerNames values;
    double left = limits_.work * largest_.product;
    for (const AxisRange& range : task_.ranges) left /= static_cast<double>(range.low);
    const std::size_t n = task_.ranges.size();
    const auto first = static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(n)));
    for (std::size_t a = 0; a < n; ++a) {  // each axis is the first at times
      const AxisRange& range = task_.ranges[(first + a) % n];
      const auto most = std::min(longest_.at(range.axis),
                                 static_cast<std::int64_t>(left * static_cast<double>(range.low)));
      const auto kind = static_cast<SizeKind>(random_.below(kSizeKinds));
      const std::int64_t size = size_of_kind(kind, range, largest_shown(range.axis), most, random_);
      values[range.axis] = within(range, std::min(size, most));
      left *= static_cast<double>(range.low) / static_cast<double>(values[range.axis]);
    }
    return values;
  }

  // Nothing if the task names the shape, the pool has it, or it is too much work.
  std::optional<std::size_t> add(const IntegerNames& values, const Budget& budget) {
    if (std::find(named_.begin(), named_.end(), values) != named_.end()) return {};
    if (is_stretched(values)) return {};
    ResolvedCase shape = resolved(values);
    if (share_of(shape, budget) > 1) return {};
    if (!places_.emplace(values, pool_.shapes.size()).second) return {};
    pool_.shapes.push_back(std::move(shape));
    return pool_.shapes.size() - 1;
  }

  // A shape whose first axis has the kind `first`: a new one if there is any.
  std::optional<std::size_t> find(std::size_t first, std::size_t shift) {
    std::optional<std::size_t> known;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const Budget budget = budget_of(first, shift);
      const IntegerNames values = draw(first, shift, budget);
      if (const auto at = places_.find(values); at != places_.end()) {
        known = at->second;
        if (first == kLeast && task_.ranges.size() == 1) break;
        continue;
      }
      if (const auto added = add(values, budget)) return added;
    }
    return known;
  }

  const TaskDefinition& task_;
  const PoolLimits& limits_;
  Random random_;
  std::vector<IntegerNames> named_;   // shapes that the task lists
  Work largest_;                      // among the cases that limit the pool
  double far_ = 1;                    // limit on the largest shapes, times the largest work
  IntegerNames longest_;              // upper bounds of the axes
  std::set<std::string> along_rows_;  // axes that make the rows of a tensor longer
  std::map<IntegerNames, std::size_t> places_;  // indices of the pool's shapes
  FreshPool pool_;
};

}  // namespace

std::int64_t elements_of(const ResolvedCase& shape) {
  std::int64_t elements = 0;
  for (const ResolvedTensor& tensor : shape.tensors) elements += tensor.elements;
  return elements;
}

FreshPool make_pool(const TaskDefinition& task, const PoolLimits& limits) {
  if (task.ranges.empty()) return {};
  return PoolMaker(task, limits).make();
}

std::vector<IntegerNames> ends_of_ranges(const TaskDefinition& task) {
  IntegerNames least;
  for (const AxisRange& range : task.ranges) least[range.axis] = range.low;
  std::vector<IntegerNames> ends;
  for (const AxisRange& range : task.ranges) {
    ends.push_back(least);
    ends.back()[range.axis] = range.high - (range.high - range.low) % range.step;
  }
  return ends;
}

}  // namespace krl::evaluator
