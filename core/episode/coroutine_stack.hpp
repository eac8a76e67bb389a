// The stacks that coroutines run on: of a fixed size, with a guard page below, so that running out
// is a fault at its place.
#pragma once

#include <sanitizer/asan_interface.h>

#include <boost/context/protected_fixedsize_stack.hpp>

namespace krl {

class CoroutineStack {
 public:
  using traits_type = boost::context::protected_fixedsize_stack::traits_type;

  explicit CoroutineStack(std::size_t bytes) : pages_(bytes) {}

  boost::context::stack_context allocate() { return pages_.allocate(); }

  // A coroutine's last frames are left by a jump and keep AddressSanitizer's marks. They would
  // otherwise stay on the addresses, whatever is mapped there next.
  void deallocate(boost::context::stack_context& stack) noexcept {
    ASAN_UNPOISON_MEMORY_REGION(static_cast<char*>(stack.sp) - stack.size, stack.size);
    pages_.deallocate(stack);
  }

 private:
  boost::context::protected_fixedsize_stack pages_;
};

}  // namespace krl
