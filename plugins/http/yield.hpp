// The means by which coroutines wait: stackful ones of boost::asio::spawn, because g++ 12
// miscompiles those of C++20.
//
// A coroutine must not wait in a catch block, nor in a destructor run by an exception: the
// runtime's list of exceptions belongs to the thread, and another coroutine would end the wrong
// one.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/spawn.hpp>

namespace krl::http {

using Yield = boost::asio::yield_context;

}  // namespace krl::http
