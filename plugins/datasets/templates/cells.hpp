// The matrix of mechanisms and operations, and the cells of it that a warm start withholds.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {

// Mechanisms by the id of an operation.
using Cells = std::map<std::string, std::set<std::string>>;

// True if any variant of the family has mechanisms.
bool has_mechanisms(const Family& family);

// The cells that the families can show.
Cells cells_of(const std::vector<Family>& families);

// Reads the option `withhold`: "MECHANISM:OPERATION". Throws krl::Failure for a cell that the
// families do not have, and for a mechanism that they would then show on fewer than three
// operations: it could not be learned elsewhere. `mechanisms`: the option of that name.
Cells withheld_cells(const std::vector<std::string>& withhold, bool mechanisms,
                     const std::vector<Family>& families);

}  // namespace krl::templates
