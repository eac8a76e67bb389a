// Waits for what another thread or process does, without taking the processor from it. Without a
// deadline: CTest ends tests that wait in vain.
#pragma once

#include <chrono>
#include <thread>

namespace krl::test {

template <class Condition>
void wait_while(const Condition& condition) {
  while (condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace krl::test
