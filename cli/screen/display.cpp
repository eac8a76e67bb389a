#include "cli/screen/display.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "cli/screen/live_view.hpp"
#include "cli/screen/plain_log.hpp"

namespace krl::cli {

namespace {

TerminalSize size_of_terminal(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {size.ws_col, size.ws_row};
}

bool wants_color() {
  const char* const no_color = std::getenv("NO_COLOR");
  return no_color == nullptr || *no_color == '\0';
}

// A live view that a thread of its own redraws ten times a second.
class SelfDrawingView final : public LiveView {
 public:
  SelfDrawingView(Terminal terminal, std::string run)
      : LiveView(std::move(terminal), std::move(run)),
        thread_([this](const std::stop_token& stop) { keep_drawing(stop); }) {}

 private:
  void keep_drawing(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kPause{100};
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, kPause, [&] { return stop.stop_requested(); })) draw();
  }

  std::jthread thread_;  // ends before the view that it draws
};

}  // namespace

bool can_redraw(std::FILE* out) {
  const char* const kind = std::getenv("TERM");
  return ::isatty(::fileno(out)) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::unique_ptr<Display> make_display(const std::string& run, std::FILE* out, std::FILE* errors) {
  if (!can_redraw(out)) return std::make_unique<PlainLog>(out, errors);
  Terminal terminal;
  terminal.write = [out](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), out);
    std::fflush(out);
  };
  terminal.size = [descriptor = ::fileno(out)] { return size_of_terminal(descriptor); };
  terminal.color = wants_color();
  return std::make_unique<SelfDrawingView>(std::move(terminal), run);
}

}  // namespace krl::cli
