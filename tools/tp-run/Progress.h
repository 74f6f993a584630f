// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What training shows: one live line on a terminal, else a line a step.

#ifndef COLROW_TOOLS_TPRUN_PROGRESS_H
#define COLROW_TOOLS_TPRUN_PROGRESS_H

#include "Report.h"
#include <string>

namespace colrow::tprun {

class Progress {
public:
  explicit Progress(int64_t totalSteps);
  ~Progress() { finish(); }

  void show(const StepRecord &step);
  /// Ends the live line, so that other text can follow, and says how many steps
  /// were left out.
  void finish();

private:
  void showLeftOut(const StepRecord &step);

  int64_t totalSteps;
  bool live;
  bool open = false; // a live line stands unfinished
  double seconds = 0;
  int64_t done = 0, leftOut = 0;
};

/// "1 h 02 min", "3 min 20 s", "12 s".
std::string durationText(double seconds);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_PROGRESS_H
