#include "core/plugin/last_words.hpp"

#include <unistd.h>

#include <atomic>
#include <mutex>

#include "core/base/log.hpp"

namespace krl {
namespace {

std::atomic<int> g_stream{STDERR_FILENO};
std::mutex g_hint_mutex;
FixedText g_hint;  // under g_hint_mutex

}  // namespace

void write_last_words(std::string_view lines) {
  std::string_view rest = lines;
  for (ssize_t n; !rest.empty() && (n = ::write(g_stream, rest.data(), rest.size())) > 0;)
    rest.remove_prefix(static_cast<std::size_t>(n));
  log_last_words(lines);
}

void set_last_words_stream(int descriptor) { g_stream = descriptor; }

void set_last_words_hint(std::string_view hint) {
  const std::lock_guard lock(g_hint_mutex);
  g_hint = FixedText().add(hint);
}

void add_hint(FixedText& text) {
  // In glibc one atomic operation, which does not wait for a thread that may never go on.
  if (!g_hint_mutex.try_lock()) return;
  if (!g_hint.view().empty()) text.add("  ").add(g_hint.view()).end_line();
  g_hint_mutex.unlock();
}

}  // namespace krl
