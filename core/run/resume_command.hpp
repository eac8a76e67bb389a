// How a run that ended early goes on: the line that a user is shown. Pure functions.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace krl {

// The text as one word of a shell: in quotes where it has characters that a shell would read.
std::string shell_word(std::string_view text);

// "kernelrl runs resume /home/x/runs/quickstart": works as it is, from any folder. `program`: the
// program as it was called (argv[0]); a path to it is made absolute.
std::string resume_command(const std::string& program, const std::filesystem::path& run);

}  // namespace krl
