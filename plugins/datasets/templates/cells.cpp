#include "plugins/datasets/templates/cells.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>

namespace krl::templates {
namespace {

constexpr std::size_t kFewestShown = 3;

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// The operations of each mechanism.
Cells transposed(const Cells& cells) {
  Cells by_mechanism;
  for (const auto& [operation, mechanisms] : cells) {
    for (const std::string& mechanism : mechanisms) by_mechanism[mechanism].insert(operation);
  }
  return by_mechanism;
}

std::set<std::string> keys_of(const Cells& cells) {
  std::set<std::string> keys;
  for (const auto& [key, values] : cells) keys.insert(key);
  return keys;
}

// Adds the cell, and removes it from those that are shown, by mechanism.
void withhold_cell(const std::string& cell, const Cells& known, Cells& shown, Cells& withheld) {
  const std::size_t colon = std::min(cell.find(':'), cell.size());
  const std::string mechanism = cell.substr(0, colon);
  const std::string operation = cell.substr(std::min(colon + 1, cell.size()));
  const auto operations = known.find(mechanism);
  if (operations == known.end()) {
    invalid_argument("withhold: '" + cell +
                     "' names no mechanism; write MECHANISM:OPERATION, with " +
                     joined(keys_of(known)));
  }
  if (operations->second.count(operation) == 0) {
    invalid_argument("withhold: '" + cell + "': no pair of this dataset shows " + mechanism +
                     " on that operation; those that do: " + joined(operations->second));
  }
  shown[mechanism].erase(operation);
  withheld[operation].insert(mechanism);
}

}  // namespace

bool has_mechanisms(const Family& family) {
  return std::any_of(family.variants.begin(), family.variants.end(),
                     [](const Variant& variant) { return !variant.mechanisms.empty(); });
}

Cells cells_of(const std::vector<Family>& families) {
  Cells cells;
  for (const Family& family : families) {
    for (const Operation& operation : family.operations) {
      for (const Variant& variant : family.variants) {
        if (variant.fits(operation))
          cells[operation.id].insert(variant.mechanisms.begin(), variant.mechanisms.end());
      }
    }
  }
  return cells;
}

Cells withheld_cells(const std::vector<std::string>& withhold, bool mechanisms,
                     const std::vector<Family>& families) {
  Cells withheld;
  if (withhold.empty()) return withheld;
  if (!mechanisms) invalid_argument("withhold needs mechanisms = true");
  const Cells known = transposed(cells_of(families));
  Cells shown = known;
  for (const std::string& cell : withhold) withhold_cell(cell, known, shown, withheld);
  const std::set<std::string> concerned = keys_of(transposed(withheld));
  for (const std::string& mechanism : concerned) {
    if (shown[mechanism].size() >= kFewestShown) continue;
    invalid_argument("withhold leaves '" + mechanism + "' on " +
                     std::to_string(shown[mechanism].size()) +
                     " operations of this dataset, fewer than " + std::to_string(kFewestShown) +
                     ": withhold fewer of its cells, or let `only`, `except` and `families` keep "
                     "more of " +
                     joined(known.at(mechanism)));
  }
  return withheld;
}

}  // namespace krl::templates
