// Waiting inside a coroutine: an episode reads like plain code, and its thread is free while it
// waits.
//
// Stackful coroutines (boost::asio::spawn), since g++ 12 miscompiles C++20 ones: a temporary in a
// co_await operand is copied bitwise and destroyed twice.
#pragma once

#include <sanitizer/asan_interface.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <memory>
#include <utility>

namespace krl::core {

using Yield = boost::asio::yield_context;

// Suspends the coroutine and calls `start(resume)`. `resume(T)` may be called once, from any
// thread; the coroutine then continues on `io` with that value.
template <class T, class Start>
T suspend(boost::asio::io_context& io, Yield yield, Start start) {
  return boost::asio::async_initiate<Yield, void(T)>(
      [&io, &start](auto handler) {
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        // Keeps io.run() going while nothing but this coroutine waits.
        auto work = std::make_shared<
            boost::asio::executor_work_guard<boost::asio::io_context::executor_type>>(
            io.get_executor());
        start([&io, shared, work](T value) {
          boost::asio::post(io, [shared, work, value = std::move(value)]() mutable {
            std::move (*shared)(std::move(value));
          });
        });
      },
      yield);
}

// Runs `function` on `pool` and returns its value; the coroutine waits meanwhile. `function` must
// not throw.
template <class Function>
auto run_on(boost::asio::thread_pool& pool, boost::asio::io_context& io, Yield yield,
            Function function) {
  using T = decltype(function());
  return suspend<T>(io, yield, [&](auto resume) {
    boost::asio::post(pool, [function = std::move(function), resume = std::move(resume)]() mutable {
      resume(function());
    });
  });
}

// The stacks that coroutines run on: of a fixed size, with a guard page below, so that running out
// is a fault at its place.
class CoroutineStack {
 public:
  using traits_type = boost::context::protected_fixedsize_stack::traits_type;

  explicit CoroutineStack(std::size_t bytes) : pages_(bytes) {}

  boost::context::stack_context allocate() { return pages_.allocate(); }

  // A coroutine's last frames are left by a jump and keep AddressSanitizer's marks. Otherwise the
  // marks would stay on the addresses, even for memory that is mapped there next.
  void deallocate(boost::context::stack_context& stack) noexcept {
    ASAN_UNPOISON_MEMORY_REGION(static_cast<char*>(stack.sp) - stack.size, stack.size);
    pages_.deallocate(stack);
  }

 private:
  boost::context::protected_fixedsize_stack pages_;
};

}  // namespace krl::core
