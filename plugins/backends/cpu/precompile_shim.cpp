// precompile_shim FOLDER: writes krl_device.h.gch into the folder that holds the shim. A step of
// the build.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "plugins/backends/cpu/runner_protocol.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: precompile_shim FOLDER\n");
    return 2;
  }
  std::vector<std::string> words = krl::emulator::precompile_flags(argv[1]);
  words.insert(words.begin(), "g++");
  std::vector<char*> command;
  for (auto& word : words) command.push_back(word.data());
  command.push_back(nullptr);
  execvp("g++", command.data());
  std::perror("precompile_shim: g++");
  return 1;
}
