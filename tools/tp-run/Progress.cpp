// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of progress on stdout.

#include "Progress.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <unistd.h>

using namespace llvm;

namespace colrow::tprun {

std::string durationText(double seconds) {
  int64_t total = int64_t(std::max(0.0, seconds) + 0.5);
  if (total >= 3600)
    return formatv("{0} h {1,0+2} min", total / 3600, total / 60 % 60);
  if (total >= 60)
    return formatv("{0} min {1,0+2} s", total / 60, total % 60);
  return formatv("{0} s", total);
}

Progress::Progress(int64_t totalSteps)
    : totalSteps(totalSteps), live(::isatty(STDOUT_FILENO)) {}

/// A NaN without a sign, so that it is printed as "nan".
static float unsignedNan(float value) {
  return std::isnan(value) ? std::fabs(value) : value;
}

/// A line that stays, also on a terminal.
void Progress::showLeftOut(const StepRecord &step) {
  ++leftOut;
  raw_ostream &out = outs();
  out << (open ? "\r\033[K" : "") << "step " << step.step;
  if (step.hasNoLabels())
    out << "  left out, nothing moves: none of its labels counts";
  else
    out << format("  loss %.6f", step.loss)
        << "  left out, nothing moves: the gradient norm is "
        << (std::isnan(step.gradNorm) ? "NaN" : "infinite");
  out << format("  %.3f s  %.0f tokens/s\n", step.seconds,
                step.tokensPerSecond);
  open = false;
}

void Progress::show(const StepRecord &step) {
  float loss = unsignedNan(step.loss), norm = unsignedNan(step.gradNorm);
  seconds += step.seconds;
  ++done;
  raw_ostream &out = outs();
  if (step.isLeftOut()) {
    showLeftOut(step);
  } else if (!live) {
    out << "step " << step.step
        << format("  loss %.6f  grad norm %.4f  %.3f s  %.0f tokens/s\n", loss,
                  norm, step.seconds, step.tokensPerSecond);
  } else {
    double left = seconds / done * (totalSteps - step.step);
    // Erase to the end of the line first: the new one may be shorter.
    out << "\r\033[Kstep " << step.step << '/' << totalSteps
        << format("  loss %.4f  grad norm %.3f  %.0f tokens/s  ", loss, norm,
                  step.tokensPerSecond)
        << durationText(left) << " left";
    open = true;
  }
  out.flush();
}

void Progress::finish() {
  if (open)
    outs() << "\n";
  if (leftOut)
    outs() << leftOut << " of " << done << " steps left out\n";
  outs().flush();
  open = false;
  leftOut = 0;
}

} // namespace colrow::tprun
