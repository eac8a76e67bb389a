// Reads and writes server-sent events (text/event-stream). Pure.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace krl::http {

struct Event {
  std::string type = "message";
  std::string data;  // lines joined by '\n'
  std::string id;    // the last that was given, perhaps by an event before
};

// Parses a stream from the bytes of a body, cut anywhere; one object per stream. Lines end with
// CR LF, LF or CR. A byte-order mark, comments and unknown fields are skipped; `retry` is too,
// because the client never reconnects by itself. An event without data does not count, nor does
// text after the last empty line. "[DONE]" is data like any other.
class EventStream {
 public:
  explicit EventStream(std::size_t max_event_bytes = std::size_t{16} << 20)
      : max_bytes_(max_event_bytes) {}

  // Hands over each event that these bytes complete. Throws krl::Failure(KRL_RESOURCE_EXHAUSTED) if
  // one is longer than it may be; the stream is of no use then.
  void feed(std::string_view bytes, const std::function<void(const Event&)>& on_event);

 private:
  void end_line(const std::function<void(const Event&)>& on_event);
  void end_event(const std::function<void(const Event&)>& on_event);

  const std::size_t max_bytes_;
  std::string line_;
  bool first_line_ = true, after_cr_ = false;
  Event event_{"", "", ""};  // the incomplete event; its data with a '\n' at the end
};

// Returns an event's bytes, "event: TYPE\ndata: …\n\n"; without an "event" line if `type` is empty.
// Each line of `data` gets a "data" line, and a line break in `type` becomes a space, so that
// neither can begin another field or event. A reader joins the lines of `data` by '\n'.
std::string event_text(std::string_view type, std::string_view data);

}  // namespace krl::http
