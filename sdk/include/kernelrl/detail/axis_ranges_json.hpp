// The ranges of a task's axes to and from JSON; see task_definition.hpp, which includes this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <kernelrl/spelling.hpp>
#include <kernelrl/task_definition.hpp>

namespace krl {

// Reads `ranges` into a definition whose axes, cases and hold-outs have been read, and adds errors to
// its problems.
class AxisRangesReader {
 public:
  using Json = nlohmann::ordered_json;

  explicit AxisRangesReader(ReadDefinition& definition) : definition_(definition) {}

  void read(const Json& json) {
    const auto ranges = json.find("ranges");
    if (ranges == json.end()) return;
    if (!ranges->is_object())
      return problem("ranges", "'ranges' must be a table: ranges = { n = [1, 4096] }");
    refuse_unknown_axes(*ranges);
    for (const std::string& axis : variables()) {
      const auto range = ranges->find(axis);
      if (range == ranges->end()) {
        problem("ranges",
                "axis '" + axis + "' has no range; give ranges for all variable axes, or for none");
      } else {
        read_range(axis, *range);
      }
    }
    require_within("cases", task().cases);
    require_within("real", task().real);
    require_within("holdout", task().holdout);
  }

 private:
  TaskDefinition& task() { return definition_.task; }

  void problem(std::string path, std::string message, bool at_key = false) {
    definition_.problems.push_back({std::move(path), std::move(message), 0, at_key});
  }

  std::vector<std::string> variables() {
    std::vector<std::string> names;
    for (const Axis& axis : task().axes) {
      if (axis.is_variable()) names.push_back(axis.name);
    }
    return names;
  }

  void refuse_unknown_axes(const Json& ranges) {
    const std::vector<std::string> known = variables();
    for (const auto& entry : ranges.items()) {
      if (std::find(known.begin(), known.end(), entry.key()) != known.end()) continue;
      problem("ranges." + entry.key(),
              "'" + entry.key() + "' is not a variable axis" + did_you_mean(entry.key(), known),
              true);
    }
  }

  void read_range(const std::string& axis, const Json& json) {
    const std::string path = "ranges." + axis;
    const auto is_size = [](const Json& size) {
      return size.is_number_integer() && size.get<std::int64_t>() >= 1;
    };
    const bool sizes = json.is_array() && (json.size() == 2 || json.size() == 3) &&
                       std::all_of(json.begin(), json.end(), is_size);
    if (!sizes) {
      return problem(path,
                     "a range is two positive integers, both inclusive, and optionally a step: "
                     "[1, 4096] or [32, 4096, 32]");
    }
    AxisRange range{axis, json[0].get<std::int64_t>(), json[1].get<std::int64_t>(), 1};
    if (json.size() == 3) range.step = json[2].get<std::int64_t>();
    if (range.low > range.high) {
      return problem(path, "the range is empty: " + std::to_string(range.low) + " is above " +
                               std::to_string(range.high));
    }
    task().ranges.push_back(std::move(range));
  }

  void require_within(const std::string& list, const std::vector<IntegerNames>& cases) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      for (const AxisRange& range : task().ranges) {
        const auto size = cases[i].find(range.axis);
        if (size == cases[i].end() || range.contains(size->second)) continue;
        problem(list + "[" + std::to_string(i) + "]." + range.axis,
                range.axis + " = " + std::to_string(size->second) + " is not in its range");
      }
    }
  }

  ReadDefinition& definition_;
};

namespace detail {

inline void read_axis_ranges(const nlohmann::ordered_json& json, ReadDefinition& definition) {
  AxisRangesReader(definition).read(json);
}

inline nlohmann::ordered_json to_json(const AxisRange& range) {
  nlohmann::ordered_json json = {range.low, range.high};
  if (range.step != 1) json.push_back(range.step);
  return json;
}

}  // namespace detail

}  // namespace krl
