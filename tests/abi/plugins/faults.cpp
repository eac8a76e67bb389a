// A reward in C's terms, which does what no plugin may do to its process: `how`, in the function
// `where`.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <kernelrl/values.hpp>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

struct Fault {
  std::string how, where;
  int scores = 0;
};

volatile int* volatile nowhere = nullptr;

// Whoever waits for that sees the file in the current folder.
[[noreturn]] void wait_for_ever() {
  std::ofstream("waiting") << "now";
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// Takes a page of the stack, and another one, until there are none.
void overflow(const volatile char* page_before);
void (*volatile deeper)(const volatile char*) = overflow;
void overflow(const volatile char* page_before) {
  volatile char page[4096];
  page[0] = *page_before;
  deeper(page);
  page[1] = page[0];
}

template <class Function>
[[noreturn]] void on_thread_of_its_own(const Function& function) {
  std::thread(function).detach();
  wait_for_ever();
}

[[gnu::noinline]] void boom() { throw std::runtime_error("boom"); }

// Gives the thread an alternate signal stack as small as other languages' runtimes do: 16 KiB
// beyond what the kernel needs, above a page that faults.
void use_small_signal_stack() {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = 16 * 1024 + static_cast<std::size_t>(::sysconf(_SC_MINSIGSTKSZ));
  void* const memory =
      ::mmap(nullptr, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || ::mprotect(memory, page, PROT_NONE) != 0) std::abort();
  const stack_t stack{static_cast<char*>(memory) + page, 0, size};
  if (::sigaltstack(&stack, nullptr) != 0) std::abort();
}

void write_to_nobody() {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  ::close(ends[0]);
  if (::write(ends[1], "", 1) != 1) std::abort();
}

void print() {
  std::puts("printed by a plugin");
  std::fflush(stdout);
  if (std::system("echo printed by its child") != 0) std::abort();
}

void happen(const Fault& fault, const char* where, const krl_call* context) {
  if (fault.where != where) return;
  const std::string& how = fault.how;
  if (how == "segfault") *nowhere = 1;
  if (how == "overflow") overflow("");
  if (how == "abort") std::abort();
  if (how == "exit") std::exit(5);
  if (how == "quick_exit") std::quick_exit(5);
  if (how == "_exit") ::_exit(5);
  if (how == "pthread_exit") ::pthread_exit(nullptr);
  if (how == "throw") boom();
  if (how == "throw int") throw 42;
  if (how == "noexcept") []() noexcept { boom(); }();
  if (how == "pipe") write_to_nobody();
  if (how == "fork") ::fork();
  if (how == "fork and exec" && ::fork() == 0) ::execlp("true", "true", nullptr);
  if (how == "fork and exit" && ::fork() == 0) std::exit(0);
  if (how == "vfork and _exit" && ::vfork() == 0) ::_exit(0);
  if (how == "wait") wait_for_ever();
  if (how == "print") print();
  if (how == "log" && context != nullptr)
    context->log(context, KRL_LOG_ERROR,
                 krl::to_c("one\n2026-01-01 00:00:00.000 error   forged\x1b[2J\xff"));
  if (how == "thread segfault") on_thread_of_its_own([] { *nowhere = 1; });
  if (how == "thread throw") on_thread_of_its_own(boom);
  if (how == "thread with a small signal stack") {
    on_thread_of_its_own([] {
      use_small_signal_stack();
      boom();
    });
  }
  if (how == "thread exit") on_thread_of_its_own([] { std::exit(5); });
}

std::string text_of(const krl_config* config, std::string_view key) {
  krl_str value{};
  config->get_string(config, krl::to_c(key), &value);
  return std::string(value.data, value.size);
}

krl_status create(const krl_host*, const krl_config* config, const krl_call* context, void** self) {
  auto* fault = new Fault{text_of(config, "how"), text_of(config, "where"), 0};
  *self = fault;
  happen(*fault, "create", context);
  return KRL_OK;
}

void destroy(void* self) {
  const Fault fault = *static_cast<Fault*>(self);
  delete static_cast<Fault*>(self);
  happen(fault, "destroy", nullptr);
}

krl_status score(void* self, const krl_call* context, const krl_turn* const*, std::size_t n,
                 double* scores) {
  constexpr int kOfFirstIteration = 16;  // of tests/plans/toy.toml
  auto& fault = *static_cast<Fault*>(self);
  happen(fault, ++fault.scores > kOfFirstIteration ? "second iteration" : "score", context);
  for (std::size_t i = 0; i < n; ++i) scores[i] = 1;
  return KRL_OK;
}

const krl_field kHow{sizeof(krl_field), KRL_STRING, KRL_REQUIRED, 0,
                     krl::to_c("how"),  {},         {},           krl::to_c("what happens")};
const krl_field kWhere{sizeof(krl_field),
                       KRL_STRING,
                       0,
                       0,
                       krl::to_c("where"),
                       krl::to_c("\"score\""),
                       {},
                       krl::to_c("in which function")};
const krl_field* const kFields[] = {&kHow, &kWhere};
const krl_reward_v kTable{sizeof(krl_reward_v), 0, score};
const krl_component kComponent{sizeof(krl_component),
                               KRL_REWARD,
                               0,
                               2,
                               krl::to_c("test.fault"),
                               krl::to_c("does what no plugin may do"),
                               kFields,
                               create,
                               destroy,
                               &kTable,
                               nullptr};
const krl_component* const kComponents[] = {&kComponent};
const krl_plugin kPlugin{
    sizeof(krl_plugin),      KRL_ABI_MINOR,       krl::to_c("faults"), krl::to_c("1.2.3"),
    krl::to_c("Apache-2.0"), krl::to_c("a test"), kComponents,         1};

}  // namespace

extern "C" KRL_EXPORT const krl_plugin* krl_plugin_v1(const krl_host*) { return &kPlugin; }
