// The folder that a sandboxed compiler writes to, in both of its forms.
#include "plugins/backends/evaluator/sandbox/private_folder.hpp"
#include "tests/wait_while.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace krl::sandbox {
namespace {

namespace fs = std::filesystem;

// A process of its own, in a process group of its own, that says a word and waits to be killed.
class Child {
 public:
  explicit Child(const std::function<std::string()>& work) {
    int answer[2];
    if (::pipe(answer) != 0) return;
    id_ = ::fork();
    if (id_ == 0) {
      ::setpgid(0, 0);
      ::close(answer[0]);
      const std::string word = work() + "\n";
      if (::write(answer[1], word.data(), word.size()) < 0) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(answer[1]);
    for (char c = 0; ::read(answer[0], &c, 1) == 1 && c != '\n';) word_ += c;
    ::close(answer[0]);
  }
  Child(const Child&) = delete;
  ~Child() { kill(); }

  const std::string& word() const { return word_; }
  fs::path folder() const { return fs::read_symlink("/proc/" + std::to_string(id_) + "/cwd"); }
  void kill() {
    if (id_ <= 0) return;
    ::kill(-id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = -1;
  }

 private:
  pid_t id_ = -1;
  std::string word_;
};

TEST(PrivateFolder, OnDiskIsRemovedWhoeverIsKilled) {
  const std::string parent = fs::temp_directory_path();
  for (int i = 0; i < 20; ++i) {
    Child child([&] {
      const std::string why = enter_folder_on_disk(parent);
      std::ofstream("file") << "content";
      return why;
    });
    ASSERT_EQ(child.word(), "");
    const fs::path folder = child.folder();
    EXPECT_EQ(folder.parent_path(), parent);
    EXPECT_TRUE(fs::exists(folder / "file"));
    child.kill();
    test::wait_while([&] { return fs::exists(folder); });
  }
}

TEST(PrivateFolder, OnDiskSaysWhatIsWrong) {
  const Child child([] { return enter_folder_on_disk("/no/such/folder"); });
  EXPECT_NE(child.word().find("No such file"), std::string::npos) << child.word();
}

TEST(PrivateFolder, InMemoryIsBoundedAndHasNoName) {
  const Child child([]() -> std::string {
    if (!enter_folder_in_memory(1 << 20).empty()) return "not here";
    const bool empty = fs::is_empty(".");
    std::ofstream small("small"), large("large");
    small << std::string(1 << 16, 'x') << std::flush;
    large << std::string(1 << 21, 'x') << std::flush;
    return std::string(empty ? "empty" : "full") + (small ? ", takes" : ", takes not even") +
           " 64 KiB" + (large ? " and 2 MiB" : "");
  });
  if (child.word() == "not here") GTEST_SKIP() << "skipped: this user may not mount";
  EXPECT_EQ(child.word(), "empty, takes 64 KiB");
  EXPECT_FALSE(fs::exists(child.folder() / "small")) << "found by its path";
}

}  // namespace
}  // namespace krl::sandbox
