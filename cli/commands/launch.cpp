#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/console.hpp"
#include "cli/rank_processes.hpp"

namespace krl::cli {
namespace {

constexpr int kMostRanks = 1024;

// Returns a port of this machine without a listener; 0 if there is none.
int free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const bool found =
      probe >= 0 && ::bind(probe, any, size) == 0 && ::getsockname(probe, any, &size) == 0;
  if (probe >= 0) ::close(probe);
  return found ? ntohs(address.sin_port) : 0;
}

// Returns where the words for the ranks begin: after "--", or at the first word that is not this
// call's.
std::size_t end_of_own_words(const Words& words) {
  std::size_t i = 0;
  while (i < words.size()) {
    const std::string& word = words[i];
    if (word == "-n" || word == "--ranks") {
      i += 2;
    } else if (word.starts_with("-n") || word.starts_with("--ranks=") || word == "--help" ||
               word == "-h") {
      ++i;
    } else {
      break;
    }
  }
  return std::min(i, words.size());
}

}  // namespace

int launch_command(const Words& words) {
  CommandLine line(
      "kernelrl launch -n N [--] --plan PLAN …",
      "Starts N processes of kernelrl on this machine, the ranks of one training: rank 0 "
      "runs the\nplan, the others share its policy's work. Every line they print starts with their rank. SIGINT\nand SIGTERM are passed to all; when one fails, all end, and its exit code is returned. For several\nmachines use torchrun or srun, whose environment variables every rank reads.\n");
  line.option("ranks,n", "N", "number of processes to start");
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(end_of_own_words(words));
  Words rank_words(end, words.end());
  if (!rank_words.empty() && rank_words.front() == "--") rank_words.erase(rank_words.begin());
  if (is_completing() && end != words.end()) return run_command(rank_words);
  if (const auto over = line.parse({words.begin(), end})) return *over;
  if (!line.has("ranks")) return line.wrong("no number of ranks given: use -n");
  const auto ranks = number_in<int>(line.text("ranks"));
  if (!ranks || *ranks < 1 || *ranks > kMostRanks) {
    return line.wrong("-n is '" + line.text("ranks") + "'; it must be from 1 to " +
                      std::to_string(kMostRanks));
  }
  if (rank_words.empty()) return line.wrong("nothing to run given: add -- --plan PLAN");
  const int port = free_port();
  if (port == 0) return report({Code::kUnavailable, "no free port on 127.0.0.1"});
  return run_ranks(*ranks, port, rank_words);
}

}  // namespace krl::cli
