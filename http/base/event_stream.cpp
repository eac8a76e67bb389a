#include "http/base/event_stream.hpp"

#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <kernelrl/values.hpp>

namespace krl::http {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kLineEnds = "\r\n";

}  // namespace

void EventStream::feed(std::string_view bytes, const std::function<void(const Event&)>& on_event) {
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);  // CR LF is one line end
    after_cr_ = false;
    const std::size_t end = std::min(bytes.find_first_of(kLineEnds), bytes.size());
    if (line_.size() + event_.data.size() + end > max_bytes_) {
      throw krl::Failure(KRL_RESOURCE_EXHAUSTED, "an event of a stream has more than " +
                                                     std::to_string(max_bytes_) + " bytes");
    }
    line_ += bytes.substr(0, end);
    if (end == bytes.size()) return;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(on_event);
  }
}

void EventStream::end_line(const std::function<void(const Event&)>& on_event) {
  std::string_view line = line_;
  if (first_line_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  first_line_ = false;
  const std::string_view name = line.substr(0, line.find(':'));  // a comment's is empty
  std::string_view value = line.substr(std::min(name.size() + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (line.empty()) {
    end_event(on_event);
  } else if (name == "data") {
    event_.data.append(value) += '\n';
  } else if (name == "event") {
    event_.type = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    event_.id = value;
  }
  line_.clear();
}

void EventStream::end_event(const std::function<void(const Event&)>& on_event) {
  if (!event_.data.empty()) {
    event_.data.pop_back();
    if (event_.type.empty()) event_.type = "message";
    on_event(event_);
  }
  event_.data.clear();
  event_.type.clear();
}

std::string event_text(std::string_view type, std::string_view data) {
  std::string text;
  if (!type.empty()) {
    text.append("event: ").append(type);
    std::replace_if(text.begin(), text.end(), boost::is_any_of(kLineEnds), ' ');
    text += '\n';
  }
  for (;;) {
    const std::size_t end = std::min(data.find_first_of(kLineEnds), data.size());
    text.append("data: ").append(data.substr(0, end)) += '\n';
    if (end == data.size()) return text += '\n';
    data.remove_prefix(end + (data.substr(end).starts_with("\r\n") ? 2 : 1));
  }
}

}  // namespace krl::http
