// A thread that runs coroutines: what a plugin's instance waits with. The plugin's calls block, so
// each hands its work to the loop and waits for it; all of them share one client.
//
//   Loop loop;
//   Client client(loop.io(), parse_url(url), options);   // goes before the loop
//   Answer answer = loop.run([&](Yield yield) { return client.ask(request, patience, yield); });
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/spawn.hpp>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace krl::http {

// The means by which coroutines wait: stackful ones of boost::asio::spawn, because g++ 12
// miscompiles those of C++20.
//
// A coroutine must not wait in a catch block, nor in a destructor run by an exception: the
// runtime's list of exceptions belongs to the thread, and another coroutine would end the wrong
// one.
using Yield = boost::asio::yield_context;

class Loop {
 public:
  Loop();
  // Waits for all coroutines to end.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  boost::asio::io_context& io() { return io_; }

  // Runs work(yield) as a coroutine of the loop and waits for it; returns its result and passes on
  // its exceptions. Any thread but the loop's own, any number at once.
  template <class Work>
  std::invoke_result_t<Work&, Yield> run(Work&& work);

 private:
  void run_and_wait(const std::function<void(Yield)>& work);

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::thread thread_;
};

// Starts a coroutine and reports how it ended: null, or its exception. Its stack holds 256 KiB. Any
// thread; `ended` is called by the one that runs `io`, and not if that ends before.
void start(boost::asio::io_context& io, std::function<void(Yield)> work,
           std::function<void(std::exception_ptr)> ended);

// Inside a coroutine: runs work(0, yield) … work(n - 1, yield), each as a separate coroutine, and
// waits until all have ended. Then throws the first of their exceptions, if any.
void side_by_side(boost::asio::io_context& io, std::size_t n,
                  const std::function<void(std::size_t, Yield)>& work, Yield yield);

template <class Work>
std::invoke_result_t<Work&, Yield> Loop::run(Work&& work) {
  using Result = std::invoke_result_t<Work&, Yield>;
  if constexpr (std::is_void_v<Result>) {
    run_and_wait([&work](Yield yield) { work(yield); });
  } else {
    std::optional<Result> result;
    run_and_wait([&](Yield yield) { result.emplace(work(yield)); });
    return *std::move(result);
  }
}

}  // namespace krl::http
