// RUN: rm -f %t.plan && tp-opt %s --plan-write="output=%t.plan" -o /dev/null && tp-translate --plan-to-mlir %t.plan | FileCheck %s
//
// A module that comes from no file has none to overwrite.

// CHECK: plan.program "p" phases ["forward"]
module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  plan.program "p" phases ["forward"] {
    plan.end
  }
} loc(unknown)
