// A measurement of a policy as text for people. Pure functions.
#pragma once

#include <string>

#include "core/measure/measurement.hpp"

namespace krl::cli {
using namespace core;

// The figures of the set at every k, a row a turn where there are several, a row a task.
std::string describe_measurement(const Measurement& measurement);

}  // namespace krl::cli
