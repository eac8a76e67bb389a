#include "plugins/files/descriptor.hpp"

#include <unistd.h>

namespace krl::files {

void Descriptor::reset() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

}  // namespace krl::files
