// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan's target features against the host's.

#include "colrow/runtime/CPU/HostCpu.h"
#include "colrow/runtime/Plan/Mesh.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace colrow::runtime {

Error checkHostCpu(const plan::Plan &plan) {
  if (textOf(plan.target()) != "cpu")
    return failure("plan was compiled for target '{0}', this runs on a cpu: "
                   "compile it for that",
                   textOf(plan.target()));
  StringMap<bool> host = sys::getHostCPUFeatures();
  SmallVector<StringRef, 64> features;
  textOf(plan.target_features())
      .split(features, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string missing;
  for (StringRef feature : features)
    if (feature.consume_front("+") && !host.lookup(feature))
      missing += (missing.empty() ? "" : ", ") + feature.str();
  if (missing.empty())
    return Error::success();
  return failure("plan was compiled for another CPU: needs {0} (target {1}), "
                 "which this machine lacks: compile it here",
                 missing, textOf(plan.target_cpu()));
}

} // namespace colrow::runtime
