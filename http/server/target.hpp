// The parts of a request's target, "/v1/tasks/a%2Fb?wait=5". Pure.
#pragma once

#include <string>
#include <string_view>

namespace krl::http {

// The path with its escapes decoded; as it is, where they are none.
std::string decoded_path(std::string_view target);
// The decoded value of the first parameter of this name; empty if there is none.
std::string query_value(std::string_view target, std::string_view name);

}  // namespace krl::http
