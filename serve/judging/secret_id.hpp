// Ids that nobody can guess, for what a client may come back to.
#pragma once

#include <string>

namespace krl::serve {

// 32 digits and lower-case letters; another one at each call. Any thread.
std::string secret_id();

}  // namespace krl::serve
