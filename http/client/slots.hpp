// Limits the requests in flight: further ones wait here in order. Used by the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <list>
#include <utility>

#include "http/base/watch.hpp"

namespace krl::http {

class Slots {
 public:
  Slots(boost::asio::io_context& io, unsigned number) : io_(io), free_(number) {}
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  class Slot {
   public:
    explicit Slot(Slots& slots) : slots_(&slots) {}
    Slot(Slot&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (slots_ != nullptr) slots_->give_back();
    }

   private:
    Slots* slots_;
  };

  // Held for as long as the slot lives.
  Slot take(Limits& limits, Yield yield);

 private:
  struct Waiting;

  void give_back();

  boost::asio::io_context& io_;
  unsigned free_;
  std::list<Waiting*> waiting_;
};

}  // namespace krl::http
