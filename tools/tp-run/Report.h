// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What --report writes.

#ifndef COLROW_TOOLS_TPRUN_REPORT_H
#define COLROW_TOOLS_TPRUN_REPORT_H

#include "colrow/runtime/Plan/PlanSchema.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace colrow::tprun {

/// One step as it was run.
struct StepRecord {
  int64_t step; // from 1
  float loss, gradNorm;
  std::optional<double> labels; // valid ones, where the plan counts them
  double seconds, tokensPerSecond;

  /// The mean of nothing is no number, and no fault.
  bool hasNoLabels() const { return labels && *labels == 0; }
  /// The step moved nothing, and training goes on: it has no labels, or its
  /// gradient norm is no number that updates could be scaled by.
  bool isLeftOut() const;
};

/// Writes JSON: steps, each with `left_out`, and how many were; memory, bytes a
/// rank as the compiler planned; the process' peak_rss_bytes; collectives a
/// step, `bytes` being what a rank sends by the ring algorithms. A number that
/// is not finite is null.
llvm::Error writeReport(llvm::StringRef path, const plan::Plan &plan,
                        const plan::Program &program,
                        llvm::ArrayRef<StepRecord> steps);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_REPORT_H
