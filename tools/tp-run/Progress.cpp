// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of progress on stdout.

#include "Progress.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace colrow::tprun {

std::string durationText(double seconds) {
  int64_t total = int64_t(std::max(0.0, seconds) + 0.5);
  if (total >= 3600)
    return llvm::formatv("{0} h {1,0+2} min", total / 3600, total / 60 % 60);
  if (total >= 60)
    return llvm::formatv("{0} min {1,0+2} s", total / 60, total % 60);
  return llvm::formatv("{0} s", total);
}

Progress::Progress(int64_t totalSteps)
    : totalSteps(totalSteps), live(::isatty(STDOUT_FILENO)) {}

/// A NaN without a sign, so that it is printed as "nan".
static float unsignedNan(float value) {
  return std::isnan(value) ? std::fabs(value) : value;
}

void Progress::show(const StepRecord &step) {
  float loss = unsignedNan(step.loss), norm = unsignedNan(step.gradNorm);
  seconds += step.seconds;
  ++done;
  if (!live) {
    std::printf("step %lld  loss %.6f  grad norm %.4f  %.3f s  %.0f tokens/s\n",
                static_cast<long long>(step.step), loss, norm, step.seconds,
                step.tokensPerSecond);
  } else {
    double left = seconds / done * (totalSteps - step.step);
    // Erase to the end of the line first: the new one may be shorter.
    std::printf("\r\033[Kstep %lld/%lld  loss %.4f  grad norm %.3f  %.0f "
                "tokens/s  %s left",
                static_cast<long long>(step.step),
                static_cast<long long>(totalSteps), loss, norm,
                step.tokensPerSecond, durationText(left).c_str());
    open = true;
  }
  std::fflush(stdout);
}

void Progress::finish() {
  if (open)
    std::printf("\n");
  std::fflush(stdout);
  open = false;
}

} // namespace colrow::tprun
