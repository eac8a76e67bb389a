#include "cli/screen/display.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/screen/headline.hpp"
#include "cli/screen/live_view.hpp"
#include "cli/screen/plain_log.hpp"
#include "core/base/file_system.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::cli {
namespace {

IterationMetrics metrics_of(int iteration, double pass_rate) {
  return {iteration,
          "reinforce",
          0,
          {{"kernel/pass_rate", pass_rate}, {"time_s/iteration", 8.25}, {"other", 1}}};
}

TEST(PlainLog, PrintsOneLineAnIterationAndNothingElse) {
  const test::ScratchFolder folder;
  std::FILE* const out = std::fopen((folder / "out").c_str(), "w");
  std::FILE* const errors = std::fopen((folder / "errors").c_str(), "w");
  const auto display = make_display("x", out, errors);
  display->stage_started({"reinforce", 2, 2, 20, 4});
  display->progress({"sample", 3, 128});
  display->iteration_finished(metrics_of(7, 0.8125));
  display->warning("odd\x1b[2J");
  display->finished({true, "finished after 7 iterations", "runs/x"});
  std::fclose(out);
  std::fclose(errors);
  EXPECT_EQ(read_file(folder / "out"),
            "iteration 7  reinforce 5/20  kernel/pass_rate 0.8125  8.2 s\n");
  EXPECT_EQ(read_file(folder / "errors"),
            "warning: odd [2J\nfinished after 7 iterations; results in runs/x\n");
}

TEST(PlainLog, SaysAtOnceWhatASignalBringsAbout) {
  const test::ScratchFolder folder;
  std::FILE* const errors = std::fopen((folder / "errors").c_str(), "w");
  PlainLog display(errors, errors);
  display.stopping(false);
  display.stage_started({"reinforce", 1, 1, 20, 4});
  display.progress({"sample", 3, 128});
  display.stopping(false);
  display.stopping(true);
  std::fclose(errors);
  EXPECT_EQ(read_file(folder / "errors"),
            "stopping after startup; Ctrl-C again stops now\n"
            "stopping after this iteration (at sample 3/128); Ctrl-C again stops now and loses it\n"
            "stopping now; Ctrl-C again ends the process\n");
}

constexpr const char* kErrorOfPlan = "x.toml:1:5: error: no\n  1 | use = \"x\"\n    |     ^\n";

TEST(PlainLog, KeepsTheLinesOfAnErrorAndSaysHowToGoOn) {
  const test::ScratchFolder folder;
  std::FILE* const errors = std::fopen((folder / "errors").c_str(), "w");
  PlainLog(errors, errors)
      .finished({false, kErrorOfPlan, "runs/x", "kernelrl runs resume /runs/x"});
  std::fclose(errors);
  EXPECT_EQ(
      read_file(folder / "errors"),
      std::string(kErrorOfPlan) + "results in runs/x\nresume with: kernelrl runs resume /runs/x\n");
}

// A terminal that keeps what is written and moves the cursor as the view asks: enough of one to see
// the screen.
class Screen {
 public:
  Terminal terminal() {
    Terminal terminal;
    terminal.write = [this](std::string_view text) { write(text); };
    terminal.size = [this] { return size; };
    terminal.now = [this] { return now; };
    terminal.color = false;
    return terminal;
  }

  std::string text() const {
    std::string all;
    for (const std::string& line : lines_) all += line + "\n";
    return all;
  }

  TerminalSize size{80, 24};
  std::chrono::steady_clock::time_point now{};
  int writes = 0;

 private:
  void write(std::string_view text) {
    ++writes;
    for (std::size_t i = 0; i < text.size();) {
      if (text.substr(i, 2) == "\x1b[") {
        const std::size_t end = text.find_first_of("AJm", i);
        if (text[end] == 'A') row_ -= std::stoul(std::string(text.substr(i + 2)));
        if (text[end] == 'J') lines_.resize(row_);
        i = end + 1;
      } else if (text[i] == '\n') {
        if (row_ == lines_.size()) lines_.emplace_back();
        ++row_;
        ++i;
      } else {
        if (row_ == lines_.size()) lines_.emplace_back();
        if (text[i] != '\r') lines_[row_] += text[i];
        ++i;
      }
    }
  }

  std::vector<std::string> lines_;
  std::size_t row_ = 0;
};

TEST(LiveView, ShowsStageProgressTimeLeftAndTrends) {
  Screen screen;
  LiveView view(screen.terminal());
  view.stage_started({"reinforce", 2, 2, 4, 0});
  for (int i = 1; i <= 2; ++i) {
    screen.now += std::chrono::seconds(100);
    view.iteration_finished(metrics_of(i, 0.25 * i));
  }
  view.progress({"evaluate", 32, 128});
  view.draw();
  EXPECT_EQ(screen.text(),
            "reinforce (stage 2 of 2)  iteration 2 of 4  ████████░░░░░░░░  3 min 20 s left\n"
            "evaluate 32/128           ████░░░░░░░░░░░░\n"
            "kernel/pass_rate          0.5000 ▲  ▁█\n");
}

TEST(LiveView, RedrawsInPlaceAndOnlyWhatChanged) {
  Screen screen;
  LiveView view(screen.terminal());
  view.stage_started({"reinforce", 1, 1, 0, 0});
  view.draw();
  view.draw();
  EXPECT_EQ(screen.writes, 1);
  for (int done = 0; done < 1000; ++done) view.progress({"sample", done, 1000});
  EXPECT_EQ(screen.writes, 1) << "events are shown at the pace of draw()";
  view.draw();
  view.warning("a file is damaged");
  EXPECT_EQ(screen.text(),
            "warning: a file is damaged\n"
            "reinforce                 iteration 0\n"
            "sample 999/1000           ████████████████\n");
}

TEST(LiveView, FitsTheTerminal) {
  Screen screen;
  screen.size = {20, 2};
  LiveView view(screen.terminal());
  view.stage_started({"reinforce", 1, 1, 20, 0});
  view.iteration_finished(metrics_of(1, 0.5));
  view.draw();
  EXPECT_EQ(screen.text(), "reinforce          \n");
}

TEST(LiveView, EndsWithTheSummaryBelowTheLastView) {
  Screen screen;
  LiveView view(screen.terminal());
  view.stage_started({"reinforce", 1, 1, 1, 0});
  view.iteration_finished(metrics_of(1, 0.5));
  view.finished({true, "finished after 1 iteration", "runs/x"});
  view.progress({"sample", 1, 2});
  view.draw();
  EXPECT_EQ(screen.text(),
            "reinforce                 iteration 1 of 1  ████████████████\n"
            "kernel/pass_rate          0.5000    ▅\n"
            "finished after 1 iteration\n"
            "results in runs/x\n");
}

TEST(LiveView, ShowsTheRunItsTimeAndWhatASignalBringsAbout) {
  Screen screen;
  LiveView view(screen.terminal(), "quickstart");
  screen.now += std::chrono::seconds(5);
  view.draw();
  EXPECT_EQ(screen.text(), "quickstart  0:05  Ctrl-C stops after the iteration\n");
  const int writes = screen.writes;
  view.draw();
  EXPECT_EQ(screen.writes, writes);
  view.stage_started({"reinforce", 1, 1, 0, 0});
  view.stopping(false);
  screen.now += std::chrono::seconds(720);
  view.draw();
  EXPECT_EQ(screen.text(),
            "quickstart  12:05\n"
            "stopping after this iteration; Ctrl-C again stops now and loses it\n"
            "reinforce                 iteration 0\n");
  view.finished({true, "interrupted", "runs/x", "kernelrl runs resume /runs/x"});
  EXPECT_EQ(screen.text(),
            "reinforce                 iteration 0\n"
            "interrupted\n"
            "results in runs/x, after 12:05\n"
            "resume with: kernelrl runs resume /runs/x\n");
}

TEST(LiveView, ShowsWhatTheLastIterationLost) {
  Screen screen;
  LiveView view(screen.terminal());
  view.stage_started({"reinforce", 1, 1, 0, 0});
  IterationMetrics metrics = metrics_of(1, 0.5);
  metrics.values["infra_errors"] = 3;
  metrics.values["sampler/lost"] = 0;
  view.iteration_finished(metrics);
  view.draw();
  EXPECT_EQ(screen.text(),
            "reinforce                 iteration 1\n"
            "infra_errors 3\n"
            "kernel/pass_rate          0.5000    ▅\n");
}

TEST(LiveView, KeepsTheLinesOfAnError) {
  Screen screen;
  LiveView view(screen.terminal());
  view.finished({false, kErrorOfPlan, "runs/x"});
  EXPECT_EQ(screen.text(), std::string(kErrorOfPlan) + "results in runs/x\n");
}

TEST(LiveView, PassesNoEscapeSequencesOn) {
  Screen screen;
  LiveView view(screen.terminal());
  view.warning("from a kernel: \x1b[2J\nand more");
  EXPECT_EQ(screen.text(), "warning: from a kernel:  [2J and more\n");
}

TEST(Headline, TakesTheKnownNamesOrElseTheFirst) {
  EXPECT_EQ(headline({{"a", 1}, {"kernel/pass_rate", 1}, {"reward/mean", 1}}, 6),
            (std::vector<std::string>{"reward/mean", "kernel/pass_rate"}));
  EXPECT_EQ(headline({{"a", 1}, {"b", 1}, {"cache/hit_rate", 1}, {"d", 1}}, 2),
            (std::vector<std::string>{"a", "b"}));
}

TEST(Headline, CountsWhatWasLostOnlyWhereSomethingWas) {
  EXPECT_EQ(losses_text({{"infra_errors", 3}, {"sampler/lost", 1}, {"reward/mean", 1}}),
            "infra_errors 3  sampler/lost 1");
  EXPECT_EQ(losses_text({{"sampler/refused", 2}}), "sampler/refused 2");
  EXPECT_EQ(losses_text({{"infra_errors", 0}}), "");
}

TEST(Headline, NamesTheBestKernelsSoFar) {
  EXPECT_EQ(best_text({{"kernel/pass_rate", 1}}), "");
  EXPECT_EQ(best_text({{"found/best_speedup", 1.5}, {"found/tasks", 1}}),
            "best kernels  1.50 times naive, of 1 task");
  EXPECT_EQ(best_text({{"found/best_speedup", 1.5},
                       {"found/tasks", 2},
                       {"task/dot/best_speedup", 1.1},
                       {"task/relu/best_speedup", 2.04},
                       {"task/relu/pass_rate", 9}}),
            "best kernels  1.50 times naive, of 2 tasks; relu 2.04");
}

TEST(LiveView, TheBestKernelsAndTheDurationStayWhenTheRunIsOver) {
  Screen screen;
  LiveView view(screen.terminal(), "quick");
  view.stage_started({"reinforce", 1, 2, 1, 0});
  IterationMetrics metrics = metrics_of(1, 0.5);
  metrics.values.insert({{"found/best_speedup", 1.5}, {"found/tasks", 2}});
  view.iteration_finished(metrics);
  view.stage_started({"refine", 2, 2, 1, 0});
  view.iteration_finished(metrics_of(2, 0.5));  // of a stage that does not count them
  screen.now += std::chrono::seconds(65);
  view.finished({true, "finished", "runs/quick", ""});
  EXPECT_THAT(screen.text(), ::testing::HasSubstr("best kernels  1.50 times naive, of 2 tasks\n"));
  EXPECT_THAT(screen.text(), ::testing::HasSubstr("results in runs/quick, after 1:05\n"));
}

TEST(Headline, WritesDurationsAndNumbersForPeople) {
  EXPECT_EQ(duration_text(0.04), "0.0 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(3900), "1 h 05 min");
  EXPECT_EQ(clock_text(8.7), "0:08");
  EXPECT_EQ(clock_text(3725), "1:02:05");
  EXPECT_EQ(number_text(0.625), "0.6250");
  EXPECT_EQ(number_text(2e-5), "2.000e-05");
}

}  // namespace
}  // namespace krl::cli
