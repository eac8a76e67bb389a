// The owner of a container: a label that shows whether the process that created it is still alive,
// so that leftovers of killed processes are found.
#pragma once

#include <string>

namespace krl::docker {

// The mark of this process: of the machine's boot, the namespace of process ids, our id, our start.
std::string mark_of_this_process();

// True if the process of that mark is certainly gone; false if it lives, or if that cannot be seen
// from here (another namespace), or if this is not a mark.
bool owner_is_gone(const std::string& mark);

}  // namespace krl::docker
