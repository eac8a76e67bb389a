#include "http/base/loop.hpp"

#include <sanitizer/asan_interface.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <future>
#include <kernelrl/broken_pipe_guard.hpp>

namespace krl::http {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kStackBytes = 256 << 10;  // address space; used pages take memory

// Allocates stacks with a guard page below, so that an overflow is a fault at its place.
class GuardedStack {
 public:
  using traits_type = boost::context::protected_fixedsize_stack::traits_type;

  boost::context::stack_context allocate() { return pages_.allocate(); }

  // A coroutine's last frames are left by a jump and keep AddressSanitizer's marks. Otherwise the
  // marks would stay on the addresses, even for memory that is mapped there next.
  void deallocate(boost::context::stack_context& stack) noexcept {
    ASAN_UNPOISON_MEMORY_REGION(static_cast<char*>(stack.sp) - stack.size, stack.size);
    pages_.deallocate(stack);
  }

 private:
  boost::context::protected_fixedsize_stack pages_{kStackBytes};
};

}  // namespace

void start(asio::io_context& io, std::function<void(Yield)> work,
           std::function<void(std::exception_ptr)> ended) {
  // Not left to asio, which would wait in its catch block.
  auto whole = [work = std::move(work), ended = std::move(ended)](Yield yield) {
    std::exception_ptr thrown;
    try {
      work(yield);
    } catch (const boost::context::detail::forced_unwind&) {
      throw;  // the io_context goes, and takes the coroutine with it
    } catch (...) {
      thrown = std::current_exception();
    }
    ended(std::move(thrown));
  };
  // Made by the thread that runs it: ThreadSanitizer counts the calls that a thread is in.
  asio::dispatch(io, [&io, whole = std::move(whole)]() mutable {
    asio::spawn(io, std::allocator_arg, GuardedStack(), std::move(whole), asio::detached);
  });
}

void side_by_side(asio::io_context& io, std::size_t n,
                  const std::function<void(std::size_t, Yield)>& work, Yield yield) {
  std::size_t left = n;
  std::exception_ptr first;
  asio::steady_timer all_ended(io, std::chrono::steady_clock::time_point::max());
  for (std::size_t i = 0; i < n; ++i) {
    start(
        io, [&work, i](Yield inner) { work(i, inner); },
        [&](std::exception_ptr thrown) {
          if (!first) first = std::move(thrown);
          if (--left == 0) all_ended.cancel();
        });
  }
  if (left > 0) {
    boost::system::error_code cancelled;
    all_ended.async_wait(yield[cancelled]);
  }
  if (first) std::rethrow_exception(first);
}

Loop::Loop()
    : thread_([this] {
        const BrokenPipeGuard guard;
        io_.run();
      }) {}

Loop::~Loop() {
  work_.reset();
  thread_.join();
}

void Loop::run_and_wait(const std::function<void(Yield)>& work) {
  std::promise<std::exception_ptr> ended;
  start(io_, work, [&](std::exception_ptr thrown) { ended.set_value(std::move(thrown)); });
  if (const std::exception_ptr thrown = ended.get_future().get()) std::rethrow_exception(thrown);
}

}  // namespace krl::http
