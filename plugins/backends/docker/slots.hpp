// The slots of a container, each for one command at a time. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace krl::docker {

class Slots {
 public:
  // A place taken; free again when this dies.
  class Lease {
   public:
    Lease(Lease&& other) noexcept
        : slots_(std::exchange(other.slots_, nullptr)),
          number_(other.number_),
          turn_(other.turn_),
          others_(other.others_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (slots_ != nullptr) slots_->give_back(number_);
    }

    int number() const { return number_; }  // counted from 0
    // No other place was taken at any time since this one was.
    bool alone() const { return !others_ && slots_->turns() == turn_; }

   private:
    friend class Slots;
    Lease(Slots* slots, int number, std::uint64_t turn, bool others)
        : slots_(slots), number_(number), turn_(turn), others_(others) {}

    Slots* slots_;
    int number_;
    std::uint64_t turn_;
    bool others_;  // there were when it was taken
  };

  explicit Slots(int count);

  // Waits for a free place, for as long as it takes. Throws Failure(KRL_CANCELLED).
  Lease take(const std::function<bool()>& cancelled);

 private:
  void give_back(int number);
  std::uint64_t turns() const;

  const std::size_t count_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> free_;
  std::uint64_t turns_ = 0;  // number of times a slot was taken
};

}  // namespace krl::docker
